/**
 * Words that make a key secret wherever they appear in it, so that `x-device_id`, `newAuthToken` and `Set-Cookie` are
 * caught by the same entry. Written in folded form: lower case, letters and digits only.
 */
const SECRET_WORDS = [
  'token',
  'deviceid',
  'servicecode',
  'jwe',
  'jwt',
  'plaintext',
  'authorization',
  'cookie',
  'password',
  'passwd',
  'passphrase',
  'secret',
  'credential',
  'privatekey',
  'clientkey',
  'apikey',
  'cardnumber',
  'cvv',
  'cvc',
] as const;

/** Too short to be searched for inside other words: private members of a JWK (RFC 7518, section 6) and card data. */
const SECRET_EXACTLY = new Set(['d', 'k', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'pan', 'pwd']);

/** A key that is *about* a secret: these endings say that the value is a name, a size or a moment. */
const HARMLESS_ENDING =
  /(?:thumbprint|thumbprints|file|files|expiration|expirationdatetime|expiry|expiresat|count|length|bytes|size)$/;

const MAX_KEY_LENGTH = 256;

function fold(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** True if nothing under this key may be printed, at any depth and in any spelling. */
export function isSecretName(key: string): boolean {
  if (key.length > MAX_KEY_LENGTH) return true;
  const folded = fold(key);
  if (SECRET_EXACTLY.has(folded)) return true;
  return SECRET_WORDS.some((word) => folded.includes(word)) && !HARMLESS_ENDING.test(folded);
}

/** Header fields whose value runs to the end of the line, spaces and semicolons included. */
export function isWholeLineSecret(key: string): boolean {
  return /authorization|cookie/.test(fold(key));
}
