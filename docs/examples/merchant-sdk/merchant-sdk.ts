import { compactDecrypt, CompactEncrypt, importJWK, type JWK } from 'jose';

/** What such an SDK is constructed with, and what its own authorization adds. */
export interface SdkSettings {
  readonly baseUrl: string;
  readonly merchantId: string;
  readonly authenticationKey: JWK;
  readonly deviceId?: string;
  readonly refreshToken?: string;
  readonly serverPublic?: JWK;
  readonly tokenExpirationDateTime?: string;
  readonly tokenExpiration?: string;
  readonly sessionExpiration?: string;
}

export class SdkError extends Error {
  readonly code: string;
  readonly originalError: unknown;

  constructor(message: string, code: string, originalError: unknown) {
    super(message);
    this.code = code;
    this.originalError = originalError;
  }
}

const ALG = 'ECDH-ES+A256KW';
const DEAD = ['b_expired_token', 'b_auth_token_expired', 'b_used_token', 'b_previous_auth_token_expired'];

/** Creates a session for each operation, and once more after a 401. */
class Authorization {
  authorize(_settings: SdkSettings, _isForced = false): Promise<SdkSettings> {
    return Promise.reject(new Error('the SDK creates a session'));
  }
}

class Encryption {
  async encrypt(payload: object, publicKey: JWK): Promise<string> {
    const text = new TextEncoder().encode(JSON.stringify(payload));
    const key = await importJWK(publicKey, ALG);
    return new CompactEncrypt(text).setProtectedHeader({ alg: ALG, enc: 'A256GCM' }).encrypt(key);
  }

  async decrypt<Payload = Record<string, unknown>>(jwe: string, privateKey: object): Promise<Payload> {
    const { plaintext } = await compactDecrypt(jwe, await importJWK(privateKey as JWK, ALG));
    return JSON.parse(new TextDecoder().decode(plaintext)) as Payload;
  }
}

/**
 * Stands in for your SDK, so that docs/guides/merchant-sdk.md can be tried without it; use yours instead.
 * A gateway client in the shape of those that are published: it authorizes by itself, holds the private key, opens
 * answers with it, repeats a refused body under another session, and wraps errors so that the code is the text `500`.
 */
export class MerchantSdk {
  readonly auth = new Authorization();
  readonly encryption = new Encryption();
  readonly #settings: SdkSettings;

  constructor(settings: SdkSettings) {
    if (Object.keys(settings.authenticationKey).length === 0) throw new Error('authenticationKey is required');
    this.#settings = settings;
  }

  async createRefund(refund: object): Promise<Record<string, unknown>> {
    const session = await this.auth.authorize(this.#settings);
    const { serverPublic, tokenExpirationDateTime, tokenExpiration, sessionExpiration } = session;
    const moments = [tokenExpirationDateTime, tokenExpiration, sessionExpiration];
    if (serverPublic === undefined || moments.includes(undefined)) throw new Error('the session is not complete');
    const body = await this.encryption.encrypt({ ...refund, merchantId: session.merchantId }, serverPublic);
    try {
      const { jwe } = await this.#post('/ecom/execute_request/payments/v3/refund', body, session);
      return await this.encryption.decrypt(jwe, session.authenticationKey);
    } catch (error) {
      const message = error instanceof Error ? error.message : 'unknown';
      throw new SdkError(`[500] ERROR | 500: ${message} (Request ID: N/A)`, '500', error);
    }
  }

  async #post(path: string, body: string, session: SdkSettings): Promise<{ readonly jwe: string }> {
    try {
      return await this.#send(path, body, session);
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
      return this.#send(path, body, await this.auth.authorize(session, true));
    }
  }

  async #send(path: string, body: string, session: SdkSettings): Promise<{ readonly jwe: string }> {
    const headers = {
      'content-type': 'text/plain',
      'x-api_version': 'V1',
      'x-device_id': session.deviceId ?? '',
      'x-refresh_token': session.refreshToken ?? '',
    };
    const url = `${session.baseUrl.replace(/\/+$/, '')}${path}`;
    // Shorter than the limit of withSdk; without one, fetch waits for minutes.
    const bounds = { redirect: 'error', signal: AbortSignal.timeout(40_000) } as const;
    const response = await fetch(url, { method: 'POST', headers, body, ...bounds });
    const { status } = response;
    const text = await response.text();
    // The bank's refusals are in clear, even with a 200: the msgCode is all that they say.
    const { jwe } = response.ok ? (JSON.parse(text) as { readonly jwe?: string }) : {};
    if (jwe === undefined) throw new SdkError(text, String(status), { status });
    return { jwe };
  }
}

function isUnauthorized(error: unknown): boolean {
  if (!(error instanceof SdkError)) return false;
  return error.code === '401' || DEAD.some((code) => error.message.includes(`"${code}"`));
}
