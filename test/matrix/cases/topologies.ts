import { setTimeout as pause } from 'node:timers/promises';
import { eventually, type RedisProcess } from '#libs/testing';
import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';
import { around, atDue, atRest, renewed } from './case-steps.js';

/** Waits until the first primary's replica has taken over and every sentinel says so. */
async function failedOver(stage: Stage): Promise<void> {
  const { replica, sentinels, name } = stage.store.sentinels;
  const isNamed = (sentinel: RedisProcess): boolean =>
    sentinel.cli('SENTINEL', 'get-master-addr-by-name', name).includes(String(replica.port));
  await replica.untilSays('role:master', 'INFO', 'replication');
  await eventually(() => sentinels.every(isNamed), 15_000);
}

/** Sentinel and Cluster, with one server lost. */
export const topologyCases: readonly MatrixCase[] = [
  {
    ...atDue,
    name: 'sentinel-failover-in-call',
    done: 'the primary is killed while a create call is under way, and a replica takes over',
    topology: 'Sentinel',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.stallCall();
      await around(stage, async () => {
        await stage.store.sentinels.primary.kill();
        await letGo();
        await failedOver(stage);
      });
    },
  },
  {
    ...atDue,
    name: 'sentinel-lost-writes',
    done: 'a session is published, and the replica that takes over never heard of it; one more replica starts',
    topology: 'Sentinel',
    play: async (stage: Stage): Promise<void> => {
      const { primary, replica } = stage.store.sentinels;
      await stage.beforeDue(300);
      replica.freeze();
      primary.cli('CLIENT', 'KILL', 'TYPE', 'replica');
      await renewed(stage);
      await around(stage, async () => {
        await primary.kill();
        replica.thaw();
        await failedOver(stage);
      });
      await stage.add();
    },
  },
  {
    ...atRest,
    name: 'cluster-node-killed',
    done: 'the node with the merchant is killed and comes back empty after 2 s',
    topology: 'Cluster',
    play: async (stage: Stage): Promise<void> => {
      const node = stage.store.redis;
      await around(stage, async () => {
        await node.kill();
        await pause(2_000);
        await node.start();
        await node.untilSays('cluster_state:ok', 'CLUSTER', 'INFO');
      });
    },
  },
];
