import { BrokerError } from '#libs/errors';
import { importClientKey, importPaymentKey } from '#libs/jwe';
import { readText } from './answer-reader.js';
import { COMMON_HEADERS, target } from './create-session-request.js';
import { callGateway, type CallTools } from './gateway-call.js';
import type { MerchantGateway } from './merchant-gateway.js';

interface CipherHelperOptions extends CallTools {
  /** Every configured merchant: the keys of those in production are never sent. */
  readonly merchants: () => Iterable<MerchantGateway>;
}

interface HelperCall {
  readonly merchant: string;
  readonly signal: AbortSignal;
}

interface DecryptCall extends HelperCall {
  readonly jwe: string;
  /** A private JWK made for tests. It leaves the process: that is what this helper does. */
  readonly privateJwk: Readonly<Record<string, unknown>>;
}

interface EncryptCall extends HelperCall {
  readonly plaintext: string;
  readonly publicJwk: Readonly<Record<string, unknown>>;
}

interface HelperKey {
  readonly thumbprint: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * The two helper requests of the gateway's test environment (interface description, "Test-only helper requests"). They
 * send a private key or a plaintext over the wire, so they are only for testing an integration: nothing in the product
 * calls them, and every call that involves production is refused.
 */
export class CipherHelpers {
  readonly #options: CipherHelperOptions;

  constructor(options: CipherHelperOptions) {
    this.#options = options;
  }

  /**
   * Has the gateway open a JWE.
   * @returns the plaintext
   * @throws BrokerError `helper_forbidden` before a byte is sent, `jwk_invalid`; GatewayFailure when the call fails
   */
  async decrypt({ merchant, signal, jwe, privateJwk }: DecryptCall): Promise<string> {
    const { publicJwk, thumbprint } = await importClientKey(privateJwk);
    const body = { ...publicJwk, d: privateJwk['d'], use: 'enc', alg: 'ECDH-ES+A256KW' };
    return this.#call('decrypt_by_jwk', { merchant, signal, message: jwe, key: { thumbprint, body } });
  }

  /**
   * Has the gateway seal a text.
   * @returns a compact JWE
   * @throws as `decrypt`
   */
  async encrypt({ merchant, signal, plaintext, publicJwk }: EncryptCall): Promise<string> {
    const { jwk, thumbprint } = await importPaymentKey(publicJwk);
    const body = { ...jwk, use: 'enc', alg: 'ECDH-ES+A256KW' };
    return this.#call('encrypt_by_jwk', { merchant, signal, message: plaintext, key: { thumbprint, body } });
  }

  async #call(
    operation: 'decrypt_by_jwk' | 'encrypt_by_jwk',
    { merchant, signal, message, key }: HelperCall & { readonly message: string; readonly key: HelperKey },
  ): Promise<string> {
    const { gateway, testBaseUrl } = this.#permit(merchant, key);
    const { origin, path } = target(testBaseUrl, `/cipher/${operation}`);
    const request = {
      origin,
      path: `${path}?message=${encodeURIComponent(message)}`,
      headers: COMMON_HEADERS,
      body: JSON.stringify(key.body),
    };
    return readText(await callGateway(this.#options, { gateway, request, signal }));
  }

  #permit(merchant: string, key: HelperKey): { readonly gateway: MerchantGateway; readonly testBaseUrl: URL } {
    const merchants = [...this.#options.merchants()];
    const gateway = merchants.find((candidate) => candidate.merchant === merchant);
    if (gateway === undefined) throw forbidden('there is no such merchant');
    if (gateway.environment !== 'test') throw forbidden('the merchant is not in the test environment');
    if (gateway.testBaseUrl === undefined) throw forbidden('the merchant has no testBaseUrl');
    if (merchants.some((other) => other.environment === 'production' && uses(other, key.thumbprint))) {
      throw forbidden('a merchant in production uses this key');
    }
    return { gateway, testBaseUrl: gateway.testBaseUrl };
  }
}

function uses({ clientKeys, requestData }: MerchantGateway, thumbprint: string): boolean {
  if (requestData.attach !== 'none' && requestData.recipient.thumbprint === thumbprint) return true;
  return clientKeys.some((key) => key.thumbprint === thumbprint);
}

const forbidden = (detail: string): BrokerError => new BrokerError('helper_forbidden', { detail });
