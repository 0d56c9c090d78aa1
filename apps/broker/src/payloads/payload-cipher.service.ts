import { availableParallelism } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '#libs/clock';
import { importPaymentKey, importServerKey, openJwe, type RecipientKey, sealJwe } from '#libs/jwe';
import type { Session } from '#libs/session';
import { CLOCK } from '../platform/platform.js';
import { ConfiguredMerchants } from '../renewal/configured-merchants.js';
import { MAX_JWE_BYTES, MAX_PLAINTEXT_BYTES } from './payload-text.js';
import { WorkGate } from './work-gate.js';

/**
 * The arithmetic runs in the threads of the runtime, next to the event loop. One processor is left to the event loop,
 * which answers the reads; waiting work costs it nothing but memory.
 */
const GATE = { inFlight: Math.max(1, availableParallelism() - 1), waiting: 256, maxMs: 10_000 };

/** Seals and opens payloads, but never so many at once that reads would lose their processor. */
@Injectable()
export class PayloadCipher {
  readonly #gate: WorkGate;

  constructor(
    private readonly merchants: ConfiguredMerchants,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#gate = new WorkGate({ ...GATE, clock });
  }

  /** @throws BrokerError `jwe_too_large`, `overloaded` or `shutting_down` */
  sealToSession(plaintext: Uint8Array, session: Session, signal: AbortSignal): Promise<string> {
    return this.#gate.run(signal, async () => this.#seal(plaintext, await importServerKey(session.serverPublic)));
  }

  /** @throws BrokerError `jwk_invalid`, `jwe_too_large`, `overloaded` or `shutting_down` */
  sealTo(plaintext: Uint8Array, recipient: object, signal: AbortSignal): Promise<string> {
    return this.#gate.run(signal, async () => this.#seal(plaintext, await importPaymentKey(recipient)));
  }

  /**
   * Tries every key of the merchant: the one its session uses first, then newest first.
   * @throws BrokerError of `openJwe`, `overloaded` or `shutting_down`
   */
  open(
    jwe: string,
    recipient: { merchant: string; session: Session | undefined },
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const keys = this.merchants.clientKeysOf(recipient.merchant);
    const current = keys.filter(({ thumbprint }) => thumbprint === recipient.session?.clientKeyThumbprint);
    const ordered = [...current, ...keys.filter((key) => !current.includes(key))];
    return this.#gate.run(signal, async () => (await openJwe(jwe, ordered, { maxBytes: MAX_JWE_BYTES })).plaintext);
  }

  #seal(plaintext: Uint8Array, recipient: RecipientKey): Promise<string> {
    return sealJwe(plaintext, recipient, { maxBytes: MAX_PLAINTEXT_BYTES });
  }
}
