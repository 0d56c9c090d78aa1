import { BrokerError } from '#libs/errors';
import {
  type ClientKey,
  clientKeyInCustody,
  type ClientKeys,
  importServerKey,
  pointOf,
  type PublicJwk,
  unprovenClientKey,
} from '#libs/jwe';
import { TokenError, tokenFaults } from './token-fault.js';
import { TokenProcess } from './token-process.js';
import { type TokenReference, tokenReferenceOf } from './token-reference.js';

/** Callers may ask again after this long: after a failure, the next question opens the session with the token anew. */
const RETRY_AFTER_MS = 1_000;

/** Shared by all keys: a module is initialised once per process, and each session with a device is costly. */
const shared = new TokenProcess();

/** Custody of a key in a PKCS#11 token: the token makes the agreement, and the private key stays in it. */
export class TokenClientKeys implements ClientKeys {
  readonly #reference: TokenReference;
  readonly #process: Pick<TokenProcess, 'derive'>;

  constructor(reference: TokenReference, process: Pick<TokenProcess, 'derive'> = shared) {
    this.#reference = reference;
    this.#process = process;
  }

  async deriveSharedSecret(other: PublicJwk): Promise<Uint8Array> {
    try {
      return await this.#process.derive(this.#reference, pointOf(other));
    } catch (error) {
      throw error instanceof TokenError ? unavailable(error) : error;
    }
  }
}

/** From a key file: the public half, and where the private half is. */
export interface TokenKeyFile {
  readonly publicJwk: PublicJwk;
  readonly reference: TokenReference;
}

/** Whether a key file names a token in place of a private key. */
export function namesToken(jwk: unknown): jwk is { readonly pkcs11: unknown } {
  return typeof jwk === 'object' && jwk !== null && 'pkcs11' in jwk;
}

/**
 * Reads a key file that names a token: a public JWK with a PKCS#11 URI as its member `pkcs11`.
 * @throws BrokerError `jwk_invalid`, naming the member and the rule, never a value
 */
export async function readTokenKeyFile(jwk: { readonly pkcs11: unknown }): Promise<TokenKeyFile> {
  const { jwk: publicJwk } = await importServerKey(jwk);
  const reference = tokenReferenceOf(jwk.pkcs11);
  if ('problem' in reference) throw new BrokerError('jwk_invalid', { publicDetail: `"pkcs11" ${reference.problem}` });
  return { publicJwk, reference };
}

/** What may be done with tokens while a configuration is read. */
export interface TokenUse {
  /** The modules that may be run: who writes a key file does not choose them, for a module is code. */
  readonly modules: readonly string[];
  /** False: the key file alone is read, and no module is loaded. */
  readonly asks: boolean;
}

/**
 * A client key whose private half is in a token. The token is asked right away for the secret of records at rest, and
 * for proof that it has the key of the file.
 * @throws BrokerError `jwk_invalid`, or `client_key_unavailable` with the fault of the token
 */
export async function tokenKey(jwk: { readonly pkcs11: unknown }, { modules, asks }: TokenUse): Promise<ClientKey> {
  const { publicJwk, reference } = await readTokenKeyFile(jwk);
  if (!modules.includes(reference.module)) {
    const publicDetail = '"pkcs11" gives a module-path that is not among pkcs11.modules of the configuration';
    throw new BrokerError('jwk_invalid', { publicDetail });
  }
  const custody = new TokenClientKeys(reference);
  return asks ? clientKeyInCustody(publicJwk, custody) : unprovenClientKey(publicJwk, custody);
}

function unavailable(error: TokenError): BrokerError {
  const mark = error.mark === undefined ? '' : ` [${error.mark}]`;
  const detail = `${error.fault}${mark}: ${tokenFaults[error.fault]}`;
  return new BrokerError('client_key_unavailable', { detail, retryAfterMs: RETRY_AFTER_MS });
}
