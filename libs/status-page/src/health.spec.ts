import { toldStore } from '#libs/causes';
import { instantFromEpochMs } from '#libs/clock';
import type { RecordedFailure } from '#libs/session';
import { aRecordedFailure, aSession, FakeClock } from '#libs/testing';
import { type Called, gatewaysOf } from './gateway-health.js';
import type { StatusGateway } from './status-document.js';
import type { StoreConnection } from './status-source.js';
import { StoreHealth } from './store-health.js';

const at = (ms: number): RecordedFailure['at'] => instantFromEpochMs(ms);
const called = (facts: Partial<Called> = {}): Called => ({
  host: 'bank.example',
  session: undefined,
  failure: undefined,
  ...facts,
});
const renewed = (ms: number): Called => called({ session: aSession({ createdAt: at(ms) }) });
const failed = (failure: Partial<RecordedFailure>, ms = 2): Called =>
  called({ failure: { ...aRecordedFailure({ at: at(ms) }), ...failure } });
const only = (...merchants: Called[]): StatusGateway | undefined => gatewaysOf(merchants, new Map())[0];

describe('the health of a gateway', () => {
  const untrusted = failed({ kind: 'refused', trace: { mark: 'CERT_HAS_EXPIRED' } });
  it.each<[string, Called[], Partial<StatusGateway>]>([
    ['not known before the first call', [called()], { health: 'unknown', failing: 0 }],
    ['good when it answers', [renewed(1), called()], { health: 'answering', lastAnswerAt: 1 }],
    [
      'that of an answer when it refuses',
      [failed({ kind: 'refused' }), renewed(1)],
      { health: 'refusing', lastAnswerAt: 2 },
    ],
    [
      'that of the worst merchant',
      [failed({ kind: 'refused' }), failed({ kind: 'timeout' })],
      { health: 'failing', failing: 2 },
    ],
    [
      'told by the newest failure',
      [failed({ kind: 'timeout' }, 3), failed({}, 2)],
      { lastFailure: { at: 3, kind: 'timeout' } },
    ],
    ['worst when its certificate is not trusted', [untrusted, failed({ kind: 'timeout' })], { health: 'untrusted' }],
    [
      'not that of a key of ours',
      [failed({ kind: 'key_unavailable' }), renewed(1)],
      { health: 'answering', failing: 0 },
    ],
  ])('is %s', (_what, merchants, health) => {
    expect(only(...merchants)).toMatchObject({ merchants: merchants.length, ...health });
  });

  it('is listed worst first, with how far the clock of each is ahead', () => {
    const skews = new Map([['bank.example', -2_500]]);
    const listed = gatewaysOf([renewed(1), { ...failed({}), host: 'other.example' }], skews);
    expect(listed.map(({ host, skewMs }) => [host, skewMs])).toEqual([
      ['other.example', undefined],
      ['bank.example', -2_500],
    ]);
  });
});

describe('the health of the store', () => {
  it('is what its connection found out, with the reason where it does not answer', () => {
    const clock = new FakeClock();
    let connection: StoreConnection = { type: 'redis' };
    const health = new StoreHealth(() => connection, clock);
    const since = clock.now();
    expect(health.describe()).toEqual({ type: 'redis' });
    connection = { type: 'redis', condition: 'answers', since, reason: 'the store answers' };
    expect(health.describe()).toEqual({ type: 'redis', condition: 'answers', since });
    connection = { type: 'redis', condition: 'refuses', since, reason: 'NOPERM' };
    expect(health.describe()).toEqual({
      type: 'redis',
      condition: 'refuses',
      since,
      reason: 'NOPERM',
      cause: toldStore('refuses', 'NOPERM'),
    });
    connection = { type: 'redis', condition: 'silent', since, reason: 'ECONNREFUSED' };
    expect(health.describe()).toMatchObject({ reason: 'ECONNREFUSED', cause: { runbook: 'store-down' } });
  });

  it('says in words what failed until something succeeds, and nothing that the store said', () => {
    const clock = new FakeClock();
    let connection: StoreConnection = { type: 'redis' };
    const health = new StoreHealth(() => connection, clock);
    health.emit({ event: 'store_failed', operation: 'report', error: new Error('secret') });
    expect(health.describe()).toMatchObject({
      failing: { work: 'writing down a reported dead session', at: clock.now() },
    });
    expect(JSON.stringify(health.describe())).not.toContain('secret');
    const answers = { type: 'redis', condition: 'answers' } as const;
    connection = answers;
    expect(health.describe().failing).toBeDefined();
    for (const condition of ['refuses', 'silent'] as const) {
      connection = { type: 'redis', condition, reason: 'READONLY' };
      expect(health.describe().failing).toBeUndefined();
    }
    connection = answers;
    health.emit({ event: 'store_recovered' });
    expect(health.describe().failing).toBeUndefined();
  });
});
