import { MAX_CARD_DIGITS, MIN_CARD_DIGITS } from './card-schemes.js';
import { withAsciiDigits } from './decimal-digits.js';

/**
 * Digits with single spaces, hyphens or invisible characters between them, as long as possible. Any Unicode hyphen or
 * space counts: numbers are pasted from documents.
 */
const RUN = /\d+(?:[\p{Zs}\p{Pd}\p{Cf}\u2212]\d+)*/gu;
const GROUP = /\d+/g;

/** A UUID anywhere, or a digest or identifier of 24 or more hexadecimal digits that include a letter. */
const IDENTIFIER =
  /(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])|(?<![0-9a-z])(?=\d*[a-f])[0-9a-f]{24,}(?![0-9a-z])/gi;

/** With the lengths that ECDH-ES+A256KW and A256GCM give to the wrapped key, vector and tag. */
const COMPACT_JWE = /^eyJ[\w-]+\.[\w-]{54}\.[\w-]{16}\.[\w-]*\.[\w-]{22}$/;

/**
 * Digits in a text that may be a card number, each 13 to 19 long: one or several consecutive groups of digits, always
 * whole. At most seven candidates begin with the same group, so their number is bounded, whatever the text.
 */
export function* candidatesInText(text: string): Generator<string> {
  if (COMPACT_JWE.test(text)) return;
  const plain = withAsciiDigits(text).replace(IDENTIFIER, '_');
  for (const [run] of plain.matchAll(RUN)) {
    const groups = run.match(GROUP) ?? [];
    for (let first = 0; first < groups.length; first += 1) yield* beginningWith(groups, first);
  }
}

function* beginningWith(groups: readonly string[], first: number): Generator<string> {
  let digits = '';
  for (let last = first; last < groups.length; last += 1) {
    digits += groups[last];
    if (digits.length > MAX_CARD_DIGITS) return;
    if (digits.length >= MIN_CARD_DIGITS) yield digits;
  }
}

/**
 * The integer part of a number as written in JSON, if it has 13 to 19 digits: `4.111111111111111e15` as well as
 * `4111111111111111`. It is never converted to a number, which would lose the last digits.
 */
export function* candidatesInNumber(source: string): Generator<string> {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? [];
  const written = whole + fraction;
  const digits = written.replace(/^0+/, '');
  const length = whole.length + Number(exponent) - (written.length - digits.length);
  if (length >= MIN_CARD_DIGITS && length <= MAX_CARD_DIGITS) yield digits.slice(0, length).padEnd(length, '0');
}
