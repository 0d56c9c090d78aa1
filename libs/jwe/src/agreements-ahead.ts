import type { webcrypto } from 'node:crypto';
import { COORDINATE_BYTES, CURVE, KEY_TYPE } from './profile.js';
import type { Agreement } from './seal-agreed.js';

/** For one recipient: about as many as there are seals in a burst. */
const MAX_AHEAD = 8;

interface Ahead {
  readonly ready: Agreement[];
  underway: number;
}

/**
 * Agreements with recipients that are sealed to again and again, such as the gateway during a session, made ahead of
 * need: a seal then waits for no elliptic-curve operation instead of two. Each has an ephemeral key of its own and is
 * handed out once; they go with the key of their recipient, and none outlives the process.
 */
export class AgreementsAhead {
  readonly #recipients = new WeakMap<webcrypto.CryptoKey, Ahead>();
  readonly #agreeWith: (recipient: webcrypto.CryptoKey) => Promise<Agreement>;

  constructor(agreeWith = agreementWith) {
    this.#agreeWith = agreeWith;
  }

  /** An agreement that is handed out to nobody else, before or after. */
  async take(recipient: webcrypto.CryptoKey): Promise<Agreement> {
    return this.#recipients.get(recipient)?.ready.pop() ?? (await this.#agreeWith(recipient));
  }

  /** Makes one more, unless there are enough. A seal that finds none makes its own, and reports any failure then. */
  async prepare(recipient: webcrypto.CryptoKey): Promise<void> {
    const ahead = this.#recipients.get(recipient) ?? { ready: [], underway: 0 };
    this.#recipients.set(recipient, ahead);
    if (ahead.ready.length + ahead.underway >= MAX_AHEAD) return;
    ahead.underway += 1;
    await this.#agreeWith(recipient)
      .then((agreement) => ahead.ready.push(agreement))
      // Nobody waits for this one.
      .catch(() => undefined)
      .finally(() => (ahead.underway -= 1));
  }
}

async function agreementWith(recipient: webcrypto.CryptoKey): Promise<Agreement> {
  const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: CURVE }, false, ['deriveBits']);
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', pair.publicKey);
  const ecdh = { name: 'ECDH', public: recipient };
  const secret = new Uint8Array(await crypto.subtle.deriveBits(ecdh, pair.privateKey, COORDINATE_BYTES * 8));
  return { epk: { kty: KEY_TYPE, crv: CURVE, x, y }, secret };
}
