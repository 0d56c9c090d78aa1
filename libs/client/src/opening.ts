import type { Attempts } from './attempts.js';
import type { BrokerHttp } from './broker-http.js';
import { ProtocolError } from './errors.js';
import { requestIdOf } from './problem.js';

export interface OpeningParts {
  readonly http: BrokerHttp;
  readonly attempts: Attempts;
}

const utf8 = new TextEncoder();
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Has the broker open payloads, as only the broker holds the merchant's private key. */
export class Opening {
  readonly #parts: OpeningParts;

  constructor(parts: OpeningParts) {
    this.#parts = parts;
  }

  /** @throws SessionBrokerError; CallAborted when the signal aborts */
  open(jwe: string, signal?: AbortSignal): Promise<Uint8Array> {
    const { http, attempts } = this.#parts;
    return attempts.run(
      async (attempt) => {
        const { answer, document } = await http.json({ path: '/payloads/decrypt', body: { jwe }, signal: attempt });
        const octets = octetsOf(document?.['plaintext'], document?.['encoding']);
        if (octets !== undefined) return octets;
        const facts = { status: answer.status, requestId: requestIdOf(answer) };
        throw new ProtocolError('answer_invalid', 'The broker answered with no plaintext', facts);
      },
      [signal],
    );
  }
}

/** A plaintext that is not UTF-8 comes in base64, and the answer says so. */
function octetsOf(plaintext: unknown, encoding: unknown): Uint8Array | undefined {
  if (typeof plaintext !== 'string') return undefined;
  if (encoding === undefined || encoding === 'utf-8' || encoding === 'utf8') return utf8.encode(plaintext);
  if (encoding !== 'base64' || !BASE64.test(plaintext)) return undefined;
  return Uint8Array.from(atob(plaintext), (character) => character.charCodeAt(0));
}
