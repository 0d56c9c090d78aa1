import fc from 'fast-check';
import { instantFromEpochMs } from '#libs/clock';
import { expiryFormats, expiryMembers, type ExpiryFormat } from './expiry-format.js';

const at = (text: string) => instantFromEpochMs(Date.parse(text));
const written = (format: ExpiryFormat, text: string, utcOffsetMinutes = 0): readonly string[] =>
  Object.values(expiryMembers(at(text), { format, utcOffsetMinutes }));

describe('the end of a session', () => {
  it('has, as documented, four digits of a decimal fraction and an offset after a space', () => {
    expect(written('documented', '2023-03-18T12:34:52.099Z')).toEqual(['2023-03-18 12:34:52.0990 +0000']);
  });

  it('keeps tenths of a millisecond in the documented form', () => {
    const members = expiryMembers(instantFromEpochMs(Date.parse('2023-03-18T12:34:52.099Z') + 0.8), {
      format: 'documented',
      utcOffsetMinutes: 0,
    });
    expect(members.tokenExpirationDateTime).toBe('2023-03-18 12:34:52.0998 +0000');
  });

  it('has, as observed, milliseconds and an offset with a colon and without a space', () => {
    expect(written('observed', '2025-02-27T12:12:34.430Z', 120)).toEqual(['2025-02-27 14:12:34.430+02:00']);
  });

  it('has, padded, a zero before the milliseconds, beside the same moment without it', () => {
    expect(written('padded', '2025-02-27T12:12:34.430Z', 120)).toEqual([
      '2025-02-27 14:12:34.0430 +0200',
      '2025-02-27 14:12:34.430+02:00',
    ]);
  });

  it.each([
    [-90, '2026-01-01 00:30:00.000-01:30'],
    [840, '2026-01-01 16:00:00.000+14:00'],
    [0, '2026-01-01 02:00:00.000+00:00'],
  ])('is written %i minutes from UTC, across midnight too', (utcOffsetMinutes, expected) => {
    expect(written('observed', '2026-01-01T02:00:00.000Z', utcOffsetMinutes)).toEqual([expected]);
  });

  it('is the same moment in every format, to the second', () => {
    const moments = fc.integer({ min: Date.parse('1999-01-01'), max: Date.parse('2099-01-01') });
    const property = fc.property(
      moments,
      fc.integer({ min: -720, max: 840 }),
      fc.constantFrom(...expiryFormats),
      (epochMs, utcOffsetMinutes, format) => {
        const texts = Object.values(expiryMembers(instantFromEpochMs(epochMs), { format, utcOffsetMinutes }));
        for (const text of texts) {
          const [, date, time, zone = ''] = /^(\S+) ([\d:]+)\.\d+ ?(Z|[+-]\d\d:?\d\d)$/.exec(text) ?? [];
          const offset = zone.replace(/(\d\d)(\d\d)$/, '$1:$2');
          expect(Date.parse(`${date}T${time}${offset}`)).toBe(Math.floor(epochMs / 1_000) * 1_000);
        }
      },
    );
    fc.assert(property);
  });
});
