import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '#libs/testing';
import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';
import { around, atDue } from './case-steps.js';

const REFUSES_FOR_MS = 2_000;

/** Redis refuses, from shortly before a renewal is due. */
async function refuses(stage: Stage, { begin, end }: Record<'begin' | 'end', readonly string[]>): Promise<void> {
  await stage.beforeDue(200);
  await around(stage, async () => {
    await stage.store.tell(...begin);
    await pause(REFUSES_FOR_MS);
    await stage.store.tell(...end);
  });
}

/** A store that answers, but refuses: not an outage, whatever the code. */
export const refusalCases: readonly MatrixCase[] = [
  ...(['publish', 'hset'] as const).map((right): MatrixCase => ({
    ...atDue,
    name: `no-right-${right}`,
    done: `the right to \`${right}\` is taken for 2 s at a due moment`,
    play: (stage: Stage): Promise<void> =>
      refuses(stage, {
        begin: ['ACL', 'SETUSER', 'default', `-${right}`],
        end: ['ACL', 'SETUSER', 'default', `+${right}`],
      }),
  })),
  {
    ...atDue,
    name: 'out-of-memory',
    done: 'Redis has no memory for 2 s at a due moment',
    play: (stage: Stage): Promise<void> =>
      refuses(stage, { begin: ['CONFIG', 'SET', 'maxmemory', '1'], end: ['CONFIG', 'SET', 'maxmemory', '0'] }),
  },
  {
    ...atDue,
    name: 'read-only',
    done: 'Redis only reads for 2 s at a due moment',
    play: async (stage: Stage): Promise<void> =>
      refuses(stage, {
        begin: ['REPLICAOF', '127.0.0.1', String(await freePort())],
        end: ['REPLICAOF', 'NO', 'ONE'],
      }),
  },
];
