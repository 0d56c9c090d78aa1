import { spawn } from 'node:child_process';
import { eventually } from '#libs/testing';
import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';

const RENEWALS = 100;
const BUSY_LOOPS = 8;
const budget = { calls: 1_000, windowMs: 600_000 };

/** Short sessions up to the last, which lives long, so that exactly so many renewals fall due. */
async function renewals(stage: Stage, count: number): Promise<void> {
  await stage.gateway.setLifetime(600);
  stage.begin();
  stage.end();
  await eventually(async () => (await stage.gateway.createCalls()).length >= count, 60_000);
  await stage.gateway.setLifetime(120_000);
  await eventually(async () => (await stage.gateway.createCalls()).length >= count + 1);
}

/** What nothing but the renewals themselves costs. */
export const quietCases: readonly MatrixCase[] = [
  {
    name: 'no-fault',
    done: `${RENEWALS} renewals, nothing goes wrong`,
    expected: RENEWALS,
    extra: 0,
    goalMs: 25,
    aftermath: 'none',
    firstLifetimeMs: 1_500,
    settings: { budget },
    play: (stage: Stage): Promise<void> => renewals(stage, RENEWALS),
  },
  {
    name: 'no-fault-busy',
    done: `30 renewals beside ${BUSY_LOOPS} busy loops`,
    expected: 30,
    extra: 0,
    goalMs: 250,
    aftermath: 'none',
    firstLifetimeMs: 1_500,
    settings: { budget },
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
