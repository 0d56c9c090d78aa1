import { type Instant, instantFromEpochMs } from '#libs/clock';
import { parseMoment, readExpiry } from './expiry.js';

const at = (text: string): Instant => instantFromEpochMs(Date.parse(text));
const NOW = at('2026-01-01T00:00:00Z');
const LATER = '2026-01-01 01:00:00 +0000';
const LATEST = '2026-01-01 02:00:00 +0000';

describe('a moment as the gateway writes it', () => {
  it.each([
    ['the documented example', '2023-03-18 12:34:52.0998 +0000', '2023-03-18T12:34:52.099Z'],
    ['the observed other format', '2025-02-27 14:12:34.430+02:00', '2025-02-27T12:12:34.430Z'],
    ['padded milliseconds, read as a decimal fraction', '2025-02-27 14:12:34.0430 +0200', '2025-02-27T12:12:34.043Z'],
    ['no fraction', '2026-01-01 00:00:00 +0000', '2026-01-01T00:00:00.000Z'],
    ['a point without digits', '2026-01-01 00:00:00. +0000', '2026-01-01T00:00:00.000Z'],
    ['one digit', '2026-01-01 00:00:00.5Z', '2026-01-01T00:00:00.500Z'],
    ['Z after a space', '2026-01-01 00:00:00 Z', '2026-01-01T00:00:00.000Z'],
    ['T between, six digits, and west of Greenwich', '2026-01-01T00:00:00.123456-03:30', '2026-01-01T03:30:00.123Z'],
    ['a leap day', '2024-02-29 23:59:59 +0530', '2024-02-29T18:29:59.000Z'],
    ['the widest offset', '2026-01-01 00:00:00 +18:00', '2025-12-31T06:00:00.000Z'],
  ])('reads %s', (_what, text, expected) => {
    expect(parseMoment(text)).toBe(Date.parse(expected));
  });

  it.each([
    ['30 February', '2026-02-30 00:00:00Z'],
    ['hour 24', '2026-01-01 24:00:00Z'],
    ['a leap second', '2016-12-31 23:59:60Z'],
    ['a year that Date would take for 1926', '0026-01-01 00:00:00Z'],
    ['ten digits of fraction', '2026-01-01 00:00:00.1234567890Z'],
    ['an offset of 99 minutes', '2026-01-01 00:00:00 +0099'],
    ['an offset beyond 18 hours', '2026-01-01 00:00:00 +18:01'],
    ['no offset', '2026-01-01 00:00:00'],
    ['something after it', '2026-01-01 00:00:00Z\n'],
  ])('refuses %s', (_what, text) => {
    expect(parseMoment(text)).toBeUndefined();
  });
});

describe('the expiry of a session', () => {
  it('is the earliest of the moments given', () => {
    const fields = { tokenExpirationDateTime: LATEST, tokenExpiration: LATER, sessionExpiration: LATEST };
    expect(readExpiry(fields, NOW)).toEqual({ given: 'moment', expiresAt: parseMoment(LATER) });
    expect(readExpiry({ tokenExpiration: LATEST, sessionExpiration: LATER }, NOW)).toEqual({
      given: 'moment',
      expiresAt: parseMoment(LATER),
    });
  });

  it('is not given when no field is there, or only nulls', () => {
    expect(readExpiry({}, NOW)).toEqual({ given: 'nothing' });
    expect(readExpiry({ tokenExpiration: null, tokenExpirationDateTime: null }, NOW)).toEqual({ given: 'nothing' });
  });

  it.each([['soon'], [''], [1_767_229_200_000], [0], [-1], [Number.NaN], [{}], [[]], [true]])(
    'is unreadable when a token expiry is %p, even beside one that parses',
    (value) => {
      const fields = { tokenExpirationDateTime: LATER, tokenExpiration: value };
      expect(readExpiry(fields, NOW)).toEqual({ given: 'unreadable', field: 'tokenExpiration' });
    },
  );

  it.each([['soon'], [1_767_229_200], [{}], ['2026-02-30 00:00:00Z'], ['2025-12-31 23:59:59Z']])(
    'does not fail and does not change because sessionExpiration is %p',
    (value) => {
      expect(readExpiry({ sessionExpiration: value }, NOW)).toEqual({ given: 'nothing' });
      expect(readExpiry({ tokenExpiration: LATER, sessionExpiration: value }, NOW)).toEqual({
        given: 'moment',
        expiresAt: parseMoment(LATER),
      });
    },
  );
});
