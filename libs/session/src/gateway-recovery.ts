import type { GatewayFailureKind } from './gateway-failure.js';

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
