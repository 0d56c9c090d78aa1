import { instantFromEpochMs } from '#libs/clock';
import fc from 'fast-check';
import { parseRetryAfterMs } from './retry-after.js';

const NOW = instantFromEpochMs(Date.UTC(2026, 0, 1));

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    ['9999999999', 3_600_000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['Fri, 02 Jan 2026 00:00:00 GMT', 3_600_000],
  ])('%s means %d ms', (text, expected) => {
    expect(parseRetryAfterMs(text, NOW)).toBe(expected);
  });

  it.each([[''], ['-1'], ['1.5'], ['1e3'], ['soon'], ['99999999999'], ['2026-01-01T00:00:30Z']])(
    'is ignored when it says %p',
    (text) => {
      expect(parseRetryAfterMs(text, NOW)).toBeUndefined();
    },
  );

  it('never asks for less than nothing or more than an hour, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.nat().map(String),
          fc.date().map((date) => date.toUTCString()),
        ),
        (text) => {
          const delayMs = parseRetryAfterMs(text, NOW) ?? 0;
          expect(delayMs).toBeGreaterThanOrEqual(0);
          expect(delayMs).toBeLessThanOrEqual(3_600_000);
        },
      ),
    );
  });
});
