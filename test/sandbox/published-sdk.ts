import { randomUUID } from 'node:crypto';
import { CompactEncrypt, compactDecrypt, importJWK, type JWK } from 'jose';

/*
 * A client with the shape of a published merchant SDK. It authorizes by itself for each operation, requires every member
 * of a session that the published table names, all three moments at which it ends among them, and reads `{"jwe"}`. It
 * shares no code with the sandbox, neither for keys nor for messages.
 */

type Members = Readonly<Record<string, unknown>>;

interface Authorization {
  readonly refreshToken: string;
  readonly deviceId: string;
  readonly serverPublic: JWK;
}

export interface SdkSettings {
  readonly apiUrl: string;
  readonly serviceCode: string;
  readonly privateKey: JWK;
  /** The bank's key for card data. */
  readonly paymentKey: JWK;
}

/** As the SDK throws it: the whole answer is in `message`, and the HTTP status one level down. */
export class SdkError extends Error {
  readonly code = '500';
  readonly originalError: { readonly status: number };

  constructor(status: number, body: string) {
    super(body);
    this.originalError = { status };
  }
}

const ALGORITHMS = { alg: 'ECDH-ES+A256KW', enc: 'A256GCM' };

export class PublishedSdk {
  readonly #settings: SdkSettings;

  constructor(settings: SdkSettings) {
    this.#settings = settings;
  }

  async createHppOrder(request: Members): Promise<Members> {
    return this.#postJson('/hpp/v1/create-order', request);
  }

  async getHppOrderOperations(hppOrderId: unknown): Promise<Members> {
    return this.#postJson('/hpp/v1/operations', { hppOrderId });
  }

  async createPurchase({ cardNumber, ...request }: Members & { readonly cardNumber: string }): Promise<Members> {
    const encryptedCardNumber = await seal(cardNumber, this.#settings.paymentKey);
    return this.#postSealed('/payments/v3/create/purchase', { ...request, encryptedCardNumber });
  }

  async executePurchase({ cardData, ...request }: Members & { readonly cardData: string }): Promise<Members> {
    const encryptedCardData = await seal(cardData, this.#settings.paymentKey);
    return this.#postSealed('/payments/v1/execute/purchase', { ...request, encryptedCardData });
  }

  async refund(request: Members): Promise<Members> {
    return this.#postSealed('/payments/v3/refund', request);
  }

  async #authorize(): Promise<Authorization> {
    const { apiUrl, serviceCode } = this.#settings;
    const response = await fetch(`${apiUrl}/api-gateway/authorize_virtual_device`, {
      method: 'POST',
      headers: { 'x-api_version': 'v1', 'content-type': 'application/json' },
      body: JSON.stringify({ serviceCode }),
    });
    const session = JSON.parse(await this.#open(await jweOf(response))) as Members;
    demandPublished(session);
    return session as unknown as Authorization;
  }

  async #postJson(path: string, request: Members): Promise<Members> {
    const { headers } = await this.#presented('application/json');
    const response = await this.#post(path, headers, JSON.stringify(request));
    return JSON.parse(await answerOf(response)) as Members;
  }

  async #postSealed(path: string, request: Members): Promise<Members> {
    const { headers, serverPublic } = await this.#presented('text/plain');
    const response = await this.#post(path, headers, await seal(JSON.stringify(request), serverPublic));
    return JSON.parse(await this.#open(await jweOf(response))) as Members;
  }

  async #presented(type: string): Promise<{ headers: Record<string, string>; serverPublic: JWK }> {
    const { deviceId, refreshToken, serverPublic } = await this.#authorize();
    const headers = {
      'content-type': type,
      'x-api_version': 'V1',
      'x-device_id': deviceId,
      'x-refresh_token': refreshToken,
      'x-request_id': randomUUID(),
    };
    return { headers, serverPublic };
  }

  #post(path: string, headers: Record<string, string>, body: string): Promise<Response> {
    return fetch(`${this.#settings.apiUrl}/ecom/execute_request${path}`, { method: 'POST', headers, body });
  }

  async #open(compact: string): Promise<string> {
    const key = await importJWK(this.#settings.privateKey, ALGORITHMS.alg);
    const { plaintext } = await compactDecrypt(compact, key);
    return new TextDecoder('utf-8', { fatal: true }).decode(plaintext);
  }
}

async function seal(plaintext: string, recipient: JWK): Promise<string> {
  const key = await importJWK(recipient, ALGORITHMS.alg);
  return new CompactEncrypt(new TextEncoder().encode(plaintext)).setProtectedHeader(ALGORITHMS).encrypt(key);
}

/** The gateway's errors come in the clear, even with status 200. */
async function answerOf(response: Response): Promise<string> {
  const body = await response.text();
  if (!response.ok || 'msgCode' in (JSON.parse(body) as object)) throw new SdkError(response.status, body);
  return body;
}

async function jweOf(response: Response): Promise<string> {
  const { jwe } = JSON.parse(await answerOf(response)) as { readonly jwe?: unknown };
  if (typeof jwe !== 'string') throw new TypeError('the answer has no jwe');
  return jwe;
}

function demandPublished(session: Members): void {
  const key = (session['serverPublic'] ?? {}) as Members;
  const wrong = [
    ...['authToken', 'refreshToken', 'deviceId', 'tokenExpirationDateTime'].filter((name) => !isText(session[name])),
    ...['tokenExpiration', 'sessionExpiration'].filter((name) => Number.isNaN(Date.parse(String(session[name])))),
    ...['kty', 'crv', 'x', 'y'].filter((name) => !isText(key[name])),
  ];
  if (wrong.length > 0) throw new TypeError(`the session is not as published: ${wrong.join(', ')}`);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
