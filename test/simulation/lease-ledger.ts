import type { Lease } from '#libs/session';
import type { AppliedCall } from './store-calls.js';
import type { VirtualWorld } from './virtual-world.js';

/** A failover may lose a lease that was freed this long ago, together with the write that freed it. */
const JUST_NOW_MS = 1_000;

interface GrantedLease {
  readonly fence: number;
  readonly endsAtMs: number;
  freedAtMs: number;
}

/** Who really has a lease: by true time, not by what the store's clock makes of it. */
export class LeaseLedger {
  readonly #world: VirtualWorld;
  readonly #leases = new Map<string, GrantedLease>();
  /** When each lease that was not given back unused was granted: this is what the budget counts. */
  readonly #takenAtMs = new Map<string, number[]>();

  constructor(world: VirtualWorld) {
    this.#world = world;
  }

  /** The end of the merchant's lease; 0 if there is none. */
  endsAtMs(merchant: string): number {
    const lease = this.#leases.get(merchant);
    return lease === undefined || lease.freedAtMs <= this.#world.nowMs ? 0 : lease.endsAtMs;
  }

  /** When the call `calls` places before the next one was charged to the budget; undefined if there are fewer. */
  takenAtMs(merchant: string, calls: number): number | undefined {
    return this.#takenAtMs.get(merchant)?.at(-calls);
  }

  /** Whether there is a lease, or was one a moment ago: its last writes may be on their way, or not yet copied. */
  wasLeased(merchant: string): boolean {
    const lease = this.#leases.get(merchant);
    return lease !== undefined && Math.min(lease.endsAtMs, lease.freedAtMs) > this.#world.nowMs - JUST_NOW_MS;
  }

  applied(call: AppliedCall): void {
    if (call.operation === 'claim' && call.result.kind === 'claimed') this.#granted(call.result.lease);
    if (call.operation === 'publish' && call.args[1] !== undefined) this.#freed(call.args[1]);
    if (call.operation === 'release') {
      const [lease, { called }] = call.args;
      this.#freed(lease);
      if (!called && call.result) this.#takenAtMs.get(lease.merchant)?.pop();
    }
  }

  #granted({ merchant, fence, remainingMs }: Lease): void {
    const endsAtMs = this.#world.nowMs + remainingMs;
    if (this.#leases.get(merchant)?.fence !== fence) this.#taken(merchant);
    this.#leases.set(merchant, { fence, endsAtMs, freedAtMs: Infinity });
  }

  #freed({ merchant, fence }: Lease): void {
    const granted = this.#leases.get(merchant);
    if (granted?.fence === fence) granted.freedAtMs = Math.min(granted.freedAtMs, this.#world.nowMs);
  }

  #taken(merchant: string): void {
    const taken = this.#takenAtMs.get(merchant) ?? [];
    this.#takenAtMs.set(merchant, [...taken, this.#world.nowMs]);
  }
}
