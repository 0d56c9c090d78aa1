import { demandNotExpired, readCard, readCardData } from './card.js';

describe('a card', () => {
  it.each(['4111111111111111', '5555555555554444', '4222222222222', '6304000000000000000'])(
    'is taken: %s',
    (number) => {
      expect(readCard(number)).toMatchObject({ conduct: 'pays' });
    },
  );

  it('is shown with its first and last four digits only', () => {
    expect(readCard('4111111111111111').mask).toBe('4111********1111');
  });

  it.each([
    ['a wrong check digit', '4111111111111112'],
    ['twelve digits', '411111111111'],
    ['twenty digits', '41111111111111111111'],
    ['blanks', '4111 1111 1111 1111'],
    ['nothing', ''],
  ])('is refused with %s', (_name, number) => {
    expect(() => readCard(number)).toThrow('b_invalid_pan_format');
  });

  it('has expiry and security code written as in the published example', () => {
    expect(readCardData('2503111')).toEqual({ year: 25, month: 3 });
    expect(readCardData('29121234')).toEqual({ year: 29, month: 12 });
  });

  it.each(['2513111', '2500111', '250311', '25031', '03/25 111', ''])('has no such data as "%s"', (written) => {
    expect(() => readCardData(written)).toThrow('b_validation_card_expiration_date_and_security_code');
  });

  it('is good until the end of its month', () => {
    const march = { year: 26, month: 3 };
    expect(() => demandNotExpired(march, new Date('2026-03-31T23:59:59Z'))).not.toThrow();
    expect(() => demandNotExpired(march, new Date('2026-04-01T00:00:00Z'))).toThrow();
    expect(() => demandNotExpired({ year: 25, month: 12 }, new Date('2026-01-01T00:00:00Z'))).toThrow();
  });
});
