import type { GatewayFailureKind } from './gateway-failure.js';

/** How many calls one replica has in flight to one gateway: the initial limit, and the highest one. */
const FIRST_LIMIT = 16;
const MAX_LIMIT = 32;
/** This many failures in a row, across more than one merchant, are the gateway's fault and not a merchant's. */
const FAILURES_OF_A_GATEWAY = 3;

interface Gateway {
  limit: number;
  inFlight: number;
  readonly waiting: (() => void)[];
  /** Since a merchant that had failed last got a session. */
  failures: number;
  readonly failed: Set<string>;
}

/**
 * How many calls are made to one gateway at once, and whether it fails everybody. Each call that is answered late or not
 * at all halves what is allowed, and each good one adds a little (additive increase, multiplicative decrease): a
 * recovering gateway is not brought down by all that waited for it.
 */
export class Gateways {
  readonly #gateways = new Map<string, Gateway>();

  hasRoom(id: string): boolean {
    const { limit, inFlight } = this.#of(id);
    return inFlight < Math.floor(limit);
  }

  /** @param go called when a call may be made, now or later. Each `enter` is followed by one `leave` after that */
  enter(id: string, go: () => void): void {
    const gateway = this.#of(id);
    gateway.waiting.push(go);
    this.#admit(gateway);
  }

  /** @param failure how the call failed; undefined if it did not, or if none was made */
  leave(id: string, failure?: GatewayFailureKind): void {
    const gateway = this.#of(id);
    gateway.inFlight -= 1;
    if (isOverloaded(failure)) gateway.limit = Math.max(1, gateway.limit / 2);
    else if (failure === undefined) gateway.limit = Math.min(MAX_LIMIT, gateway.limit + 1 / gateway.limit);
    this.#admit(gateway);
  }

  failed(id: string, merchant: string, kind: GatewayFailureKind): void {
    if (!isOverloaded(kind)) return;
    const gateway = this.#of(id);
    gateway.failures += 1;
    gateway.failed.add(merchant);
  }

  /**
   * Only a merchant that had failed as well shows that the gateway answers again.
   * @returns the others, which waited for this gateway alone: they need not wait for the end of their back-offs
   */
  succeeded(id: string, merchant: string): readonly string[] {
    const gateway = this.#of(id);
    if (!gateway.failed.delete(merchant)) return [];
    const waiting = gateway.failures < FAILURES_OF_A_GATEWAY ? [] : [...gateway.failed];
    gateway.failures = 0;
    gateway.failed.clear();
    return waiting;
  }

  #admit(gateway: Gateway): void {
    while (gateway.inFlight < Math.floor(gateway.limit)) {
      const go = gateway.waiting.shift();
      if (go === undefined) return;
      gateway.inFlight += 1;
      go();
    }
  }

  #of(id: string): Gateway {
    const unknown = { limit: FIRST_LIMIT, inFlight: 0, waiting: [], failures: 0, failed: new Set<string>() };
    const gateway = this.#gateways.get(id) ?? unknown;
    this.#gateways.set(id, gateway);
    return gateway;
  }
}

function isOverloaded(failure: GatewayFailureKind | undefined): boolean {
  return failure === 'timeout' || failure === 'transient';
}
