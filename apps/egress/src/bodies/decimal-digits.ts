const DECIMAL_DIGIT = /\p{Nd}/u;
const DIGITS_OF_OTHER_SCRIPTS = /(?![0-9])\p{Nd}/gu;

/** Every decimal digit of Unicode as the ASCII one; everything else stays as it is. */
export function withAsciiDigits(text: string): string {
  return text.replace(DIGITS_OF_OTHER_SCRIPTS, valueOf);
}

/**
 * Unicode keeps the digits of a script in order and side by side, from zero to nine, and where several such rows touch
 * each of them is whole: the value is how many digits stand before it, modulo ten.
 */
function valueOf(digit: string): string {
  const codePoint = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (DECIMAL_DIGIT.test(String.fromCodePoint(codePoint - before - 1))) before += 1;
  return String(before % 10);
}
