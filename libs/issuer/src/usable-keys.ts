import { createPublicKey } from 'node:crypto';

const OF_RSA = ['PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'];
const OF_EDWARDS = ['EdDSA', 'Ed25519'];
const OF_CURVE: Readonly<Record<string, readonly string[]>> = {
  'P-256': ['ES256'],
  'P-384': ['ES384'],
  'P-521': ['ES512'],
};

/** Asymmetric ones only: with a shared secret, everyone who checks tokens could make them (RFC 8725 section 3.1). */
export const SIGNATURE_ALGORITHMS: readonly string[] = [...Object.values(OF_CURVE).flat(), ...OF_EDWARDS, ...OF_RSA];

/** RFC 7518 section 3.3: shorter keys must not be used. */
const MIN_RSA_BITS = 2_048;

type Key = Readonly<Record<string, unknown>>;

/** The keys of a JSON Web Key Set; undefined if the document is not one (RFC 7517 section 5). */
export function keysOf(document: object): readonly Key[] | undefined {
  const { keys }: { readonly keys?: unknown } = document;
  return Array.isArray(keys) && keys.every(isObject) ? keys : undefined;
}

/** The keys that an accepted token may be signed with: readable, for signatures, and with an accepted algorithm. */
export function usableKeys(keys: readonly Key[]): readonly Key[] {
  return keys.filter((key) => isForSignatures(key) && isReadable(key));
}

function isForSignatures(key: Key): boolean {
  const { use, alg, key_ops: operations } = key;
  if (use !== undefined && use !== 'sig') return false;
  if (Array.isArray(operations) && !operations.includes('verify')) return false;
  const algorithms = algorithmsOf(key);
  return typeof alg === 'string' ? algorithms.includes(alg) : algorithms.length > 0;
}

function algorithmsOf({ kty, crv }: Key): readonly string[] {
  if (kty === 'RSA') return OF_RSA;
  if (kty === 'OKP') return crv === 'Ed25519' ? OF_EDWARDS : [];
  return kty === 'EC' && typeof crv === 'string' ? (OF_CURVE[crv] ?? []) : [];
}

function isReadable(key: Key): boolean {
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: key, format: 'jwk' });
    return (asymmetricKeyDetails?.modulusLength ?? MIN_RSA_BITS) >= MIN_RSA_BITS;
  } catch {
    return false;
  }
}

const isObject = (value: unknown): value is Key => typeof value === 'object' && value !== null;
