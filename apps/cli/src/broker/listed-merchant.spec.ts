import { leftText, type ListedMerchant, nextAttemptText, nextText } from './listed-merchant.js';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const inSeconds = (seconds: number): string => new Date(NOW + seconds * 1_000).toISOString();

describe('what comes next for a merchant', () => {
  const fresh: ListedMerchant = {
    id: 'shop',
    state: 'fresh',
    condition: 'fresh',
    reason: 'current',
    renewing: false,
    renewAt: inSeconds(76),
  };
  const failing = { condition: 'failing', lastFailure: { kind: 'transient', at: inSeconds(-1) } };

  it.each<[string, Partial<ListedMerchant>]>([
    ['renewal in 1m 16s', {}],
    ['attempt is due', { renewAt: inSeconds(-1) }],
    ['creating one', { ...failing, renewing: true }],
    ['attempt in 1s', { ...failing, retryAt: inSeconds(1) }],
    ['attempt in 5m 20s (after its end)', { ...failing, retryAt: inSeconds(320), expiresAt: inSeconds(118) }],
    ['attempt in 5m 20s', { ...failing, retryAt: inSeconds(320), expiresAt: inSeconds(320) }],
    ['attempt in 5m 20s', { state: 'unavailable', retryAt: inSeconds(320), expiresAt: inSeconds(118) }],
    ['attempt is due', { ...failing, retryAt: inSeconds(-1) }],
    ['attempt is due', failing],
    ['nothing is renewed', { ...failing, renewalBlocked: true }],
    ['renewal in 1m 16s', { state: 'foreign_authorizer', condition: 'foreign_authorizer' }],
  ])('is %s with %j', (text, facts) => {
    expect(nextText({ ...fresh, ...facts }, NOW)).toBe(text);
  });

  it('is an attempt after a failure also where a broker of 0.1 says no condition', () => {
    const { condition: _condition, ...told } = { ...fresh, ...failing };
    expect(nextText(told, NOW)).toBe('attempt is due');
  });

  it.each<[string, Partial<ListedMerchant>]>([
    ['; next attempt at 12:00:05 UTC, and again until one succeeds', { ...failing, retryAt: inSeconds(4.2) }],
    [
      '; next attempt at 2026-11-24 12:00:00 UTC, and again until one succeeds',
      { ...failing, retryAt: inSeconds(86_400) },
    ],
    [
      '; next attempt at 12:05:20 UTC (after its end), and again until one succeeds',
      { ...failing, retryAt: inSeconds(320), expiresAt: inSeconds(118) },
    ],
    ['', { ...failing, retryAt: inSeconds(-1) }],
    ['', { ...failing, retryAt: inSeconds(4), renewing: true }],
    ['', { ...failing, retryAt: inSeconds(4), renewalBlocked: true }],
    ['', { ...failing, retryAt: inSeconds(4), runbook: 'budget-exhausted' }],
    ['', { retryAt: inSeconds(4) }],
    ['', failing],
  ])('is told behind its cause as %j with %j', (text, facts) => {
    expect(nextAttemptText({ ...fresh, ...facts }, NOW)).toBe(text);
  });
});

describe('how long the session of a merchant is good for', () => {
  const ended: ListedMerchant = { id: 'shop', state: 'unavailable', reason: 'expired', renewing: false };

  it.each<[string, Partial<ListedMerchant>]>([
    ['none since 11:58:00 UTC', { expiresAt: inSeconds(-120) }],
    ['none since 2026-11-22 23:59:00 UTC', { expiresAt: '2026-11-22T23:59:00Z' }],
    ['-', { reason: 'no_session' }],
    ['1m 58s', { state: 'fresh', reason: 'current', expiresAt: inSeconds(118) }],
  ])('is %s with %j', (text, facts) => {
    expect(leftText({ ...ended, ...facts }, NOW)).toBe(text);
  });
});
