import fc from 'fast-check';
import { instantFromEpochMs } from '#libs/clock';
import { expiryFormats, expiryMembers } from './expiry-format.js';

describe('the end of a session', () => {
  it('keeps tenths of a millisecond in the documented form', () => {
    const members = expiryMembers(instantFromEpochMs(Date.parse('2023-03-18T12:34:52.099Z') + 0.8), {
      format: 'documented',
      utcOffsetMinutes: 0,
    });
    expect(members.tokenExpirationDateTime).toBe('2023-03-18 12:34:52.0998 +0000');
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
