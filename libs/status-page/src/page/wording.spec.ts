import type { StatusMerchant } from '../status-document.js';
import { agoText, countText, durationText, lastText, leftText, outlookText, skewText, timeText } from './wording.js';

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
    [-5, '0 s'],
    [59_999, '59 s'],
    [692_000, '11 min 32 s'],
    [90_061_000, '1 d 1 h'],
  ])('say of %d ms left %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  it.each([
    [1_999, 'just now'],
    [119_999, '119 s ago'],
    [120_000, '2 min ago'],
    [172_800_000, '2 d ago'],
  ])('say of %d ms gone %s', (ms, text) => {
    expect(agoText(ms)).toBe(text);
  });

  it('say how far clocks are apart, and how many there are', () => {
    expect([skewText(289), skewText(-12_500)]).toEqual(['gateway 0.3 s ahead', 'gateway 12.5 s behind']);
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
    ['next attempt is due', {}, 800_000],
    ['creating the next session', { renewing: true }, 800_000],
    ['next attempt in 5 min 0 s', { condition: 'unavailable', retryAt: 1_400_000 }, 1_100_000],
    ['nothing is renewed', { renewalBlocked: true, retryAt: 900_000 }, 0],
    ['next attempt in 30 s', { condition: 'failing', retryAt: 830_000 }, 800_000],
    ['next attempt after its end, in 50 min 0 s', { condition: 'failing', retryAt: 3_800_000 }, 800_000],
    ['next attempt is due', { condition: 'failing', retryAt: 700_000, failure }, 800_000],
    ['renews in 13 min 20 s', { condition: 'dead' }, 0],
    ['next attempt is due', { condition: 'dead', failure }, 0],
  ])('say what comes next: %s', (text, facts, now) => {
    expect(outlookText({ ...merchant, ...facts }, now)).toBe(text);
  });

  it('say which session it is, when it was made, and how the last attempt since failed', () => {
    const { session: _session, ...none } = merchant;
    const code = 'b_server_is_overloaded';
    expect(lastText(merchant, 120_000)).toBe('generation 1, renewed 2 min ago');
    expect(lastText({ ...merchant, failure }, 120_000)).toBe(
      'generation 1, renewed 2 min ago; failed 2 min ago (transient)',
    );
    expect(lastText({ ...none, failure: { ...failure, code } }, 10_000)).toBe(`failed 10 s ago (${code})`);
    expect(lastText(none, 0)).toBe('');
  });

  it('says a time of day with its zone, and the day only where it is not today', () => {
    const now = Date.parse('2026-11-22T18:00:00Z');
    expect(timeText(Date.parse('2026-11-22T06:08:30.999Z'), now)).toBe('06:08:30 UTC');
    expect(timeText(Date.parse('2026-11-21T23:59:59Z'), now)).toBe('2026-11-21 23:59:59 UTC');
  });
});
