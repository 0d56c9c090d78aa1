import { hasNewsInStore, meansStoreIsAhead, type RenewalResult } from './renewal-result.js';

describe('what there is to read in the store after a wish', () => {
  it.each<[RenewalResult, boolean, boolean]>([
    [{ kind: 'already_newer' }, true, true],
    [{ kind: 'lost', retryInMs: 0 }, true, true],
    [{ kind: 'renewed' }, false, true],
    [{ kind: 'failed', because: 'transient', retryInMs: 0 }, false, false],
    [{ kind: 'held', retryInMs: 0 }, false, false],
  ])('%j: a session of others %s, anything at all %s', (result, isAhead, hasNews) => {
    expect([meansStoreIsAhead(result), hasNewsInStore(result)]).toEqual([isAhead, hasNews]);
  });
});
