import type { StatusMerchant } from '../status-document.js';
import { durationText, leftText, outlookText, timeText } from './wording.js';

const merchant: StatusMerchant = {
  id: 'shop',
  required: true,
  environment: 'production',
  condition: 'fresh',
  reason: 'current',
  session: { generation: 1, createdAt: 0, renewAt: 800_000, mustRenewAt: 950_000, expiresAt: 1_000_000 },
  renewing: false,
  renewalBlocked: false,
};

describe('the words of the page', () => {
  it.each([
    [59_999, '59 s'],
    [692_000, '11 min 32 s'],
    [90_061_000, '1 d 1 h'],
  ])('say of %d ms left %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
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
    ['creating the next session', { renewing: true }, 800_000],
    ['next attempt in 5 min 0 s', { condition: 'unavailable', retryAt: 1_400_000 }, 1_100_000],
    ['nothing is renewed', { renewalBlocked: true, retryAt: 900_000 }, 0],
    ['next attempt after its end, in 50 min 0 s', { condition: 'failing', retryAt: 3_800_000 }, 800_000],
    ['next attempt is due', { condition: 'failing', retryAt: 700_000, failure }, 800_000],
    ['next attempt is due', { condition: 'dead', failure }, 0],
  ])('say what comes next: %s', (text, facts, now) => {
    expect(outlookText({ ...merchant, ...facts }, now)).toBe(text);
  });

  it('says a time of day with its zone, and the day only where it is not today', () => {
    const now = Date.parse('2026-11-22T18:00:00Z');
    expect(timeText(Date.parse('2026-11-22T06:08:30.999Z'), now)).toBe('06:08:30 UTC');
    expect(timeText(Date.parse('2026-11-21T23:59:59Z'), now)).toBe('2026-11-21 23:59:59 UTC');
  });
});
