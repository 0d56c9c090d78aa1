import type { webcrypto } from 'node:crypto';
import { base64url, CURVE, importPoint, type Point, sealedTo, wrappingKey } from '../jwe.js';
import type { ServerPublicKey } from '../session.js';

const { subtle } = crypto;
const utf8 = new TextEncoder();

/** A P-384 key pair that opens what is sealed to its public key. It protects nothing: it is for tests. */
export class FakeKey {
  private constructor(
    readonly publicJwk: ServerPublicKey,
    /** RFC 7638. */
    readonly thumbprint: string,
    readonly privateKey: webcrypto.CryptoKey,
  ) {}

  static async generate(): Promise<FakeKey> {
    const { publicKey, privateKey } = await subtle.generateKey(CURVE, false, ['deriveBits']);
    const { x = '', y = '' } = await subtle.exportKey('jwk', publicKey);
    const thumbprint = await subtle.digest('SHA-256', utf8.encode(`{"crv":"P-384","kty":"EC","x":"${x}","y":"${y}"}`));
    return new FakeKey({ kty: 'EC', crv: 'P-384', x, y }, base64url(thumbprint), privateKey);
  }

  /** A compact JWE that this key opens. */
  async seal(text: string): Promise<string> {
    return sealedTo(await importPoint(this.publicJwk), utf8.encode(text));
  }

  /** @returns undefined if this key does not open it */
  async open(jwe: string): Promise<Buffer | undefined> {
    try {
      return await this.#opened(jwe.split('.'));
    } catch {
      // Made up, truncated or sealed to another key: to a test it is all the same.
      return undefined;
    }
  }

  async #opened([header = '', ...parts]: readonly string[]): Promise<Buffer> {
    const { epk } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { epk: Point };
    const [wrapped, iv, text, tag] = parts.map((part) => new Uint8Array(Buffer.from(part, 'base64url')));
    if (wrapped === undefined || iv === undefined || text === undefined || tag === undefined) throw new TypeError();
    const wrapping = await wrappingKey(this.privateKey, await importPoint(epk));
    const contentKey = await subtle.unwrapKey('raw', wrapped, wrapping, 'AES-KW', 'AES-GCM', false, ['decrypt']);
    const algorithm = { name: 'AES-GCM', iv, additionalData: utf8.encode(header) };
    return Buffer.from(await subtle.decrypt(algorithm, contentKey, Buffer.concat([text, tag])));
  }
}
