const DECIMAL_DIGIT = /\p{Nd}/u;
const DIGITS_OF_OTHER_SCRIPTS = /(?![0-9])\p{Nd}/gu;

/** Converts every Unicode decimal digit to ASCII; everything else stays as it is. */
export function withAsciiDigits(text: string): string {
  return text.replace(DIGITS_OF_OTHER_SCRIPTS, valueOf);
}

/**
 * Unicode places the digits of a script contiguously and in order, from zero to nine, and where several such runs are
 * adjacent, each is complete: a digit's value is the number of digits directly before it, modulo ten.
 */
function valueOf(digit: string): string {
  const codePoint = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (DECIMAL_DIGIT.test(String.fromCodePoint(codePoint - before - 1))) before += 1;
  return String(before % 10);
}
