import { BrokerError } from '#libs/errors';
import { type ClientKey, importClientKey, importPaymentKey, pemKindOf, type RecipientKey } from '#libs/jwe';
import { isCertificate, pemCertificates } from './certificates.js';
import { namesToken, tokenKey, type TokenUse } from '#libs/pkcs11';
import { type ContentRule, type FileName, fileName, type Fit, type TextRule, uuid } from './value-rule.js';

export function fileOf<Content>(rule: ContentRule<Content>): TextRule<FileName<Content>> {
  return { expects: fileName.expects, content: rule, read: (name) => fileName.read(name) as FileName<Content> };
}

const MAX_TEXT_BYTES = 1_024;
const MAX_KEY_BYTES = 65_536;
const MAX_KEY_SET_BYTES = 262_144;
const MAX_CERTIFICATES_BYTES = 1_048_576;

function keyFile<Key>(
  kind: ContentRule<Key>['kind'],
  importKey: (jwk: unknown, tokens: TokenUse) => Promise<Key>,
): ContentRule<Key> {
  const read = (text: string, file: string, tokens: TokenUse): Promise<Fit<Key>> =>
    imported({ text, file }, (jwk) => importKey(jwk, tokens));
  return { kind, maxBytes: MAX_KEY_BYTES, read };
}

/** A private key, or a public one with the token that holds its private half. */
export const clientKey = keyFile<ClientKey>('secret', (jwk, tokens) =>
  namesToken(jwk) ? tokenKey(jwk, tokens) : importClientKey(jwk),
);
/** The egress decrypts with its own keys, which are not registered at the bank. */
export const aliasKey = keyFile<ClientKey>('secret', importClientKey);
export const recipientKey = keyFile<RecipientKey>('public', importPaymentKey);

/** A file that holds one secret and nothing else. */
export function secretOf({ read, expects }: TextRule): ContentRule<string> {
  const readFile = (text: string): Fit<string> => {
    const content = read(text.trim());
    return content === undefined ? { problem: `must hold ${expects}, and nothing else` } : { content };
  };
  return { kind: 'secret', maxBytes: MAX_TEXT_BYTES, read: readFile };
}
export const serviceCode = secretOf(uuid);

/** Without the trailing line feed that editors add. */
export const password: ContentRule<string> = {
  kind: 'secret',
  maxBytes: MAX_TEXT_BYTES,
  read: (text) => {
    const content = text.replace(/\r?\n$/, '');
    return content === '' ? { problem: 'names an empty file' } : { content };
  },
};

/**
 * Only the absolute path is needed, because the token is replaced by something other than an operator. If the file
 * exists, it must hold one.
 */
export const bearerToken = (without: string): ContentRule<string> => ({
  kind: 'secret',
  maxBytes: MAX_KEY_BYTES,
  without,
  read: (text, file) => {
    const fault = tokenFault(text.trim());
    return fault === undefined ? { content: file } : { problem: `names a file that ${fault}` };
  },
});

export const privateKey: ContentRule<string> = {
  kind: 'secret',
  maxBytes: MAX_KEY_BYTES,
  read: (pem) =>
    /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)
      ? { content: pem }
      : { problem: 'names a file without a PEM private key' },
};

export const certificates: ContentRule<string> = {
  kind: 'certificates',
  maxBytes: MAX_CERTIFICATES_BYTES,
  read: (pem) => {
    if (/PRIVATE KEY-----/.test(pem))
      return { problem: 'names a file with a private key in it; give the certificates alone' };
    const blocks = pemCertificates(pem);
    if (blocks.length === 0) return { problem: 'names a file without a PEM certificate' };
    return blocks.every(isCertificate) ? { content: pem } : { problem: 'names a file with a damaged certificate' };
  },
};

/** RFC 7517 section 5. Checking the individual keys is left to whoever uses them. */
export interface JsonWebKeySet {
  readonly keys: readonly object[];
}

export const keySet: ContentRule<JsonWebKeySet> = {
  kind: 'public',
  maxBytes: MAX_KEY_SET_BYTES,
  read: (text) => {
    const json = parsedJson(text);
    if ('problem' in json || isKeySet(json.content)) return json as Fit<JsonWebKeySet>;
    return { problem: 'names a file that is not a JSON Web Key Set: {"keys": [...]} with at least one public key' };
  },
};

function isKeySet(value: unknown): value is JsonWebKeySet {
  if (typeof value !== 'object' || value === null || !('keys' in value) || !Array.isArray(value.keys)) return false;
  // A private or secret key in here would be one that signs tokens, in a file that is not kept as a secret.
  const isPublic = (key: unknown): boolean => typeof key === 'object' && key !== null && !('d' in key || 'k' in key);
  return value.keys.length > 0 && value.keys.every(isPublic);
}

async function imported<Key>(
  { text, file }: { readonly text: string; readonly file: string },
  importKey: (jwk: unknown) => Promise<Key>,
): Promise<Fit<Key>> {
  const remedy = pemRemedy(text, file);
  if (remedy !== undefined) return { problem: `names a file that ${remedy}` };
  const json = parsedJson(text);
  if ('problem' in json) return json;
  try {
    return { content: await importKey(json.content) };
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    if (error.code === 'client_key_unavailable')
      return { problem: `names a key in a token that cannot be used: ${error.detail ?? 'it does not say why'}` };
    if (error.code !== 'jwk_invalid') throw error;
    return { problem: `names a key that is not acceptable: ${error.detail ?? 'it is not a JWK'}` };
  }
}

function parsedJson(text: string): Fit<unknown> {
  try {
    return { content: JSON.parse(text) };
  } catch (error) {
    // The parser's message quotes the text, and the text is a key.
    if (error instanceof SyntaxError) return { problem: 'names a file that is not JSON; expected a JWK' };
    throw error;
  }
}

/**
 * What to do about a file that holds a PEM key where a JWK is required, with the command that converts it.
 * @param file its name, usable from any folder
 * @returns undefined for any other content
 */
export function pemRemedy(text: string, file: string): string | undefined {
  const kind = pemKindOf(text);
  // A name of these characters alone contains nothing that is special to a shell.
  const quoted = (name: string): string => (/^[\w./@%+:,-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`);
  const jwk = quoted(`${file.replace(/\.(?:pem|key|p8)$/i, '')}.jwk.json`);
  return kind === undefined
    ? undefined
    : `is a ${kind} key in PEM, but a JWK is required; convert it: session-broker keys convert ${quoted(file)} --out ${jwk}`;
}

/**
 * Why a text is not a bearer token that can be sent in a request (RFC 6750 section 2.1), to be read after its file's
 * name; undefined if it is one. Never quotes it.
 */
export function tokenFault(text: string): string | undefined {
  if (/^[\w.~+/-]+=*$/.test(text)) return undefined;
  return `holds no token: ${text === '' ? 'it is empty' : 'it has characters that no token has'}`;
}
