import { type ClientEvent, SessionBrokerError } from '#libs/client';
import type { FollowedReplica } from './followed-replica.js';

/**
 * What a broker says about a merchant that it does not have, or that does not belong to the caller: a person has to
 * change something.
 */
const OF_THE_MERCHANT: ReadonlySet<string> = new Set(['merchant_not_found', 'forbidden']);
/**
 * What it says to a caller that it does not know. It counts the same until something has been followed: after that, the
 * token may be accepted again.
 */
const OF_THE_CALLER = 'unauthenticated';

/**
 * Ends a watch once every replica turns its merchant or its caller away, for example because a reload has removed it: a
 * single replica may have been reloaded before the others. The client package reports the same refusal only once, so
 * the replicas count here.
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

  /** Whether the event ends the watch, so that it is reported at the end of the watch and not before. */
  ends(event: ClientEvent): boolean {
    if (event.type === 'following') {
      this.#hasFollowed = true;
      this.#error = undefined;
    }
    if (event.type !== 'interrupted' || !this.#isRefusal(event.error)) return false;
    this.#error = event.error;
    this.weigh();
    // Whoever waits for the first session learns of the refusal when that wait fails.
    return this.#isFinal || (!this.#hasFollowed && OF_THE_MERCHANT.has(event.error.code));
  }

  #isRefusal(error: unknown): error is SessionBrokerError {
    if (!(error instanceof SessionBrokerError)) return false;
    return OF_THE_MERCHANT.has(error.code) || (error.code === OF_THE_CALLER && !this.#hasFollowed);
  }

  /** @throws SessionBrokerError the refusal that ended the watch */
  throwIfFinal(): void {
    if (this.#error !== undefined && this.#isFinal) throw this.#error;
  }

  weigh(): void {
    if (this.#isFinal) this.#giveUp.abort();
  }
}
