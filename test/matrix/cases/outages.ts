import { setTimeout as pause } from 'node:timers/promises';
import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';
import { around, atDue, healed } from './case-steps.js';

/** Cuts replicas off from their store from shortly before a renewal is due until something has happened. */
async function cutOff(stage: Stage, replicas: readonly number[], until: () => Promise<void>): Promise<void> {
  await stage.beforeDue(300);
  await around(stage, async () => {
    const networks = stage.networks.filter((_network, replica) => replicas.includes(replica));
    for (const network of networks) network.passage = 'cut';
    await until();
    networks.forEach(healed);
  });
}

/** What is served while replicas do not reach their store. */
export const outageCases: readonly MatrixCase[] = [
  {
    ...atDue,
    name: 'cut-off',
    done: 'one replica is cut off from Redis for 2 s at a due moment',
    networks: true,
    play: (stage: Stage): Promise<void> => cutOff(stage, [0], () => pause(2_000)),
  },
  {
    ...atDue,
    name: 'all-cut-off',
    done: 'all replicas are cut off until after the end of the session',
    networks: true,
    play: (stage: Stage): Promise<void> => cutOff(stage, [0, 1, 2], () => pause(6_500)),
  },
];
