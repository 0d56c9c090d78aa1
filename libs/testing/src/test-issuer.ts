import {
  constants,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  sign,
  type SignKeyObjectInput,
} from 'node:crypto';

export type SigningAlgorithm = 'ES256' | 'ES384' | 'RS256' | 'PS256' | 'EdDSA';

interface Signing {
  readonly generate: () => { publicKey: KeyObject; privateKey: KeyObject };
  readonly hash: string | null;
  readonly options: Omit<SignKeyObjectInput, 'key'>;
}

const P1363 = { dsaEncoding: 'ieee-p1363' } as const;
const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
const rsa = (): ReturnType<Signing['generate']> => generateKeyPairSync('rsa', { modulusLength: 2_048 });

const signings: Readonly<Record<SigningAlgorithm, Signing>> = {
  ES256: { generate: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }), hash: 'sha256', options: P1363 },
  ES384: { generate: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }), hash: 'sha384', options: P1363 },
  RS256: { generate: rsa, hash: 'sha256', options: {} },
  PS256: { generate: rsa, hash: 'sha256', options: PSS },
  EdDSA: { generate: () => generateKeyPairSync('ed25519'), hash: null, options: {} },
};

/**
 * An issuer that signs JSON Web Tokens (RFC 7519) with one key: implemented by hand, so that no library checks its own
 * work.
 */
export class TestIssuer {
  static readonly ISSUER = 'https://issuer.example';
  static readonly AUDIENCE = 'session-broker';
  static readonly SUBJECT = 'system:serviceaccount:shop:checkout';

  readonly publicJwk: JsonWebKey;
  readonly #kid: string;
  readonly #algorithm: SigningAlgorithm;
  readonly #key: KeyObject;

  constructor(kid = 'one', algorithm: SigningAlgorithm = 'ES256') {
    const { publicKey, privateKey } = signings[algorithm].generate();
    this.publicJwk = { ...publicKey.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' };
    this.#kid = kid;
    this.#algorithm = algorithm;
    this.#key = privateKey;
  }

  /**
   * @param epochMs when it is issued; it is valid for ten minutes, unless the claims say otherwise. A claim that is
   * undefined is left out.
   */
  token(epochMs: number, claims: object = {}, header: object = {}): string {
    const now = Math.floor(epochMs / 1_000);
    const { ISSUER: iss, AUDIENCE: aud, SUBJECT: sub } = TestIssuer;
    const payload = { iss, aud, sub, iat: now, exp: now + 600, ...claims };
    const signed = [{ alg: this.#algorithm, kid: this.#kid, ...header }, payload].map(base64url).join('.');
    const { hash, options } = signings[this.#algorithm];
    const signature = sign(hash, Buffer.from(signed), { key: this.#key, ...options });
    return `${signed}.${signature.toString('base64url')}`;
  }
}

function base64url(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
