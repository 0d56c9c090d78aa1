import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';
import { renewed } from './case-steps.js';

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

/** One bad thing in Redis stays one bad thing; what else can be bad there, the specs of the store have. */
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
    name: 'due-wrong-type',
    done: 'the set of due moments becomes a text',
    play: (stage: Stage): Promise<void> =>
      spoilt(stage, async () => {
        await stage.store.tell('SET', stage.store.dueKey(), 'soon');
      }),
  },
];
