import type { ClientEvent, SessionBrokerError } from '#libs/client';
import type { Logger } from '#libs/telemetry';

interface BrokerContactParts {
  readonly merchant: string;
  readonly logger: Logger;
}

const GOES_ON = 'payments go on with the session that is held, until it ends';
const AWAY = 'the broker is away: newer sessions do not come by themselves';
/** What the broker refuses this egress, however often it asks: a person has to change something. */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['merchant_not_found', `the broker does not know this merchant any more: ${GOES_ON}`],
  ['unauthenticated', `the broker does not accept the credential of this egress any more: ${GOES_ON}`],
  ['forbidden', `the broker does not let this egress have the sessions of this merchant any more: ${GOES_ON}`],
]);

/** Whether the broker is heard about one merchant and, if not, why. A problem is logged once, not with each attempt. */
export class BrokerContact {
  readonly #parts: BrokerContactParts;
  #isFollowing = false;
  /** Whether it has ever been heard: until then, other code reports that there is no session. */
  #wasHeard = false;
  #isInterrupted = false;
  #lastFailure: SessionBrokerError | undefined;
  #told: string | undefined;

  constructor(parts: BrokerContactParts) {
    this.#parts = parts;
  }

  /** Whether newer sessions arrive by themselves. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** Whether the broker was asked and is no longer heard. */
  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  /** Of the last attempt, unless one has succeeded since. */
  get lastFailure(): SessionBrokerError | undefined {
    return this.#lastFailure;
  }

  /** The code of the broker's refusal, if that is why it is not heard. */
  get refusal(): string | undefined {
    const code = this.#lastFailure?.code;
    return this.#isFollowing || code === undefined || !REFUSALS.has(code) ? undefined : code;
  }

  note(event: ClientEvent): void {
    if (event.type === 'session') this.#lastFailure = undefined;
    if (event.type === 'retrying') this.#lastFailure = event.error;
    if (event.type === 'following') this.#followed();
    if (event.type === 'interrupted') this.#interrupted(event.error);
  }

  #followed(): void {
    this.#isFollowing = true;
    this.#wasHeard = true;
    this.#isInterrupted = false;
    this.#lastFailure = undefined;
    if (this.#told === undefined) return;
    this.#told = undefined;
    const { merchant, logger } = this.#parts;
    logger.info({ merchant }, 'the broker is heard again: newer sessions come by themselves');
  }

  /**
   * A stream that ends cleanly, as when a replica is replaced, is not worth reporting unless the next one fails to
   * open.
   */
  #interrupted(error: SessionBrokerError | undefined): void {
    this.#isFollowing = false;
    this.#isInterrupted = true;
    if (error === undefined) return;
    this.#lastFailure = error;
    const { merchant, logger } = this.#parts;
    const { code, message: detail } = error;
    const refused = REFUSALS.get(code);
    const state = refused === undefined ? AWAY : code;
    if (!this.#wasHeard || state === this.#told) return;
    this.#told = state;
    if (refused === undefined) logger.warn({ merchant, code, detail }, AWAY);
    else logger.error({ merchant, code, detail }, refused);
  }
}
