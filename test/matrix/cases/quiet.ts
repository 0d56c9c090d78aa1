import { spawn } from 'node:child_process';
import { eventually } from '#libs/testing';
import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';

const RENEWALS = 100;
const BUSY_LOOPS = 8;

const LIFETIME_MS = 600;
const short = {
  extra: 0,
  aftermath: 'none',
  namesNoEnd: true,
  settings: { fallbackLifetimeMs: LIFETIME_MS, budget: [{ calls: 1_000, perMs: 600_000 }] },
} as const;

/** Short sessions up to the last, which lives long, so that exactly this many renewals are due. */
async function renewals(stage: Stage, count: number): Promise<void> {
  const before = (await stage.gateway.createCalls()).length;
  stage.begin();
  stage.end();
  const made = async (): Promise<number> => (await stage.gateway.createCalls()).length - before;
  await eventually(async () => (await made()) >= count - 1, 90_000);
  stage.settings = { ...stage.settings, fallbackLifetimeMs: 200 * LIFETIME_MS };
  await eventually(async () => (await made()) >= count);
}

/** What the renewals cost without any fault. */
export const quietCases: readonly MatrixCase[] = [
  {
    name: 'no-fault',
    done: `${RENEWALS} renewals, nothing goes wrong`,
    expected: RENEWALS,
    ...short,
    play: (stage: Stage): Promise<void> => renewals(stage, RENEWALS),
  },
  {
    name: 'no-fault-busy',
    done: `30 renewals beside ${BUSY_LOOPS} busy loops`,
    expected: 30,
    ...short,
    play: async (stage: Stage): Promise<void> => {
      const loops = Array.from({ length: BUSY_LOOPS }, () => spawn(process.execPath, ['-e', 'for (;;);']));
      try {
        await renewals(stage, 30);
      } finally {
        for (const loop of loops) loop.kill('SIGKILL');
      }
    },
  },
];
