import type { GatewayFailureKind } from './gateway-failure.js';

/** How many calls one replica has in flight to one gateway: the initial limit, and the highest one. */
const FIRST_LIMIT = 16;
const MAX_LIMIT = 32;

interface Load {
  limit: number;
  inFlight: number;
  readonly waiting: (() => void)[];
}

/**
 * How many calls are made to one gateway at once. A gateway that cannot keep up answers late or not at all: each such
 * call halves what is allowed, and each good one adds a little (additive increase, multiplicative decrease), so that a
 * recovering gateway is not brought down by all the calls that waited for it.
 */
export class GatewayLoad {
  readonly #loads = new Map<string, Load>();

  hasRoom(gateway: string): boolean {
    const { limit, inFlight } = this.#of(gateway);
    return inFlight < Math.floor(limit);
  }

  /** Whether half of what is allowed is free: the time to ask for several more with one query. */
  isHalfFree(gateway: string): boolean {
    const { limit, inFlight } = this.#of(gateway);
    return inFlight <= Math.floor(limit) / 2;
  }

  /** @param go called when a call may be made, now or later. Each `enter` is followed by one `leave` after that */
  enter(gateway: string, go: () => void): void {
    const load = this.#of(gateway);
    load.waiting.push(go);
    this.#admit(load);
  }

  /** @param failure how the call failed; undefined if it did not, or if none was made */
  leave(gateway: string, failure?: GatewayFailureKind): void {
    const load = this.#of(gateway);
    load.inFlight -= 1;
    if (failure === 'timeout' || failure === 'transient') load.limit = Math.max(1, load.limit / 2);
    else if (failure === undefined) load.limit = Math.min(MAX_LIMIT, load.limit + 1 / load.limit);
    this.#admit(load);
  }

  #admit(load: Load): void {
    while (load.inFlight < Math.floor(load.limit)) {
      const go = load.waiting.shift();
      if (go === undefined) return;
      load.inFlight += 1;
      go();
    }
  }

  #of(gateway: string): Load {
    const known = this.#loads.get(gateway) ?? { limit: FIRST_LIMIT, inFlight: 0, waiting: [] };
    this.#loads.set(gateway, known);
    return known;
  }
}

/** This many failures in a row, across more than one merchant, are the gateway's fault and not a merchant's. */
const FAILURES_OF_A_GATEWAY = 3;

interface Outage {
  failures: number;
  readonly merchants: Set<string>;
}

/**
 * Detects that a gateway that failed for everybody answers again: its merchants then need not wait for the end of
 * back-offs drawn while it was gone. Only a merchant that had failed as well can show it: one that was well all along
 * proves nothing for one that fails alone.
 */
export class GatewayRecovery {
  readonly #outages = new Map<string, Outage>();

  failed(gateway: string, merchant: string, kind: GatewayFailureKind): void {
    if (kind !== 'transient' && kind !== 'timeout') return;
    const outage = this.#outages.get(gateway) ?? { failures: 0, merchants: new Set() };
    outage.failures += 1;
    outage.merchants.add(merchant);
    this.#outages.set(gateway, outage);
  }

  /** @returns the merchants that were waiting for this gateway alone */
  succeeded(gateway: string, merchant: string): readonly string[] {
    const outage = this.#outages.get(gateway);
    if (outage?.merchants.delete(merchant) !== true) return [];
    this.#outages.delete(gateway);
    return outage.failures < FAILURES_OF_A_GATEWAY ? [] : [...outage.merchants];
  }
}
