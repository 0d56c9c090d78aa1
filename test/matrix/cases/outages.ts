import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '#libs/testing';
import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';
import { around, atDue } from './case-steps.js';

const authorize = { onStoreOutage: 'authorize' } as const;

/** Cuts replicas off from their store from shortly before a renewal is due until something has happened. */
async function cutOff(stage: Stage, replicas: readonly number[], until: () => Promise<void>): Promise<void> {
  await stage.beforeDue(300);
  await around(stage, async () => {
    for (const replica of replicas) {
      const network = stage.networks[replica];
      if (network !== undefined) network.passage = 'cut';
    }
    await until();
    for (const replica of replicas) stage.networks[replica]?.heal();
  });
}

async function calls(stage: Stage, count: number): Promise<void> {
  await eventually(async () => (await stage.gateway.createCalls()).length >= count, 25_000);
  await pause(300);
}

/** What `onStoreOutage` promises. */
export const outageCases: readonly MatrixCase[] = [
  {
    ...atDue,
    name: 'fail-cut-off',
    done: '`fail`: one replica is cut off from Redis for 2 s at a due moment',
    networks: true,
    play: (stage: Stage): Promise<void> => cutOff(stage, [0], () => pause(2_000)),
  },
  {
    ...atDue,
    name: 'fail-all-cut-off',
    done: '`fail`: all replicas are cut off until after the end of the session',
    networks: true,
    play: (stage: Stage): Promise<void> => cutOff(stage, [0, 1, 2], () => pause(6_500)),
  },
  {
    name: 'authorize-cut-off',
    done: '`authorize`: one replica is cut off until it has made a session alone; one more renewal settles it',
    expected: 3,
    extra: 0,
    firstLifetimeMs: 16_000,
    networks: true,
    settings: authorize,
    play: (stage: Stage): Promise<void> => cutOff(stage, [0], () => calls(stage, 3)),
  },
  {
    name: 'authorize-all-cut-off',
    done: '`authorize`: all replicas are cut off until each has made a session; one more renewal settles it',
    expected: 4,
    extra: 0,
    firstLifetimeMs: 16_000,
    networks: true,
    settings: authorize,
    play: (stage: Stage): Promise<void> => cutOff(stage, [0, 1, 2], () => calls(stage, 4)),
  },
];
