// What a test gets for `fast-check`: the library, drawing from the seed of the whole run, which jest shows.
import { jest } from '@jest/globals';
import fc from 'real-fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: jest.getSeed() });

export * from 'real-fast-check';
export { default } from 'real-fast-check';
