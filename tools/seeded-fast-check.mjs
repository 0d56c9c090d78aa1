// What a test gets for `fast-check`: the library, drawing from the seed of the whole run if it has one (run-tests.mjs).
import fc from 'real-fast-check';

const { TEST_SEED } = process.env;
if (TEST_SEED !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(TEST_SEED) });

export * from 'real-fast-check';
export { default } from 'real-fast-check';
