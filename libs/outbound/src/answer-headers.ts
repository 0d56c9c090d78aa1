/**
 * The headers of an answer, by their names in lower case. One that was sent more than once is a list; what is read of it
 * is read by the functions below.
 */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The value of a header that was sent exactly once. */
export function headerOf(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** The items of a header that is a list (RFC 9110 section 5.6.1), however often it was sent; in lower case. */
export function listOf(headers: AnswerHeaders, name: string): readonly string[] {
  const value = headers[name];
  if (value === undefined) return [];
  const items = String(value).toLowerCase().split(',');
  return items.map((item) => item.trim()).filter((item) => item !== '');
}

/** What to say of an answer whose body `isEncoded`: such a body may be huge once it is read, so it is not read. */
export const ENCODED = 'the answer is compressed, although nothing but identity was accepted';

export function isEncoded(headers: AnswerHeaders): boolean {
  return listOf(headers, 'content-encoding').some((coding) => coding !== 'identity');
}
