import { assertFewRemoved } from './changes.js';

describe('a change that lacks more than it may', () => {
  const lacking = (...names: readonly string[]): (() => void) => {
    return () => assertFewRemoved({ path: 'merchants', names, maxRemoved: 0 });
  };

  it('names what it lacks, up to five of them', () => {
    expect(lacking('kiosk')).toThrow(
      'lacks 1 of those in force, more than reload.maxRemoved allows (0): kiosk; is the',
    );
    expect(lacking('a', 'b', 'c', 'd', 'e')).toThrow('allows (0): a, b, c, d, e; is the file complete?');
    expect(lacking('a', 'b', 'c', 'd', 'e', 'f', 'g')).toThrow(
      'allows (0): a, b, c, d, e, and 2 more; is the file complete?',
    );
  });

  it('is none where it lacks nothing', () => {
    expect(lacking()).not.toThrow();
  });
});
