import type { AppliedCall } from './store-calls.js';
import type { VirtualWorld } from './virtual-world.js';

interface GrantedLease {
  readonly owner: string;
  readonly fence: number;
  readonly endsAtMs: number;
}

/** Who holds a lease in truth: by the time that passes, not by what the store's clock makes of it. */
export class LeaseLedger {
  readonly #world: VirtualWorld;
  readonly #leases = new Map<string, GrantedLease>();

  constructor(world: VirtualWorld) {
    this.#world = world;
  }

  isLeased(merchant: string): boolean {
    return this.endsAtMs(merchant) > this.#world.nowMs;
  }

  /** The end of the merchant's lease; 0 when there is none. */
  endsAtMs(merchant: string): number {
    return this.#leases.get(merchant)?.endsAtMs ?? 0;
  }

  applied(call: AppliedCall): void {
    if (call.operation === 'claim' && call.result.kind === 'claimed') {
      const { merchant, owner, fence, remainingMs } = call.result.lease;
      this.#leases.set(merchant, { owner, fence, endsAtMs: this.#world.nowMs + remainingMs });
    }
    if (call.operation === 'publish' || call.operation === 'release') {
      const { merchant, fence } = call.args[0];
      if (this.#leases.get(merchant)?.fence === fence) this.#leases.delete(merchant);
    }
  }
}
