import fc from 'fast-check';
import { BrokerError } from '#libs/errors';
import { candidatesInText } from './card-candidates.js';
import { withCheckDigit } from './card-number-samples.js';
import { findClearCardNumber } from './card-numbers.js';
import { cardSchemes } from './card-schemes.js';

const VISA = '4111111111111111';
const JWE = [
  'eyJhbGciOiJFQ0RILUVTK0EyNTZLVyIsImVuYyI6IkEyNTZHQ00ifQ',
  `${'4'.repeat(20)}_${VISA}-${'A'.repeat(16)}`,
  '4111111111111111',
  `a-${VISA}-b`,
  'AAAAAAAAAAAAAAAAAAAAAA',
].join('.');

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const pathIn = (value: unknown, ...notCards: readonly string[]): string | undefined =>
  findClearCardNumber(textOf(value), { encrypted: [], notCards });
const pathBeside = (value: unknown, ...encrypted: readonly string[]): string | undefined =>
  findClearCardNumber(textOf(value), { encrypted, notCards: [] });
const isFound = (text: string): boolean => pathIn({ comment: text }) === 'comment';

describe('a card number in clear', () => {
  it.each([
    ['Visa', VISA],
    ['Visa of 13 digits', '4222222222222'],
    ['Visa of 19 digits', withCheckDigit('411111111111111111')],
    ['Mastercard', '5555555555554444'],
    ['Mastercard of the newer range', '2223003122003222'],
    ['American Express', '378282246310005'],
    ['Diners Club', '30569309025904'],
    ['Discover', '6011111111111117'],
    ['JCB', '3530111333300000'],
    ['Maestro of 13 digits', withCheckDigit('501800000000')],
    ['Maestro of 19 digits', '6799990100000000019'],
    ['UnionPay', '6212345678901232'],
    ['UnionPay of 19 digits', '6212345678900000003'],
    ['RuPay', withCheckDigit('820012345678901')],
    ['Mir', '2201382000000013'],
    ['Uzcard', withCheckDigit('860012345678901')],
    ['Troy', '9792030394440796'],
    ['Prostir', withCheckDigit('980412345678901')],
    ['Humo', withCheckDigit('986012345678901')],
  ])('is found: %s', (_scheme, digits) => {
    expect(pathIn({ comment: digits })).toBe('comment');
    expect(pathIn(`{"amount": ${digits}}`)).toBe('amount');
  });

  it.each([
    ['in groups of four with spaces', '4111 1111 1111 1111'],
    ['in groups of four with hyphens', '4111-1111-1111-1111'],
    ['in groups of any size, with either', '41-1111 11111-11111'],
    ['with spaces that do not break a line', '4111\u00a01111\u202f1111\u20091111'],
    ['with hyphens of a document', '4111\u20111111\u20131111\u22121111'],
    ['with what cannot be seen between its digits', '4111\u200b11111111\u00ad1111'],
    ['inside a longer text', 'Paid with 4111111111111111, thank you'],
    ['between letters', 'PAN4111111111111111EXP'],
    ['after another number', 'order 12 4111 1111 1111 1111'],
    ['before another number', '4111 1111 1111 1111 12-27 123'],
    ['between numbers that are too long', `${'1'.repeat(20)} ${VISA} ${'1'.repeat(20)}`],
    ['in full-width digits', '４１１１１１１１１１１１１１１１'],
    ['in Arabic-Indic digits', '٤١١١١١١١١١١١١١١١'],
    ['in mathematical digits of two styles', '𝟒𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟣𝟣𝟣𝟣𝟣𝟣𝟣𝟣'],
    ['as JSON within a text', JSON.stringify({ pan: VISA })],
    ['in what only begins like a JWE', `eyJhbGciOiJub25lIn0.${VISA}`],
    ['in a word that only begins like a digest', `${VISA}abcdefabcdefz`],
    ['beside a UUID', `3f2504e0-4f89-41d3-9a0c-0305e82c3301 ${VISA}`],
  ])('is found %s', (_case, text) => {
    expect(isFound(text)).toBe(true);
  });

  it.each([
    ['4111111111111111'],
    ['-4111111111111111'],
    ['4111111111111111.0'],
    ['4111111111111111.5'],
    ['4.111111111111111e15'],
    ['4.111111111111111E+15'],
    ['41111111111111110e-1'],
    ['0.0004111111111111111e19'],
    ['6799990100000000019'],
  ])('is found as a number: %s', (number) => {
    expect(pathIn(`{"amount":${number}}`)).toBe('amount');
  });

  it.each([
    ['with a wrong check digit', '4111111111111112'],
    ['with a digit more in front', '14111111111111111'],
    ['with a digit more behind', '41111111111111111'],
    ['as a part of twenty digits', '41111111111111110000'],
    ['of a length that its scheme does not have', withCheckDigit('41111111111111')],
    ['that no scheme issues', withCheckDigit('100000000000000')],
    ['of zeros', '0000000000000000'],
    ['that begins like a date', withCheckDigit('202611220815001')],
    ['that counts microseconds', withCheckDigit('179536212341234')],
    ['with two spaces between its groups', '4111  1111  1111  1111'],
    ['with dots between its groups', '4111.1111.1111.1111'],
    ['that is an account number (IBAN)', 'UA213223130000026007233566001'],
    ['that is a telephone number', '+380 50 123 45 67'],
    ['that is a moment', '2022-11-11 11:58:41.56+00:00'],
    ['that is a masked card', '411111******1111'],
    ['that is a UUID of digits alone', '41111111-1111-4111-8111-111111111111'],
    ['that is a UUID in an address', 'https://shop.example/paid/55555555-5555-4444-8222-222222222222/'],
    ['that is a digest', `4111111111111111${'0123456789abcdef'.repeat(3)}`],
    ['that is a JWE', JWE],
  ])('is not seen in a text %s', (_case, text) => {
    expect(isFound(text)).toBe(false);
  });

  it.each([
    ['411111111111111.1'],
    ['0.4111111111111111'],
    ['4111111111111111e1'],
    ['4111111111111111e-4'],
    ['0e15'],
    ['1e999999999'],
  ])('is not seen in a number of another size: %s', (number) => {
    expect(pathIn(`{"amount":${number}}`)).toBeUndefined();
  });

  const ofSixteen = (prefix: string): string => withCheckDigit(prefix.padEnd(15, '0'));
  const edges: readonly (readonly [within: string, beyond: string])[] = [
    ['2221', '2220'],
    ['2720', '2721'],
    ['2200', '2199'],
    ['2205', '2206'],
    ['3000', '2999'],
    ['3059', '3060'],
    ['3095', '3094'],
    ['3095', '3096'],
    ['3528', '3527'],
    ['3589', '3590'],
    ['3600', '3599'],
    ['3699', '3700'],
    ['3800', '3799'],
    ['6999', '7000'],
    ['8100', '8099'],
    ['8299', '8300'],
    ['8600', '8599'],
    ['8600', '8601'],
    ['9792', '9791'],
    ['9804', '9803'],
    ['9804', '9805'],
    ['9860', '9861'],
  ];

  it.each(edges)('is one of sixteen digits that begin with %s, and none with %s', (within, beyond) => {
    expect(isFound(ofSixteen(within))).toBe(true);
    expect(isFound(ofSixteen(beyond))).toBe(false);
  });

  it.each([
    ['American Express', '3400', 15],
    ['American Express', '3799', 15],
    ['Diners Club', '3600', 14],
    ['Maestro', '5600', 13],
    ['Maestro', '6199', 14],
    ['Maestro', '6300', 15],
    ['UnionPay', '8199', 17],
    ['Mir', '2204', 19],
    ['Prostir', '9804', 18],
  ])('is one of %s that begins with %s and has %i digits', (_scheme, prefix, length) => {
    expect(isFound(withCheckDigit(prefix.padEnd(length - 1, '7')))).toBe(true);
  });

  it.each([
    ['3400', 14],
    ['3400', 16],
    ['5100', 17],
    ['4000', 14],
    ['4000', 18],
    ['6200', 15],
    ['8200', 17],
    ['6300', 12],
    ['6300', 20],
  ])('is none that begins with %s and has %i digits', (prefix, length) => {
    expect(isFound(withCheckDigit(prefix.padEnd(length - 1, '7')))).toBe(false);
  });

  it('is found in every body of a payment where it does not belong', () => {
    const purchase = {
      merchantRequestId: '0d3f9a52-7a52-4c6c-9c0b-2d1f3e4a5b6c',
      encryptedCardNumber: JWE,
      coinAmount: 12500,
      customerData: { senderCustomerId: 'customer-1', senderFirstName: 'Lesia' },
      date: '2022-11-11 11:58:41.56+00:00',
    };
    expect(pathBeside(purchase, 'encryptedCardNumber')).toBeUndefined();
    expect(pathBeside({ ...purchase, comment: `card ${VISA}` }, 'encryptedCardNumber')).toBe('comment');
  });
});

describe('members that are listed as encrypted', () => {
  it.each([
    ['a card number', VISA],
    ['a card number as a number', Number(VISA)],
    ['expiry and CVV', '2503111'],
    ['a list with one that is not encrypted', [JWE, VISA]],
    ['a text with four dots that is no JWE', 'v. i. s. a. 4'],
  ])('are refused with %s', (_what, content) => {
    expect(pathBeside({ encryptedCardNumber: content }, 'encryptedCardNumber')).toMatch(/^encryptedCardNumber/);
  });

  it.each([
    ['a JWE', JWE],
    ['a JWE by another algorithm', `eyJhbGciOiJSU0EtT0FFUCJ9.${'a'.repeat(342)}.${'b'.repeat(22)}.c.${'d'.repeat(22)}`],
    ['JWEs in a list', [JWE, JWE]],
    ['nothing', ''],
    ['no value', null],
  ])('are passed with %s', (_what, content) => {
    expect(pathBeside({ encryptedCardNumber: content }, 'encryptedCardNumber')).toBeUndefined();
  });

  it('are no concern of members that have an object of their own', () => {
    expect(pathBeside({ card: { kind: 'debit', number: VISA } }, 'card')).toBe('card.number');
  });
});

describe('members that are listed as no cards', () => {
  it('are not looked at, at any depth, nor the elements of a list in them', () => {
    expect(pathIn({ a: [{ pan: VISA }], pan: [VISA, [Number(VISA)]] }, 'pan')).toBeUndefined();
  });

  it('are looked at where they hold an object: its members have names of their own', () => {
    expect(pathIn({ pan: { number: VISA } }, 'pan')).toBe('pan.number');
    expect(pathIn({ pan: [{ number: VISA }] }, 'pan')).toBe('pan[0].number');
  });

  it('are those of exactly that name, however it is escaped', () => {
    expect(pathIn(`{"p\\u0061n":"${VISA}"}`, 'pan')).toBeUndefined();
    expect(pathIn({ Pan: VISA }, 'pan')).toBe('Pan');
  });

  it('hide nothing that stands after them', () => {
    expect(pathIn({ pan: [VISA], comment: VISA }, 'pan')).toBe('comment');
    expect(pathIn([{ pan: VISA }, VISA], 'pan')).toBe('[1]');
  });
});

describe('where a card number is found', () => {
  it.each([
    ['$', VISA],
    ['[0]', [VISA]],
    ['a[1].b[0][2]', { a: [1, { b: [[1, 2, VISA]] }] }],
    ['*', { 'a name': VISA }],
    ['*', { '': VISA }],
    ['address2', { address2: VISA }],
    ['платник', { платник: VISA }],
    ['a.*', { a: { [VISA]: 1 } }],
    ['a.*', { a: { '4111 1111 1111 1111': 1 } }],
    ['*.a', { c41111: { a: VISA } }],
    ['*.a', { ['x'.repeat(65)]: { a: VISA } }],
  ])('is said as %s', (path, value) => {
    expect(findClearCardNumber(JSON.stringify(value), { encrypted: [], notCards: [] })).toBe(path);
  });

  it('is said in sixteen parts at most', () => {
    const json = `${'{"a":'.repeat(20)}"${VISA}"${'}'.repeat(20)}`;
    expect(pathIn(json)).toBe(`${Array(16).fill('a').join('.')}…`);
  });

  it('is the first place of several', () => {
    expect(pathIn({ a: 1, b: { c: VISA }, d: VISA })).toBe('b.c');
  });
});

describe('a body that would hide a card number', () => {
  it('does not by a second member of the same name', () => {
    expect(pathIn(`{"comment":"${VISA}","comment":"none"}`)).toBe('comment');
    expect(pathIn(`{"a":{"comment":${VISA}},"a":null}`)).toBe('a.comment');
  });

  it('does not by escapes', () => {
    expect(pathIn(`{"comment":"\\u0034111 1111 1111 111\\u0031"}`)).toBe('comment');
    expect(pathIn(`{"comment":"\\"\\\\4111111111111111\\n"}`)).toBe('comment');
  });

  it('does not by a name from which every object inherits', () => {
    expect(pathIn(`{"__proto__":{"a":"${VISA}"}}`)).toBe('__proto__.a');
  });

  it('does not by depth', () => {
    const depth = 30_000;
    expect(pathIn(`${'['.repeat(depth)}"${VISA}"${']'.repeat(depth)}`)).toMatch(/^(\[0\]){16}…$/);
  });

  it.each([
    ['{"comment":"x"'],
    ["{'comment':1}"],
    ['{"a":1}{"b":2}'],
    ['// no\n{}'],
    [''],
    ['NaN'],
    ['['.repeat(65_536)],
  ])('does not by being no JSON: %p', (text) => {
    expect(() => pathIn(`${text}`)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it('is refused without a word of what it holds', () => {
    const caught = (): unknown => {
      try {
        return pathIn(`{"comment":"${VISA}"`);
      } catch (error) {
        return error;
      }
    };
    const error = caught() as BrokerError;
    expect(error).toBeInstanceOf(BrokerError);
    expect([error.message, error.cause]).toEqual(['The request is not valid: the body is not JSON', undefined]);
  });
});

/** A number of any scheme, range and length in the table, with the right check digit. */
const aCardNumber: fc.Arbitrary<string> = fc
  .constantFrom(...cardSchemes)
  .chain(({ ranges, lengths }) => fc.tuple(fc.constantFrom(...ranges), fc.constantFrom(...lengths)))
  .chain(([[first, last], length]) =>
    fc.tuple(
      fc.integer({ min: first, max: last }),
      fc.array(fc.integer({ min: 0, max: 9 }), { minLength: length - 5, maxLength: length - 5 }),
    ),
  )
  .map(([prefix, rest]) => withCheckDigit(`${prefix}${rest.join('')}`));

const NO_MEMBERS = { encrypted: [], notCards: [] };
const NAME_AT_MOST = 8;
const aName = fc.string({ maxLength: NAME_AT_MOST });
const aSeparator = fc.constantFrom('', ' ', '-', '\u00a0', '\u2011');

/** What comes before and after must not lengthen the number or make it part of an identifier. */
const aNeighbour = fc.string().map((text) => text.replace(/^[\p{Nd}a-f]+|[\p{Nd}a-f]+$/giu, ''));
const aZero = fc.constantFrom(0x30, 0xff10, 0x0660, 0x0966, 0x1d7ce, 0x1d7f6);

/** A card number in JSON, as a text or a number. */
const writtenCard: fc.Arbitrary<string> = aCardNumber.chain((digits) =>
  fc.oneof(
    fc.constant(digits),
    fc.constant(`${digits.slice(0, 1)}.${digits.slice(1)}e${digits.length - 1}`),
    fc
      .record({ before: aNeighbour, after: aNeighbour, zero: aZero, separators: fc.infiniteStream(aSeparator) })
      .map(({ before, after, zero, separators }) => {
        const written = [...digits].map((digit) => String.fromCodePoint(zero + Number(digit)));
        const grouped = written.map((digit, index) => (index === 0 ? '' : String(separators.next().value)) + digit);
        return JSON.stringify(before + grouped.join('') + after);
      }),
  ),
);

const aDocument = fc.json({ maxDepth: 3 });

/** What a JSON text may be embedded in: a list with others, or an object, also under a duplicate name. */
type Wrapping = (inner: string) => string;
const aWrapping: fc.Arbitrary<Wrapping> = fc.oneof(
  fc.tuple(aDocument, aDocument).map(
    ([before, after]) =>
      (inner: string) =>
        `[${before},${inner} ,${after}]`,
  ),
  fc.tuple(aName, aDocument).map(([name, other]) => {
    const written = JSON.stringify(name);
    return (inner: string) => `{${written}:${inner},${written} : ${other}}`;
  }),
);
const nested = (inner: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(inner, fc.array(aWrapping, { maxLength: 6 })).map(([text, wrappings]) => {
    return wrappings.reduce((document, wrap) => wrap(document), text);
  });

describe('in any document', () => {
  it('a card number is found, wherever it was put, and its digits are not repeated', () => {
    fc.assert(
      fc.property(nested(writtenCard), (document) => {
        const found = findClearCardNumber(document, NO_MEMBERS);
        expect(found).toBeDefined();
        expect(found).not.toMatch(/\p{Nd}{5}/u);
      }),
      { numRuns: 500 },
    );
  });

  it('a card number is found as a name', () => {
    const named = fc.tuple(aCardNumber, aDocument).map(([digits, value]) => `{"${digits}":${value}}`);
    fc.assert(
      fc.property(nested(named), (document) => {
        expect(findClearCardNumber(document, NO_MEMBERS)).toBeDefined();
      }),
    );
  });

  it('none is found where there are fewer than thirteen digits', () => {
    const scarce = fc.string({ unit: 'binary', maxLength: 24 }).map((text) => text.replace(/\p{Nd}/gu, 'x'));
    const { tree } = fc.letrec<{ tree: unknown; leaf: unknown }>((tie) => ({
      leaf: fc.oneof(scarce, fc.integer({ min: -99_999_999, max: 99_999_999 }), fc.boolean(), fc.constant(null)),
      tree: fc.oneof(
        { maxDepth: 4 },
        tie('leaf'),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(scarce, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(findClearCardNumber(JSON.stringify(value), NO_MEMBERS)).toBeUndefined();
      }),
    );
  });

  it('none is found in UUIDs', () => {
    const identifiers = fc.array(
      fc.oneof(
        fc.uuid(),
        fc.uuid().map((uuid) => `https://shop.example/${uuid}?a=1`),
      ),
    );
    fc.assert(
      fc.property(identifiers, (values) => {
        expect(findClearCardNumber(JSON.stringify(values), NO_MEMBERS)).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('how much there is to look at', () => {
  const MAX_TEXT = 65_536;
  const patterns = [
    '4',
    '4 ',
    '41-',
    '4111 ',
    '４ ',
    '4a',
    '4-4_',
    '411111111111 ',
    '4\u200b',
    '0123456789abcdef',
    'a1-',
  ];

  it.each(patterns)('grows no faster than the text: %j', (pattern) => {
    const text = pattern.repeat(MAX_TEXT / pattern.length);
    const groups = text.match(/\p{Nd}+/gu)?.length ?? 0;
    const candidates = [...candidatesInText(text)];
    // Each group starts at most seven candidates, with thirteen to nineteen digits.
    expect(candidates.length).toBeLessThanOrEqual(7 * groups);
    expect(Math.max(0, ...new Set(candidates.map(({ length }) => length)))).toBeLessThanOrEqual(19);
  });
});
