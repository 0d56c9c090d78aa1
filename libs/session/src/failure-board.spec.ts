import { plusMs } from '#libs/clock';
import { aRecordedFailure } from '#libs/testing';
import { FailureBoard } from './failure-board.js';
import { checkedTrace } from './failure-trace.js';

const thumbprint = 'giDq73_2bc-X1mJeOZdZGtHIgq17_7yBU6003q9kBQo';

describe('what is known of a failure', () => {
  const whole = {
    mark: 'ECONNREFUSED',
    peer: '[::1]:9',
    viaProxy: true,
    httpStatus: 403,
    requestId: 'f1c7e2a0-52f1',
    thumbprint,
    unknownCode: true,
  } as const;

  it('is kept when each member is as it must be', () => {
    expect(checkedTrace({ ...whole, token: 'canary' })).toEqual(whole);
  });

  it.each([
    { mark: 'two words' },
    { mark: 'x'.repeat(65) },
    { peer: 'user:secret@bank.example' },
    { peer: '<script>' },
    { peer: 'x'.repeat(261) },
    { viaProxy: 'yes' },
    { unknownCode: 'b_something_new' },
    { httpStatus: 99 },
    { httpStatus: '403' },
    { thumbprint: `${thumbprint}x` },
    { requestId: 'two words' },
    { requestId: 'x'.repeat(65) },
    undefined,
    null,
    7,
  ])('loses what nobody of ours can have written: %j', (value) => {
    expect(checkedTrace(value)).toBeUndefined();
  });
});

describe('the last failures', () => {
  it('are told to those who wait, once each, however often they are read', () => {
    const board = new FailureBoard();
    const failure = aRecordedFailure();
    const heard: string[] = [];
    board.onFailure('shop', ({ kind }) => heard.push(kind));
    board.note('shop', failure);
    board.note('shop', { ...failure });
    board.note('shop', { ...failure, kind: 'timeout', at: plusMs(failure.at, 1) });
    expect(heard).toEqual(['transient', 'timeout']);
    expect(board.get('shop')?.kind).toBe('timeout');
  });

  it('are forgotten with the next session, and told to nobody who has gone', () => {
    const board = new FailureBoard();
    const heard: string[] = [];
    board.onFailure('shop', ({ kind }) => heard.push(kind))();
    board.note('shop', aRecordedFailure());
    board.clear('shop');
    expect(heard).toEqual([]);
    expect(board.get('shop')).toBeUndefined();
  });
});

describe('a failure that is noted', () => {
  it('stays when an older answer knows of none, whether another one was known before or not', () => {
    const failure = aRecordedFailure();
    const later = aRecordedFailure({ at: plusMs(failure.at, 1) });
    for (const before of [undefined, failure]) {
      const board = new FailureBoard();
      board.note('shop', later);
      board.clearSeen('shop', before);
      expect(board.get('shop')).toBe(later);
      board.clearSeen('shop', later);
      expect(board.get('shop')).toBeUndefined();
    }
  });

  it('is news once, until another one or a session takes its place', () => {
    const board = new FailureBoard();
    const failure = aRecordedFailure();
    expect(board.note('shop', failure)).toBe(true);
    expect(board.note('shop', { ...failure })).toBe(false);
    board.clear('shop');
    expect(board.get('shop')).toBeUndefined();
    expect(board.note('shop', failure)).toBe(true);
  });
});
