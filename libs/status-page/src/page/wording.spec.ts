import type { StatusMerchant, StatusRenewal } from '../status-document.js';
import {
  agoText,
  countText,
  durationText,
  leftText,
  outlookText,
  renewalText,
  skewText,
  timeText,
  tookText,
} from './wording.js';

const merchant: StatusMerchant = {
  id: 'shop',
  required: true,
  environment: 'production',
  condition: 'fresh',
  reason: 'current',
  session: { generation: 1, createdAt: 0, renewAt: 800_000, mustRenewAt: 950_000, expiresAt: 1_000_000 },
  renewing: false,
  renewalBlocked: false,
  budgetSpent: false,
  renewals: [],
};

describe('the words of the page', () => {
  it.each([
    [0, '0 s'],
    [-5, '0 s'],
    [59_999, '59 s'],
    [60_000, '1 min 0 s'],
    [692_000, '11 min 32 s'],
    [3_600_000, '1 h 0 min'],
    [90_061_000, '1 d 1 h'],
  ])('say of %d ms left %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  it.each([
    [-200, 'just now'],
    [1_999, 'just now'],
    [2_000, '2 s ago'],
    [119_999, '119 s ago'],
    [120_000, '2 min ago'],
    [7_200_000, '2 h ago'],
    [172_800_000, '2 d ago'],
  ])('say of %d ms gone %s', (ms, text) => {
    expect(agoText(ms)).toBe(text);
  });

  it('say how long something took, how far clocks are apart, and how many there are', () => {
    expect([tookText(123.6), tookText(12_340)]).toEqual(['124 ms', '12.3 s']);
    expect([skewText(289), skewText(-12_500)]).toEqual(['gateway 289 ms ahead', 'gateway 12.5 s behind']);
    expect([countText(1, 'page', 'pages'), countText(12_000, 'page', 'pages')]).toEqual(['1 page', '12,000 pages']);
  });

  const failure = { at: 0, kind: 'transient' };

  it('say what is left of a session', () => {
    const { session: _session, ...none } = merchant;
    expect(leftText(merchant, 0)).toBe('16 min 40 s left');
    expect(leftText(merchant, 1_005_000)).toBe('expired 5 s ago');
    expect(leftText(none, 0)).toBe('nothing to serve');
  });

  it.each<[string, Partial<StatusMerchant>, number]>([
    ['renews in 13 min 20 s', {}, 0],
    ['renewal is due', {}, 800_000],
    ['creating the next session', { renewing: true, budgetSpent: true }, 800_000],
    ['create-call budget spent, next attempt in 1 min 40 s', { budgetSpent: true, retryAt: 900_000 }, 800_000],
    ['create-call budget spent', { budgetSpent: true }, 800_000],
    [
      'create-call budget spent, next attempt after its end, in 5 min 0 s',
      { condition: 'failing', budgetSpent: true, retryAt: 1_100_000 },
      800_000,
    ],
    ['next attempt in 5 min 0 s', { condition: 'unavailable', retryAt: 1_400_000 }, 1_100_000],
    ['nothing is renewed', { renewalBlocked: true, retryAt: 900_000 }, 0],
    ['renews in 13 min 20 s', { condition: 'foreign_authorizer', reason: 'foreign_authorizer' }, 0],
    ['renewal is due', { condition: 'foreign_authorizer', reason: 'foreign_authorizer' }, 900_000],
    ['next attempt in 30 s', { condition: 'failing', retryAt: 830_000 }, 800_000],
    ['next attempt after its end, in 50 min 0 s', { condition: 'failing', retryAt: 3_800_000 }, 800_000],
    ['next attempt is due', { condition: 'failing', retryAt: 700_000, failure }, 800_000],
    ['renews in 13 min 20 s', { condition: 'dead' }, 0],
    ['next attempt is due', { condition: 'dead', failure }, 0],
  ])('say what comes next: %s', (text, facts, now) => {
    expect(outlookText({ ...merchant, ...facts }, now)).toBe(text);
  });

  it.each<[string, StatusRenewal]>([
    ['10 s ago · taken from the store', { at: 0, generation: 1, outcome: 'adopted' }],
    ['10 s ago · schedule · 124 ms', { at: 0, generation: 1, outcome: 'success', trigger: 'schedule', callMs: 124 }],
    ['10 s ago · timed out', { at: 0, generation: 1, outcome: 'timeout', trigger: 'demand', callMs: 5_000 }],
  ])('tell a renewal: %s', (text, renewal) => {
    expect(renewalText(renewal, 10_000)).toBe(text);
  });

  it('says a time of day with its zone, and the day only where it is not today', () => {
    const now = Date.parse('2026-11-22T18:00:00Z');
    expect(timeText(Date.parse('2026-11-22T06:08:30.999Z'), now)).toBe('06:08:30 UTC');
    expect(timeText(Date.parse('2026-11-21T23:59:59Z'), now)).toBe('2026-11-21 23:59:59 UTC');
  });
});
