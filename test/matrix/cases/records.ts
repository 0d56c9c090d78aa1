import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';
import { renewed } from './case-steps.js';

const MEGABYTES = 60 * 1_024 * 1_024;

/** Spoils something in Redis before a renewal is due; it stays that way while it is. */
async function spoilt(stage: Stage, spoil: () => Promise<unknown>): Promise<void> {
  stage.begin();
  await spoil();
  await renewed(stage);
  stage.end();
}

/** Next to `shop` there is a merchant whose record is spoilt: its own renewal is expected as well. */
const both = { others: ['hurt'], expected: 2, extra: 0 } as const;
const onlyShop = { expected: 1, extra: 0 } as const;

/** One bad thing in Redis stays one bad thing. */
export const recordCases: readonly MatrixCase[] = [
  {
    ...both,
    name: 'wrong-type',
    done: 'the key of another merchant becomes one of a wrong type',
    play: (stage: Stage): Promise<void> =>
      spoilt(stage, async () => {
        const key = stage.store.merchantKey('hurt');
        await stage.store.run(`redis.call('DEL', ARGV[1]) redis.call('RPUSH', ARGV[1], 'x')`, key);
      }),
  },
  {
    ...both,
    name: 'wrong-type-calls',
    done: 'the same with the record of its calls',
    play: (stage: Stage): Promise<void> =>
      spoilt(stage, async () => {
        await stage.store.run(
          `for _, key in ipairs(redis.call('KEYS', '*:calls:hurt')) do redis.call('SET', key, 'x') end`,
        );
      }),
  },
  {
    ...both,
    name: 'no-number',
    done: 'every number in the record of another merchant becomes a word',
    play: (stage: Stage): Promise<void> =>
      spoilt(stage, async () => {
        const key = stage.store.merchantKey('hurt');
        await stage.store.run(
          `local fields = redis.call('HGETALL', ARGV[1])
           for i = 1, #fields, 2 do
             if string.find(fields[i + 1], '^%d') then redis.call('HSET', ARGV[1], fields[i], 'soon') end
           end`,
          key,
        );
      }),
  },
  {
    ...both,
    name: 'huge-value',
    done: 'the stored session of another merchant becomes 60 MB',
    play: (stage: Stage): Promise<void> =>
      spoilt(stage, async () => {
        const key = stage.store.merchantKey('hurt');
        await stage.store.run(
          `local fields = redis.call('HGETALL', ARGV[1])
           local longest, field = 0, 'session'
           for i = 1, #fields, 2 do
             if #fields[i + 1] > longest then longest, field = #fields[i + 1], fields[i] end
           end
           redis.call('HSET', ARGV[1], field, string.rep('x', tonumber(ARGV[2])))`,
          key,
          String(MEGABYTES),
        );
      }),
  },
  {
    ...both,
    name: 'implausible-fence',
    done: 'the fence of another merchant becomes the largest number there is',
    play: (stage: Stage): Promise<void> =>
      spoilt(stage, async () => {
        await stage.store.tell('HSET', stage.store.merchantKey('hurt'), 'fence', String(Number.MAX_SAFE_INTEGER));
      }),
  },
  {
    ...onlyShop,
    name: 'implausible-own-fence',
    done: 'the fence of the merchant itself does',
    play: (stage: Stage): Promise<void> =>
      spoilt(stage, async () => {
        await stage.store.tell('HSET', stage.store.merchantKey('shop'), 'fence', String(Number.MAX_SAFE_INTEGER));
      }),
  },
  {
    ...onlyShop,
    name: 'own-wrong-type',
    done: 'the key of the merchant itself becomes one of a wrong type',
    play: (stage: Stage): Promise<void> =>
      spoilt(stage, async () => {
        const key = stage.store.merchantKey('shop');
        await stage.store.run(`redis.call('DEL', ARGV[1]) redis.call('RPUSH', ARGV[1], 'x')`, key);
      }),
  },
  {
    ...onlyShop,
    name: 'foreign-members',
    done: '200 000 unknown members are due before all others',
    play: (stage: Stage): Promise<void> =>
      spoilt(stage, async () => {
        await stage.store.run(
          `for i = 1, 200000 do redis.call('ZADD', ARGV[1], i, 'foreign-' .. i) end`,
          stage.store.dueKey(),
        );
      }),
  },
  {
    ...onlyShop,
    name: 'infinite-members',
    done: 'unknown members are due at minus and plus infinity',
    play: (stage: Stage): Promise<void> =>
      spoilt(stage, async () => {
        await stage.store.tell('ZADD', stage.store.dueKey(), '-inf', 'never', '+inf', 'for-ever');
      }),
  },
  {
    ...onlyShop,
    name: 'due-infinite',
    done: 'the merchant itself is due at plus infinity',
    play: (stage: Stage): Promise<void> =>
      spoilt(stage, async () => {
        await stage.store.tell('ZADD', stage.store.dueKey(), '+inf', 'shop');
      }),
  },
  {
    ...onlyShop,
    name: 'due-wrong-type',
    done: 'the set of due moments becomes a text',
    play: (stage: Stage): Promise<void> =>
      spoilt(stage, async () => {
        await stage.store.tell('SET', stage.store.dueKey(), 'soon');
      }),
  },
];
