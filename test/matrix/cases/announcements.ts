import { setTimeout as pause } from 'node:timers/promises';
import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';
import { around, atDue, renewed } from './case-steps.js';

const CHANNEL = 'test:announcements';

/** Messages that no replica sent, before a renewal is due and until it is complete. */
async function forged(stage: Stage, message: object): Promise<void> {
  stage.begin();
  for (let count = 0; count < 3; count += 1) await stage.store.tell('PUBLISH', CHANNEL, JSON.stringify(message));
  stage.end();
  await renewed(stage);
}

/** Closes connections for announcements as soon as they exist, around a publication. */
async function killedAround(stage: Stage, forMs: number): Promise<void> {
  const letGo = await stage.stallCall();
  await around(stage, async () => {
    const kill = (): Promise<void> => stage.store.everywhere('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await kill();
    const killing = setInterval(() => void kill(), 40);
    await pause(forMs / 2);
    await letGo();
    await pause(forMs / 2);
    clearInterval(killing);
  });
}

/** Loses replies: what was asked is done. */
async function repliesLost(stage: Stage, ms: number): Promise<void> {
  for (const network of stage.networks) network.passage = 'requests-only';
  await pause(ms);
  for (const network of stage.networks) network.heal();
}

/** What is lost on the way between a replica and Redis, and messages that no replica sent. */
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
    play: (stage: Stage): Promise<void> => killedAround(stage, 500),
  },
  {
    ...atDue,
    name: 'announcements-cut',
    done: 'the network cuts the connections for announcements, and nothing else, for 0.5 s around a publication',
    networks: true,
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.stallCall();
      await around(stage, async () => {
        for (const network of stage.networks) network.cutAnnouncements();
        await pause(200);
        await letGo();
        await pause(300);
        for (const network of stage.networks) network.restoreAnnouncements();
      });
    },
  },
  {
    ...atDue,
    name: 'announcements-cut-one',
    done: 'the same for one replica, for 0.3 s',
    networks: true,
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.stallCall();
      await around(stage, async () => {
        stage.networks[1]?.cutAnnouncements();
        await letGo();
        await pause(300);
        stage.networks[1]?.restoreAnnouncements();
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
  {
    name: 'release-reply-lost',
    done: 'the gateway is overloaded once, and replies are lost for 0.5 s while the lease is freed',
    expected: 2,
    extra: 0,
    networks: true,
    play: async (stage: Stage): Promise<void> => {
      await stage.gateway.fault({ kind: 'error', times: 1 });
      const letGo = await stage.stallCall();
      await around(stage, async () => {
        const lost = repliesLost(stage, 500);
        await letGo();
        await lost;
      });
    },
  },
  {
    ...atDue,
    name: 'forged-generation',
    done: 'somebody announces the largest generation there is',
    play: (stage: Stage): Promise<void> =>
      forged(stage, { kind: 'changed', merchant: 'shop', generation: Number.MAX_SAFE_INTEGER }),
  },
];
