import { SKEW_TOLERANCE_MS } from '#libs/session';
import { type Check, fact, type Finding, looked, warning } from '../check.js';
import type { ServerFacts } from '#libs/store';
import type { StoreVisit } from '../store-visit.js';

/** Due times and leases follow the store's clock, expiry follows ours: the two should agree. */
export function storeClockCheck(visit: StoreVisit): Check {
  return {
    name: 'store.clock',
    needs: ['store.connection'],
    limitMs: 5_000,
    run: async () => {
      const servers = await visit.servers();
      const findings = servers.flatMap(findingsOn);
      return findings.length === 0
        ? { kind: 'not_run', reason: 'the store does not tell its time to this user (+time)' }
        : looked(findings);
    },
  };
}

function findingsOn({ address, clock }: ServerFacts): readonly Finding[] {
  if (clock === undefined) return [];
  const { leastMs, mostMs } = clock;
  const surelyOffMs = Math.max(leastMs, -mostMs, 0);
  const direction = leastMs > 0 ? 'ahead of' : 'behind';
  return surelyOffMs > SKEW_TOLERANCE_MS
    ? [
        warning(
          `the clock of ${address} is ${Math.round(surelyOffMs)} ms ${direction} ours`,
          'have both machines set by NTP',
        ),
      ]
    : [fact(`the clock of ${address} agrees with ours`)];
}
