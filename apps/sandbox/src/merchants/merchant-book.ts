import { BrokerError } from '#libs/errors';
import type { Merchant } from './merchant.js';

/** The merchants that the gateway knows, each by its id and by its service code. */
export class MerchantBook {
  readonly #atStart: readonly Merchant[];
  readonly #byId = new Map<string, Merchant>();
  readonly #byServiceCode = new Map<string, Merchant>();

  /** @throws BrokerError `invalid_request` when two of them share an id or a service code */
  constructor(atStart: readonly Merchant[]) {
    this.#atStart = atStart;
    for (const merchant of atStart) {
      if (this.#byId.has(merchant.id)) throw conflict(`two merchants have the id ${merchant.id}`);
      this.put(merchant);
    }
  }

  /** Adds the merchant, or replaces the one with the same id. @returns whether it is new */
  put(merchant: Merchant): boolean {
    const holder = this.byServiceCode(merchant.serviceCode);
    if (holder !== undefined && holder.id !== merchant.id) {
      throw conflict(`serviceCode belongs to merchant ${holder.id} already`);
    }
    const isNew = !this.remove(merchant.id);
    this.#byId.set(merchant.id, merchant);
    this.#byServiceCode.set(merchant.serviceCode.toLowerCase(), merchant);
    return isNew;
  }

  remove(id: string): boolean {
    const merchant = this.#byId.get(id);
    if (merchant === undefined) return false;
    this.#byServiceCode.delete(merchant.serviceCode.toLowerCase());
    return this.#byId.delete(id);
  }

  byId(id: string): Merchant | undefined {
    return this.#byId.get(id);
  }

  /** UUIDs are compared without regard to case (RFC 9562, section 4). */
  byServiceCode(serviceCode: string): Merchant | undefined {
    return this.#byServiceCode.get(serviceCode.toLowerCase());
  }

  all(): readonly Merchant[] {
    return [...this.#byId.values()];
  }

  /** Restores the merchants present at the start. */
  reset(): void {
    this.#byId.clear();
    this.#byServiceCode.clear();
    for (const merchant of this.#atStart) this.put(merchant);
  }
}

function conflict(publicDetail: string): BrokerError {
  return new BrokerError('invalid_request', { publicDetail });
}
