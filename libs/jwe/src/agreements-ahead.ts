import type { webcrypto } from 'node:crypto';
import { COORDINATE_BYTES, CURVE, KEY_TYPE } from './profile.js';
import type { Agreement } from './seal-agreed.js';

/** For one recipient: about as many as there are seals in a burst. */
const MAX_AHEAD = 8;
/** Each costs some 5 KiB. Beyond these, none are kept for the one that was sealed to least recently. */
const MAX_RECIPIENTS = 256;

interface Ahead {
  readonly ready: Agreement[];
  underway: number;
  /** How many there are to be: none for a recipient that is sealed to once, one more with each further seal. */
  wanted: number;
}

/**
 * Agreements with recipients that are sealed to again and again, such as the gateway during a session, made ahead of
 * need: a seal then waits for no elliptic-curve operation instead of two. They are made one after another, so that
 * whoever waits for the runtime's threads waits behind one of them at most. Each has an ephemeral key of its own and is
 * handed out once; none outlives the process.
 */
export class AgreementsAhead {
  /** The last is the one that was sealed to most recently. */
  readonly #recipients = new Map<webcrypto.CryptoKey, Ahead>();
  readonly #agreeWith: (recipient: webcrypto.CryptoKey) => Promise<Agreement>;
  /** All that has been asked for: the next one is made after it. */
  #made: Promise<unknown> = Promise.resolve();

  constructor(agreeWith = agreementWith) {
    this.#agreeWith = agreeWith;
  }

  /** An agreement that is handed out to nobody else, before or after. */
  async take(recipient: webcrypto.CryptoKey): Promise<Agreement> {
    const ahead = this.#aheadFor(recipient);
    const agreement = ahead.ready.pop() ?? (await this.#agreeWith(recipient));
    // Only now: what somebody waits for is not queued behind what nobody waits for.
    this.#refill(recipient, ahead);
    return agreement;
  }

  #aheadFor(recipient: webcrypto.CryptoKey): Ahead {
    const ahead = this.#recipients.get(recipient) ?? { ready: [], underway: 0, wanted: -1 };
    ahead.wanted = Math.min(ahead.wanted + 1, MAX_AHEAD);
    this.#recipients.delete(recipient);
    this.#recipients.set(recipient, ahead);
    const [oldest] = this.#recipients;
    if (this.#recipients.size > MAX_RECIPIENTS && oldest !== undefined) {
      this.#recipients.delete(oldest[0]);
      for (const { secret } of oldest[1].ready.splice(0)) secret.fill(0);
    }
    return ahead;
  }

  #refill(recipient: webcrypto.CryptoKey, ahead: Ahead): void {
    while (ahead.ready.length + ahead.underway < ahead.wanted) {
      ahead.underway += 1;
      this.#made = this.#made
        .then(() => this.#agreeWith(recipient))
        .then((agreement) => ahead.ready.push(agreement))
        // Nobody waits for this one. A seal that finds none ready makes its own, and reports any failure then.
        .catch(() => undefined)
        .finally(() => (ahead.underway -= 1));
    }
  }
}

async function agreementWith(recipient: webcrypto.CryptoKey): Promise<Agreement> {
  const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: CURVE }, false, ['deriveBits']);
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', pair.publicKey);
  const ecdh = { name: 'ECDH', public: recipient };
  const secret = new Uint8Array(await crypto.subtle.deriveBits(ecdh, pair.privateKey, COORDINATE_BYTES * 8));
  return { epk: { kty: KEY_TYPE, crv: CURVE, x, y }, secret };
}
