import { BrokerError } from '#libs/errors';
import { isBase64urlOf } from './base64url.js';
import { COORDINATE_BYTES, CURVE, KEY_MANAGEMENT, KEY_TYPE, KEY_USE } from './profile.js';

/** A JWK as it arrives: nothing is known about its members yet. */
export type RawJwk = Readonly<Record<string, unknown>>;

/** One rule: the fault in words that name the member and never its value, or undefined when the JWK keeps the rule. */
type JwkRule = (jwk: RawJwk) => string | undefined;

const DERIVING: readonly unknown[] = ['deriveKey', 'deriveBits'];

const member =
  (name: string, expected: string): JwkRule =>
  (jwk) =>
    jwk[name] === expected ? undefined : `"${name}" must be "${expected}"`;

const optionalMember =
  (name: string, expected: string): JwkRule =>
  (jwk) =>
    jwk[name] === undefined || jwk[name] === expected ? undefined : `"${name}", when given, must be "${expected}"`;

const octets =
  (name: string): JwkRule =>
  (jwk) =>
    isBase64urlOf(jwk[name], COORDINATE_BYTES)
      ? undefined
      : `"${name}" must be unpadded base64url of exactly ${COORDINATE_BYTES} octets`;

const onlyDerives: JwkRule = ({ key_ops: operations }) =>
  operations === undefined || (Array.isArray(operations) && operations.every((one) => DERIVING.includes(one)))
    ? undefined
    : '"key_ops", when given, may hold "deriveKey" and "deriveBits" only';

const canDerive: JwkRule = ({ key_ops: operations }) =>
  Array.isArray(operations) && operations.length === 0
    ? '"key_ops", when given for a private key, must hold "deriveKey" or "deriveBits"'
    : undefined;

const isPublic: JwkRule = (jwk) =>
  'd' in jwk ? '"d" is present: this is a private key where a public one is due; treat it as exposed' : undefined;

const isPrivate: JwkRule = (jwk) =>
  'd' in jwk ? undefined : '"d" is missing: this is a public key where the private one is due';

const common: readonly JwkRule[] = [
  member('kty', KEY_TYPE),
  member('crv', CURVE),
  optionalMember('use', KEY_USE),
  optionalMember('alg', KEY_MANAGEMENT),
  onlyDerives,
  octets('x'),
  octets('y'),
];

// A private key in the wrong place outranks every other fault, so it is checked first.
export const publicKeyRules: readonly JwkRule[] = [isPublic, ...common];
export const privateKeyRules: readonly JwkRule[] = [...common, isPrivate, canDerive, octets('d')];

export function refuseJwk(fault: string): BrokerError {
  return new BrokerError('jwk_invalid', { publicDetail: fault });
}

/**
 * Checks a value of unknown origin against the rules.
 * @throws BrokerError `jwk_invalid`, naming the first rule that is broken
 */
export function checkJwk(value: unknown, rules: readonly JwkRule[]): RawJwk {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refuseJwk('a JSON Web Key is a JSON object');
  }
  const jwk = value as RawJwk;
  for (const rule of rules) {
    const fault = rule(jwk);
    if (fault !== undefined) throw refuseJwk(fault);
  }
  return jwk;
}
