import { boundsWithin } from './connections.js';

const MIB = 1_048_576;

describe('the number of connections', () => {
  it.each([
    ['follows from the memory, with an eighth for an address', 320, { max: 938, perAddress: 118 }],
    ['is small where there is less memory than a program needs', 64, { max: 64, perAddress: 8 }],
    ['ends where memory is not what there is least of', 65_536, { max: 12_000, perAddress: 1_500 }],
  ])('%s', (_name, mib, bounds) => {
    expect(boundsWithin(mib * MIB, {})).toEqual(bounds);
  });

  it('is the one that the configuration names', () => {
    expect(boundsWithin(320 * MIB, { max: 40 })).toEqual({ max: 40, perAddress: 5 });
    expect(boundsWithin(320 * MIB, { max: 40, perAddress: 30 })).toEqual({ max: 40, perAddress: 30 });
  });
});
