import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';
import { renewed } from './case-steps.js';

/** One bad thing in Redis stays one bad thing; what else can be bad there, the specs of the store have. */
export const recordCases: readonly MatrixCase[] = [
  {
    name: 'wrong-type',
    done: 'the key of another merchant becomes one of a wrong type',
    // The renewal of the other one is expected as well.
    others: ['hurt'],
    expected: 2,
    extra: 0,
    play: async (stage: Stage): Promise<void> => {
      stage.begin();
      const key = stage.store.merchantKey('hurt');
      await stage.store.run(`redis.call('DEL', ARGV[1]) redis.call('RPUSH', ARGV[1], 'x')`, key);
      await renewed(stage);
      stage.end();
    },
  },
];
