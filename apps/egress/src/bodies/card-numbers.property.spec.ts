import fc from 'fast-check';
import { candidatesInText } from './card-candidates.js';
import { withCheckDigit } from './card-number-samples.js';
import { findClearCardNumber } from './card-numbers.js';
import { cardSchemes } from './card-schemes.js';

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
