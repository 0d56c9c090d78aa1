/** A last character that leaves its unused bits zero, by the number of characters in the last group of four. */
const CANONICAL_END = { 0: /^/, 2: /[AQgw]$/, 3: /[AEIMQUYcgkosw048]$/ } as const;

/**
 * Whether `text` is base64url as JOSE requires it (RFC 7515 section 2): no padding, no white space, none of `+/`, and
 * unused bits zero (RFC 4648 section 3.5), so that no two texts mean the same octets.
 */
export function isBase64url(text: string): boolean {
  const rest = text.length % 4;
  return rest !== 1 && /^[A-Za-z0-9_-]*$/.test(text) && CANONICAL_END[rest as 0 | 2 | 3].test(text);
}

/** Whether `value` is strict base64url of exactly `bytes` octets. */
export function isBase64urlOf(value: unknown, bytes: number): value is string {
  return typeof value === 'string' && value.length === Math.ceil((bytes * 4) / 3) && isBase64url(value);
}
