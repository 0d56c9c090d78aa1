import { meansStoreIsAhead, type RenewalResult } from './renewal-result.js';

describe('after a wish for a newer session', () => {
  it.each<[RenewalResult, boolean]>([
    [{ kind: 'already_newer' }, true],
    [{ kind: 'lost', retryInMs: 0 }, true],
    [{ kind: 'renewed' }, false],
    [{ kind: 'failed', because: 'transient', retryInMs: 0 }, false],
    [{ kind: 'held', retryInMs: 0 }, false],
  ])('%j: the store has a session of others: %s', (result, isAhead) => {
    expect(meansStoreIsAhead(result)).toBe(isAhead);
  });
});
