import { eventually } from '#libs/testing';
import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';

const RENEWALS = 100;
const LIFETIME_MS = 600;

/** What renewals cost without any fault. */
export const quietCases: readonly MatrixCase[] = [
  {
    name: 'no-fault',
    done: `${RENEWALS} renewals, nothing goes wrong`,
    expected: RENEWALS,
    extra: 0,
    aftermath: 'none',
    namesNoEnd: true,
    settings: { fallbackLifetimeMs: LIFETIME_MS, budget: [{ calls: 1_000, perMs: 600_000 }] },
    play: async (stage: Stage): Promise<void> => {
      const before = (await stage.gateway.createCalls()).length;
      stage.begin();
      stage.end();
      const made = async (): Promise<number> => (await stage.gateway.createCalls()).length - before;
      await eventually(async () => (await made()) >= RENEWALS - 1, 90_000);
      // The last session lives long, so that exactly this many renewals are due.
      stage.settings = { ...stage.settings, fallbackLifetimeMs: 200 * LIFETIME_MS };
      await eventually(async () => (await made()) >= RENEWALS);
    },
  },
];
