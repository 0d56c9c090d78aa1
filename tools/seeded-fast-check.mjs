// What a test gets for `fast-check`: the library, drawing from one seed, so that a gate asks the same again and refuses no
// change for what it has not changed. `npm run verify` and `npm run test:repeat` give other seeds by TEST_SEED, and
// verify more draws by TEST_DRAWS, a multiple.
import fc from 'real-fast-check';

const { TEST_SEED = '1', TEST_DRAWS = '1' } = process.env;
const DRAWS = 100;
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(TEST_SEED) });

const assert = (property, { numRuns = DRAWS, ...more } = {}) =>
  fc.assert(property, { ...more, numRuns: numRuns * Number(TEST_DRAWS) });

export * from 'real-fast-check';
export default { ...fc, assert };
