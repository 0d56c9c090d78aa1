import { BrokerError } from '#libs/errors';
import { type ClientKey, importClientKey, importPaymentKey, pemKindOf, type RecipientKey } from '#libs/jwe';
import { namesToken, openTokenKey } from '#libs/pkcs11';
import { isCertificate, pemCertificates } from './certificates.js';
import { type ContentRule, fileName, type Fit, type TextRule, uuid } from './value-rule.js';

declare const content: unique symbol;

/** The name of a file with such content. */
export type FileName<Content> = string & { readonly [content]: Content };

/** RFC 7517 section 5. Checking the individual keys is left to whoever uses them. */
export interface JsonWebKeySet {
  readonly keys: readonly object[];
}

export function fileOf<Content>(content: ContentRule<Content>): TextRule<FileName<Content>> {
  return { ...fileName, content, convert: (name) => name as FileName<Content> };
}

const MAX_KEY_BYTES = 65_536;
const MAX_TEXT_BYTES = 1_024;
const MAX_KEY_SET_BYTES = 262_144;
const MAX_CERTIFICATES_BYTES = 1_048_576;

/** A private key, or a public one with the token that holds its private half. */
export const clientKey: ContentRule<ClientKey> = {
  kind: 'secret',
  maxBytes: MAX_KEY_BYTES,
  read: (text, file) => imported({ text, file }, (jwk) => (namesToken(jwk) ? openTokenKey(jwk) : importClientKey(jwk))),
};

/** The egress decrypts with its own keys, which are not registered at the bank. */
export const aliasKey: ContentRule<ClientKey> = {
  kind: 'secret',
  maxBytes: MAX_KEY_BYTES,
  read: (text, file) => imported({ text, file }, importClientKey),
};

export const recipientKey: ContentRule<RecipientKey> = {
  kind: 'public',
  maxBytes: MAX_KEY_BYTES,
  read: (text, file) => imported({ text, file }, importPaymentKey),
};

export const serviceCode = secretOf(uuid);

/** A file that holds one secret and nothing else. */
export function secretOf({ accepts, expects }: TextRule): ContentRule<string> {
  return {
    kind: 'secret',
    maxBytes: MAX_TEXT_BYTES,
    read: (text) =>
      accepts(text.trim()) ? { content: text.trim() } : { problem: `must hold ${expects}, and nothing else` },
  };
}

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
 * @param without what does not work until the file exists, because something other than an operator may write it. If it
 * exists, it must hold a token
 */
export const bearerToken = (without: string): ContentRule<string> => ({
  kind: 'secret',
  maxBytes: MAX_KEY_BYTES,
  without,
  judge: (text) => {
    const token = text.trim();
    const fault = tokenFault(token);
    if (fault === undefined) return undefined;
    return token === '' ? 'names an empty file' : `names a file that ${fault}`;
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
    if (/PRIVATE KEY-----/.test(pem)) {
      return { problem: 'names a file with a private key in it; give the certificates alone' };
    }
    const blocks = pemCertificates(pem);
    if (blocks.length === 0) return { problem: 'names a file without a PEM certificate' };
    return blocks.every(isCertificate) ? { content: pem } : { problem: 'names a file with a damaged certificate' };
  },
};

export const keySet: ContentRule<JsonWebKeySet> = {
  kind: 'public',
  maxBytes: MAX_KEY_SET_BYTES,
  read: (text) => {
    const json = parsedJson(text);
    if ('problem' in json) return json;
    return isKeySet(json.content)
      ? { content: json.content }
      : { problem: 'names a file that is not a JSON Web Key Set: {"keys": [...]} with at least one public key' };
  },
};

interface KeyFile {
  readonly text: string;
  readonly file: string;
}

async function imported<Key>({ text, file }: KeyFile, importKey: (jwk: unknown) => Promise<Key>): Promise<Fit<Key>> {
  const remedy = pemRemedy(text, file);
  if (remedy !== undefined) return { problem: `names a file that ${remedy}` };
  const json = parsedJson(text);
  if ('problem' in json) return json;
  try {
    return { content: await importKey(json.content) };
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    if (error.code === 'client_key_unavailable') {
      return { problem: `names a key in a token that cannot be used: ${error.detail ?? 'it does not say why'}` };
    }
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

function isKeySet(value: unknown): value is JsonWebKeySet {
  if (typeof value !== 'object' || value === null || !('keys' in value) || !Array.isArray(value.keys)) return false;
  // A private or secret key in here would be one that signs tokens, in a file that is not kept as a secret.
  const isPublic = (key: unknown): boolean => typeof key === 'object' && key !== null && !('d' in key || 'k' in key);
  return value.keys.length > 0 && value.keys.every(isPublic);
}

/** Contains nothing that is special to a shell. */
const PLAIN = /^[\w./@%+:,-]+$/;

const quoted = (name: string): string => (PLAIN.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`);

/**
 * What to do about a file that holds a PEM key where a JWK is required, with the command that converts it.
 * @param file its name, usable from any folder
 * @returns undefined for any other content
 */
export function pemRemedy(text: string, file: string): string | undefined {
  const kind = pemKindOf(text);
  if (kind === undefined) return undefined;
  const jwk = `${file.replace(/\.(?:pem|key|p8)$/i, '')}.jwk.json`;
  return `is a ${kind} key in PEM, but a JWK is required; convert it: session-broker keys convert ${quoted(file)} --out ${quoted(jwk)}`;
}

/** RFC 6750 section 2.1. A token of any other form cannot be sent in a request. */
const TOKEN = /^[\w.~+/-]+=*$/;

/** Why a text is not a bearer token, to be read after its file's name; undefined if it is one. Never quotes it. */
export function tokenFault(text: string): string | undefined {
  if (TOKEN.test(text)) return undefined;
  return `holds no token: ${whatInstead(text)}`;
}

function whatInstead(text: string): string {
  if (text === '') return 'it is empty';
  if (text.includes('-----BEGIN ')) return 'it is PEM, such as a certificate or a key';
  if (/[\r\n]/.test(text)) return 'it has several lines';
  return 'it has characters that no token has';
}
