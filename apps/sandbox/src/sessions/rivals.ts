import type { CallLog } from '../calls/call-log.js';
import type { MerchantBook } from '../merchants/merchant-book.js';
import type { Settings } from '../settings.js';
import type { Waiting } from '../wire/waiting.js';
import type { SessionBook } from './session-book.js';

interface RivalParts {
  readonly merchants: MerchantBook;
  readonly sessions: SessionBook;
  readonly calls: CallLog;
  readonly settings: Settings;
  readonly waiting: Waiting;
}

export interface Rivalry {
  readonly times: number;
  readonly everyMs: number;
}

interface Rival extends Rivalry {
  made: number;
}

/**
 * Another system with a merchant's service code, such as a plug-in that was left somewhere: it makes its own create
 * calls and, if sessions supersede, each of them ends the session that the merchant pays with.
 */
export class Rivals {
  readonly #parts: RivalParts;
  readonly #byMerchant = new Map<string, Rival>();

  constructor(parts: RivalParts) {
    this.#parts = parts;
  }

  /** The first call is made at once. An existing rival of the merchant is replaced. */
  start(merchant: string, rivalry: Rivalry): void {
    const rival = { ...rivalry, made: 0 };
    this.#byMerchant.set(merchant, rival);
    this.#call(merchant, rival);
  }

  /** What the merchant's rival has done, and how much it is set to do. */
  of(merchant: string): Readonly<Rival> | undefined {
    return this.#byMerchant.get(merchant);
  }

  stop(merchant: string): boolean {
    return this.#byMerchant.delete(merchant);
  }

  reset(): void {
    this.#byMerchant.clear();
  }

  #call(id: string, rival: Rival): void {
    const { merchants, sessions, calls, settings, waiting } = this.#parts;
    const merchant = merchants.byId(id);
    if (this.#byMerchant.get(id) !== rival || merchant === undefined) return;
    rival.made += 1;
    const call = calls.begin({
      operation: 'rival',
      requestId: `rival-${rival.made}`,
      merchant: id,
      serviceCode: merchant.serviceCode,
    });
    call.record.session = sessions.create(merchant, merchant.lifetimeMs ?? settings.lifetimeMs).id;
    call.end({ outcome: 'success', httpStatus: 200 });
    if (rival.made < rival.times) waiting.later(rival.everyMs, () => this.#call(id, rival));
  }
}
