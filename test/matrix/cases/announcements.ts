import { setTimeout as pause } from 'node:timers/promises';
import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';
import { around, atDue, healed } from './case-steps.js';

/** Loses replies: what was asked is done. */
async function repliesLost(stage: Stage, ms: number): Promise<void> {
  for (const network of stage.networks) network.passage = 'requests-only';
  await pause(ms);
  stage.networks.forEach(healed);
}

/** What is lost on the way between a replica and Redis. */
export const announcementCases: readonly MatrixCase[] = [
  {
    ...atDue,
    name: 'all-connections-killed',
    done: 'CLIENT KILL of every connection just before a publication',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.stallCall();
      await around(stage, async () => {
        await stage.store.tell('CLIENT', 'KILL', 'TYPE', 'pubsub');
        await stage.store.tell('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        await letGo();
      });
    },
  },
  {
    ...atDue,
    name: 'subscriptions-killed',
    done: 'CLIENT KILL of the subscriptions for 0.5 s around a publication',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.stallCall();
      const kill = (): Promise<string> => stage.store.tell('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await around(stage, async () => {
        await kill();
        const killing = setInterval(() => void kill(), 40);
        await pause(250);
        await letGo();
        await pause(250);
        clearInterval(killing);
      });
    },
  },
  {
    ...atDue,
    name: 'claim-reply-lost',
    done: 'replies are lost for 0.7 s while the merchant is claimed',
    networks: true,
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(20);
      await around(stage, () => repliesLost(stage, 700));
    },
  },
  {
    ...atDue,
    name: 'publish-reply-lost',
    done: 'replies are lost for 0.5 s while the session is published',
    networks: true,
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.stallCall();
      await around(stage, async () => {
        const lost = repliesLost(stage, 500);
        await letGo();
        await lost;
      });
    },
  },
];
