import { setTimeout as pause } from 'node:timers/promises';
import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';
import { around, atDue, atRest, LEASE_MS, renewed } from './case-steps.js';

/** Freezes Redis shortly before the first session is due. */
async function frozenAtDue(stage: Stage, forMs: number): Promise<void> {
  await stage.beforeDue(200);
  await around(stage, async () => {
    stage.store.redis.freeze();
    await pause(forMs);
    stage.store.redis.thaw();
  });
}

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
    name: 'killed-empty-due',
    done: 'the same while a renewal falls due',
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(200);
      await around(stage, () => killedFor(stage, 1_000));
    },
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
    name: 'frozen-0.7s',
    done: 'Redis is frozen for 0.7 s at a due moment',
    play: (s: Stage): Promise<void> => frozenAtDue(s, 700),
  },
  {
    ...atDue,
    name: 'frozen-3s',
    done: 'the same for 3 s',
    play: (stage: Stage): Promise<void> => frozenAtDue(stage, 3_000),
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
    name: 'flushall',
    done: 'FLUSHALL at rest',
    play: async (stage: Stage): Promise<void> => {
      await around(stage, () => stage.store.tell('FLUSHALL'));
      await pause(2_500);
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
  {
    ...atRest,
    name: 'flushall-start-later',
    done: 'the same 2.5 s later',
    play: async (stage: Stage): Promise<void> => {
      await around(stage, () => stage.store.tell('FLUSHALL'));
      await pause(2_500);
      await stage.add();
      await pause(1_000);
    },
  },
  {
    ...atDue,
    name: 'flushall-in-call',
    done: 'FLUSHALL while a create call is under way',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.stallCall();
      await around(stage, async () => {
        await stage.store.tell('FLUSHALL');
        await letGo();
      });
    },
  },
  {
    ...atDue,
    name: 'script-flush',
    done: 'SCRIPT FLUSH just before a due moment',
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(50);
      await around(stage, () => stage.store.tell('SCRIPT', 'FLUSH'));
    },
  },
  {
    ...atDue,
    name: 'lease-deleted',
    done: 'the lease is deleted while its create call is under way',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.stallCall();
      await around(stage, async () => {
        await stage.store.tell('HDEL', stage.store.merchantKey('shop'), 'owner', 'lease');
        await pause(300);
        await letGo();
      });
    },
  },
  {
    ...atDue,
    name: 'merchant-deleted',
    done: 'everything about the merchant is deleted while a create call is under way',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.stallCall();
      await around(stage, async () => {
        await stage.store.tell('DEL', stage.store.merchantKey('shop'));
        await letGo();
      });
    },
  },
  {
    ...atDue,
    name: 'clock-back',
    done: 'the clock of Redis is set back by an hour: every moment in it lies an hour ahead',
    play: async (stage: Stage): Promise<void> => {
      await pause(300);
      stage.begin();
      await anHourAhead(stage);
      await renewed(stage, 12_000);
      stage.end();
    },
  },
  {
    ...atDue,
    name: 'clock-back-in-call',
    done: 'the same while a create call is under way',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.stallCall();
      await around(stage, async () => {
        await anHourAhead(stage);
        await letGo();
      });
    },
  },
];

/** As seen from a clock that was set back: shifts every moment, in every key. */
async function anHourAhead(stage: Stage): Promise<void> {
  await stage.store.run(`
    local moments = { 'lease', 'due', 'publishedAt', 'cooledDownAt' }
    for _, key in ipairs(redis.call('KEYS', '*')) do
      local kind = redis.call('TYPE', key).ok
      if kind == 'zset' then
        local members = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
        for i = 1, #members, 2 do
          redis.call('ZINCRBY', key, 3600000, members[i])
        end
      elseif kind == 'hash' then
        for _, name in ipairs(moments) do
          local from, length = string.match(redis.call('HGET', key, name) or '', '^(%d+)(.*)$')
          if from then redis.call('HSET', key, name, string.format('%.0f', from + 3600000) .. length) end
        end
      end
    end`);
}
