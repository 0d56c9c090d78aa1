import { amountOrText, notRequired, sendingDate, switchOrText, wordsOrNone } from './request-members.js';

describe('members of payment requests', () => {
  it.each([
    '2022-11-11 11:58:41.56+00:00',
    '2022-11-11 11:58:41+02:00',
    '2022-11-11T11:58:41.123456Z',
    '2022-11-11 11:58:41 +0200',
  ])('take the date %s', (date) => {
    expect(sendingDate(date, 'date')).toBe(date);
  });

  it.each(['2022-11-11', '11.11.2022 11:58', 'now', 1_668_167_921])('take no such date as %p', (date) => {
    expect(() => sendingDate(date, 'date')).toThrow('date must be a moment');
  });

  it.each([[100], ['100']])('take an amount as %p', (value) => {
    expect(amountOrText(value, 'coinAmount')).toBe(100);
  });

  it.each([['0'], ['1.5'], ['-1'], [''], [null], ['1e3']])('take no such amount as %p', (value) => {
    expect(() => amountOrText(value, 'coinAmount')).toThrow('coinAmount must be a whole number');
  });

  it.each([
    [true, true],
    ['true', true],
    ['TRUE', true],
    ['no', false],
    [false, false],
  ])('take %p as %p', (value, expected) => {
    expect(switchOrText(value, 'notificationEncryption')).toBe(expected);
  });

  it('take null for what may be absent', () => {
    expect(notRequired(wordsOrNone)(null, 'purpose')).toBeUndefined();
    expect(() => notRequired(wordsOrNone)(1, 'purpose')).toThrow();
  });
});
