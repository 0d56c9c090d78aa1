import { readFileSync } from 'node:fs';
import { BrokerError, describeError } from './broker-error.js';
import { errorCodes } from './error-codes.js';
import { someOf } from './some-of.js';
import { storeRefusal } from './store-refusals.js';

describe('an error of ours', () => {
  it('says what happened in words that never change, and in detail what is known', () => {
    const error = new BrokerError('store_unavailable', { detail: 'no answer within 500 ms' });
    expect(error.message).toBe('The session store does not answer: no answer within 500 ms');
    expect(new BrokerError('store_unavailable').message).toBe(errorCodes.store_unavailable.title);
  });

  it('keeps what is for the caller apart from what is for the log', () => {
    const error = new BrokerError('invalid_request', { publicDetail: 'generation must be a whole number' });
    expect(error.publicDetail).toBe('generation must be a whole number');
    expect(new BrokerError('invalid_request', { detail: 'inside' }).publicDetail).toBeUndefined();
  });

  it('carries its code, its status and when to come back', () => {
    const error = new BrokerError('session_unavailable', { retryAfterMs: 1_500 });
    expect([error.code, error.entry.status, error.retryAfterMs]).toEqual(['session_unavailable', 503, 1_500]);
  });
});

describe('describing what was caught', () => {
  it('takes one line and no stack', () => {
    expect(describeError(new TypeError('x is not a function'))).toBe('TypeError: x is not a function');
  });

  it('reveals nothing of a value that is not an error: it could be anything', () => {
    expect(describeError('token-canary')).not.toContain('canary');
  });
});

describe('names as one text', () => {
  it('are at most twenty, or as many as are asked for, and how many more there were', () => {
    const names = Array.from({ length: 23 }, (_, index) => `m${index}`);
    expect(someOf(names)).toMatch(/^m0, m1, .*m19, and 3 more$/);
    expect(someOf(names, 2)).toBe('m0, m1, and 21 more');
  });

  it('are all there where they are few', () => {
    expect([someOf([]), someOf(['a']), someOf(['a', 'b'], 2)]).toEqual(['', 'a', 'a, b']);
  });
});

const RUNBOOK = new URL('../../../docs/runbooks/store-down.md', import.meta.url);

describe('a refusal of the store', () => {
  it.each(['READONLY', 'OOM', 'MISCONF', 'NOAUTH', 'WRONGPASS', 'NOPERM', 'DENIED', 'LOADING', 'MASTERDOWN'])(
    'is told with what it means and what to do about it, and has a line in the runbook: %s',
    (code) => {
      const { is, remedy } = storeRefusal(code)!;
      expect(`the store ${is}`).toMatch(/^the store (is|has|cannot|wants|does|denies) [^.]+$/);
      expect(remedy).toMatch(/^[A-Z][^.]*(\.\w[^.]*)*$/);
      expect(readFileSync(RUNBOOK, 'utf8')).toMatch(new RegExp(`^\\| \`${code}\` +\\| [A-Z]`, 'm'));
    },
  );

  it('is told by its code alone where that is not known', () => {
    expect([storeRefusal('SOMETHING'), storeRefusal(undefined)]).toEqual([undefined, undefined]);
  });
});
