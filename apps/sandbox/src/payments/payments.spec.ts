import { FakeClock } from '#libs/testing';
import { demandCardData, readCard } from './card.js';
import { newOperation, type PaymentOperation } from './operation.js';
import { PaymentBook } from './payment-book.js';
import { amountOrText, sendingDate, switchOrText } from './request-members.js';

describe('the attempts of an operation', () => {
  const clock = new FakeClock();
  const times = (book: PaymentBook, count: number, subject = 'one'): void => {
    for (let made = 0; made < count; made += 1) book.attempt(subject);
  };

  it('are seventy a day, which begins with the first of them', async () => {
    const book = new PaymentBook(clock, 10);
    times(book, 70);
    expect(() => book.attempt('one')).toThrow('b_txn_not_allowed');
    await clock.advance(86_399_999);
    expect(() => book.attempt('one')).toThrow('b_txn_not_allowed');
    await clock.advance(1);
    expect(() => times(book, 70)).not.toThrow();
  });
});

const operation = (merchantRequestId: string): PaymentOperation =>
  newOperation(
    { type: 'REFUND', merchant: 'shop', merchantId: 'terminal-1', merchantRequestId, coinAmount: 1, status: 'PENDING' },
    new FakeClock().now(),
  );

describe('the book of payments', () => {
  const aBook = (): PaymentBook => new PaymentBook(new FakeClock(), 2);

  it('forgets the oldest operation of too many', () => {
    const book = aBook();
    const added = ['one', 'two', 'three'].map(operation);
    for (const one of added) book.addOperation(one);
    expect(added.map(({ operationId }) => book.operation(operationId) !== undefined)).toEqual([false, true, true]);
  });

  it('is empty after a reset', () => {
    const book = aBook();
    const added = operation('one');
    book.addOperation(added);
    book.reset();
    expect(book.operation(added.operationId)).toBeUndefined();
    expect(book.isUsed(added)).toBe(false);
  });
});

describe('what a payment request says', () => {
  const number = (value: unknown): unknown => readCard(value as string).conduct;
  const cardData = (value: unknown): unknown => demandCardData(value as string);
  const date = (value: unknown): unknown => sendingDate(value, 'date') === value;
  const amount = (value: unknown): unknown => amountOrText(value, 'coinAmount');
  const isOn = (value: unknown): unknown => switchOrText(value, 'notificationEncryption');

  it.each<[string, (value: unknown) => unknown, readonly unknown[], unknown]>([
    ['a card', number, ['4111111111111111', '5555555555554444', '4222222222222', '6304000000000000000'], 'pays'],
    ['expiry and security code', cardData, ['2503111', '29121234'], undefined],
    [
      'a date',
      date,
      ['2022-11-11 11:58:41.56+00:00', '2022-11-11T11:58:41.123456Z', '2022-11-11 11:58:41 +0200'],
      true,
    ],
    ['an amount', amount, [100, '100'], 100],
    ['a switch that is on', isOn, [true, 'true', 'TRUE'], true],
    ['a switch that is off', isOn, [false, 'no'], false],
  ])('is taken as %s', (...[, read, values, expected]) => {
    expect(values.map(read)).toEqual(values.map(() => expected));
  });

  const PANS = ['4111111111111112', '411111111111', '41111111111111111111', '4111 1111 1111 1111', ''];
  it.each<[string, (value: unknown) => unknown, readonly unknown[], string]>([
    ['card', number, PANS, 'b_invalid_pan_format'],
    [
      'expiry and security code',
      cardData,
      ['2513111', '2500111', '250311', '25031', '03/25 111', ''],
      'b_validation_card_expiration_date_and_security_code',
    ],
    ['date', date, ['2022-11-11', '11.11.2022 11:58', 'now', 1_668_167_921], 'date must be a moment'],
    ['amount', amount, ['0', '1.5', '-1', '', null, '1e3'], 'coinAmount must be a whole number'],
  ])('is not taken as %s', (...[, read, values, says]) => {
    for (const value of values) expect(() => read(value)).toThrow(says);
  });
});
