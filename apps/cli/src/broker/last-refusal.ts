import { type ClientEvent, SessionBrokerError } from '#libs/client';
import type { FollowedReplica } from './followed-replica.js';

/** What a broker says of a merchant that it does not have, or that is none of its caller: a person has to change something. */
const OF_THE_MERCHANT: ReadonlySet<string> = new Set(['merchant_not_found', 'forbidden']);
/** What it says to a caller whom it does not know. The same while nothing was followed yet: later on the token may be accepted again. */
const OF_THE_CALLER = 'unauthenticated';

/**
 * Ends a watch once its merchant or its caller is turned away by every replica, such as after a reload that has taken it away: one
 * replica alone may have been reloaded before the others. The client package tells the same refusal once, so that the replicas count here.
 */
export class LastRefusal {
  readonly #replica: FollowedReplica;
  readonly #giveUp: AbortController;
  #error: SessionBrokerError | undefined;
  #hasFollowed = false;

  constructor(replica: FollowedReplica, giveUp: AbortController) {
    this.#replica = replica;
    this.#giveUp = giveUp;
  }

  get #isFinal(): boolean {
    return this.#error !== undefined && this.#replica.turnedAwayAt !== undefined;
  }

  /** Whether what has happened ends the watch, so that it is told by its end and not before. */
  ends(event: ClientEvent): boolean {
    if (event.type === 'following') {
      this.#hasFollowed = true;
      this.#error = undefined;
    }
    if (event.type !== 'interrupted' || !this.#isRefusal(event.error)) return false;
    this.#error = event.error;
    this.weigh();
    // Whoever waits for the first session is told by its refusal.
    return this.#isFinal || (!this.#hasFollowed && OF_THE_MERCHANT.has(event.error.code));
  }

  #isRefusal(error: unknown): error is SessionBrokerError {
    if (!(error instanceof SessionBrokerError)) return false;
    return OF_THE_MERCHANT.has(error.code) || (error.code === OF_THE_CALLER && !this.#hasFollowed);
  }

  /** @throws SessionBrokerError the refusal that has ended the watch */
  throwIfFinal(): void {
    if (this.#error !== undefined && this.#isFinal) throw this.#error;
  }

  weigh(): void {
    if (this.#isFinal) this.#giveUp.abort();
  }
}
