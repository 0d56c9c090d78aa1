import { gzipSync } from 'node:zlib';
import { BrokerError } from '#libs/errors';
import { CARD_MEMBERS, inspect } from './card-data.js';

const PAN = '4111111111111111';
const sealed = (header: unknown): string =>
  [Buffer.from(JSON.stringify(header)).toString('base64url'), 'a_-', 'b', 'c', 'd'].join('.');
const JWE = sealed({ alg: 'RSA-OAEP-256', enc: 'A256GCM' });

/** Of a body: what is refused, and of which member; or whether it seems to hold a card number. */
const resultOf = (body: unknown, query = '', encrypted: readonly string[] = []): unknown => {
  const octets = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  try {
    const record = { hasCard: false };
    inspect(octets, { target: { query }, route: { encrypted }, record });
    return record.hasCard ? 'seems to hold a card' : undefined;
  } catch (error) {
    if (error instanceof BrokerError) return `${error.code} ${error.publicDetail?.split(':', 1)[0]}`;
    throw error;
  }
};

describe('a member for card data', () => {
  it.each(CARD_MEMBERS)('may be a JWE, with whatever algorithm: %s', (member) => {
    expect(resultOf({ [member]: JWE }, `?${member}=${JWE}`)).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['a card number', PAN],
    ['a number', Number(PAN)],
    ['an expiry', '2503'],
    ['five parts that only look like a JWE', '4111.1111.1111.1111.1'],
    ['a card number with four dots', `${PAN}....`],
    ['a header that is no JSON', ['eyJhbGciOi', 'a', 'b', 'c', 'd'].join('.')],
    ['a header without enc', sealed({ alg: 'dir' })],
    ['a header without alg', sealed({ enc: 'A256GCM' })],
    ['a part without content', JWE.replace('.b.', '..')],
    ['a part too many', `${JWE}.e`],
    ['a JWE and something else', `${JWE} ${PAN}`],
    ['nothing', ''],
    ['null', null],
    ['an object', { number: JWE }],
    ['a list', [JWE]],
  ])('is refused with %s', (_what, value) => {
    expect(resultOf({ encryptedExpDate: value })).toBe('card_number_in_clear encryptedExpDate');
  });

  it.each<[string, string]>([
    ['at any depth', `{"a":[{"b":{"encryptedCardData":"${PAN}"}}]}`],
    ['before another of the same name', `{"encryptedCardData":"${PAN}","encryptedCardData":"${JWE}"}`],
    ['behind another of the same name', `{"encryptedCardData":"${JWE}","encryptedCardData":"${PAN}"}`],
    ['with an escaped name', `{"encrypted\\u0043ardData" : "${PAN}"}`],
    ['behind a text with quotes', `{"a":"\\"\\\\","encryptedCardData":"${PAN}"}`],
  ])('is found %s', (_where, json) => {
    expect(resultOf(json)).toBe('card_number_in_clear encryptedCardData');
  });

  it('is found in the query, and under the further names of the configuration', () => {
    expect(resultOf({}, `?a=1&encryptedCardNumber=${PAN}`)).toBe('card_number_in_clear encryptedCardNumber');
    expect(resultOf({ cvv: '111' }, '', ['cvv'])).toBe('card_number_in_clear cvv');
  });

  it('is a member: its name elsewhere means nothing', () => {
    expect(resultOf({ purpose: 'encryptedCardData', list: ['encryptedCardData', '2503'] })).toBeUndefined();
  });
});

describe('a body', () => {
  it.each<[string, unknown]>([
    ['nothing', ''],
    ['a form', 'amount=5'],
    ['two documents', '{}{}'],
    ['a byte order mark', '\ufeff{}'],
    ['octets that are no UTF-8', Buffer.from('{"a":"\xe9"}', 'latin1')],
    ['compressed JSON', gzipSync('{}')],
  ])('is refused with %s', (_what, body) => {
    expect(resultOf(body)).toBe('invalid_request the body is not JSON in UTF-8');
  });

  it.each<[string, unknown]>([
    ['in a text', { cardNumber: PAN }],
    ['as a number', { amount: Number(PAN) }],
    ['as a name', { [PAN]: true }],
    ['in a longer text, with spaces', { comment: 'paid with 4111 1111 1111 1111, thanks' }],
    ['of 15 digits', { a: '378282246310005' }],
  ])('seems to hold a card number %s', (_where, body) => {
    expect(resultOf(body)).toBe('seems to hold a card');
  });

  it.each<[string, unknown]>([
    ['a wrong check digit', '4111111111111112'],
    ['13 digits, which count milliseconds', '1767225600006'],
    ['20 digits', '41111111111111110000'],
    ['a UUID', '41111111-1111-4111-8111-111111111111'],
    ['hexadecimal digits', 'a4111111111111111b'],
    ['a JWE', JWE],
  ])('does not seem to hold one with %s', (_what, text) => {
    expect(resultOf({ text })).toBeUndefined();
  });
});
