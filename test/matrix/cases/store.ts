import { setTimeout as pause } from 'node:timers/promises';
import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';
import { around, atDue, atRest, LEASE_MS, renewed } from './case-steps.js';

async function killedFor(stage: Stage, ms: number): Promise<void> {
  await stage.store.redis.kill();
  await pause(ms);
  await stage.store.redis.start();
}

/** Redis itself goes away, forgets, or says nothing. */
export const storeCases: readonly MatrixCase[] = [
  {
    ...atRest,
    name: 'killed-empty',
    done: 'Redis is killed and comes back empty after 1 s, at rest',
    play: (stage: Stage): Promise<void> => around(stage, () => killedFor(stage, 1_000)),
  },
  {
    ...atDue,
    name: 'killed-empty-in-call',
    done: 'Redis is killed while the create call is under way, and comes back empty after its answer',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.stallCall();
      await around(stage, async () => {
        await stage.store.redis.kill();
        await letGo();
        await pause(800);
        await stage.store.redis.start();
      });
    },
  },
  {
    ...atDue,
    name: 'old-snapshot',
    done: 'a session is renewed, Redis comes back with what it had before, and one more replica starts',
    play: async (stage: Stage): Promise<void> => {
      await stage.store.tell('SAVE');
      await renewed(stage);
      await around(stage, () => killedFor(stage, 300));
      await stage.add();
    },
  },
  {
    ...atDue,
    name: 'frozen-3s',
    done: 'Redis is frozen for 3 s at a due moment',
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(200);
      await around(stage, async () => {
        stage.store.redis.freeze();
        await pause(3_000);
        stage.store.redis.thaw();
      });
    },
  },
  {
    ...atDue,
    name: 'frozen-beyond-lease',
    done: 'Redis is frozen between the gateway’s answer and the publication, for longer than the lease',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.stallCall();
      await around(stage, async () => {
        stage.store.redis.freeze();
        await letGo();
        await pause(LEASE_MS + 1_000);
        stage.store.redis.thaw();
      });
    },
  },
  {
    ...atRest,
    name: 'flushall-start',
    done: 'FLUSHALL at rest, and one more replica starts at once',
    play: async (stage: Stage): Promise<void> => {
      await around(stage, () => stage.store.tell('FLUSHALL'));
      await stage.add();
      await pause(1_000);
    },
  },
];
