/**
 * Unpadded base64url (RFC 7515, section 2): one spelling per value, so other spellings of the same octets are refused.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  const octets = Buffer.from(text, 'base64url');
  return octets.toString('base64url') === text ? octets : undefined;
}

export function encodeBase64url(octets: Uint8Array | string): string {
  return Buffer.from(octets).toString('base64url');
}
