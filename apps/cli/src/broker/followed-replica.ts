import type { AcceptedToken } from './accepted-token.js';
import type { Clock } from '#libs/clock';
import type { SessionBrokerOptions } from '#libs/client';
import { exchangeEndOf } from '#libs/outbound';
import type { BrokerPlace } from './broker-place.js';
import { type NoAnswer, noAnswer, tlsInstead } from './exchange-cause.js';

type Fetch = NonNullable<SessionBrokerOptions['fetch']>;

/**
 * How a broker answers a caller that it does not know. Tokens, too, reach one replica after another: one that none of
 * them has ever accepted is wrong, and one that was accepted may be accepted again.
 */
const NOT_LET_IN = 401;
/** How a broker answers for a merchant that it does not have, or that does not belong to the caller. */
const TURNED_AWAY: ReadonlySet<number> = new Set([403, 404]);
/** How it answers for one that it has. */
const SERVED: ReadonlySet<number> = new Set([200, 304]);

interface Following {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called once none of the replicas can be followed, no matter how long one waits, with the reason for each. */
  readonly onLost: (lost: readonly LostReplica[]) => void;
  /** Called when every replica turns the caller or the merchant away. */
  readonly onTurnedAway: () => void;
  readonly accepted: AcceptedToken;
}

interface AskedWith extends Pick<Following, 'accepted'> {
  readonly authorization: string | undefined;
}

export interface LostReplica {
  readonly url: URL;
  readonly why: NoAnswer;
}

/**
 * Decides which of several replicas is followed: after an interruption the next one, so that a dead one keeps nobody
 * from the others.
 */
export class FollowedReplica {
  readonly #urls: BrokerPlace['urls'];
  /** Replicas that last gave no answer, for a reason that no later call fixes, such as an untrusted certificate. */
  readonly #lost = new Map<URL, NoAnswer>();
  /** Replicas whose last answer turned the caller or the merchant away, unless they could not be reached since. */
  readonly #turnedAway = new Set<URL>();
  /** Replicas that have had the merchant, as far as they have been asked. */
  readonly #had = new Set<URL>();
  #index = 0;

  constructor(urls: BrokerPlace['urls']) {
    this.#urls = urls;
  }

  get url(): URL {
    return this.#urls[this.#index] ?? this.#urls[0];
  }

  /** If there are several replicas, which one it is, to append to a report about it. */
  get atWhich(): string {
    return this.#urls.length === 1 ? '' : ` at ${this.url.origin}`;
  }

  /** Why no later call will reach the followed replica; undefined if one may. */
  get whyLost(): NoAnswer | undefined {
    return this.#lost.get(this.url);
  }

  /** The replica to ask about the merchant. */
  get mostTelling(): URL {
    return this.#had.has(this.url) ? this.url : (this.#urls.find((one) => this.#had.has(one)) ?? this.url);
  }

  hasHad(url: URL): boolean {
    return this.#had.has(url);
  }

  /** The replica has said that it has the merchant. */
  noteHad(url: URL): void {
    this.#had.add(url);
  }

  /**
   * A replica that turns the caller or the merchant away, if all of them do: any other may have it. Undefined while one
   * may be followed.
   */
  get turnedAwayAt(): URL | undefined {
    return this.#urls.every((one) => this.#turnedAway.has(one)) ? this.#urls[0] : undefined;
  }

  changeOver(): void {
    this.#index = (this.#index + 1) % this.#urls.length;
  }

  /** Follows this replica from now on, such as one that is known to have what is waited for. */
  follow(url: URL): void {
    this.#index = Math.max(0, this.#urls.indexOf(url));
  }

  /** Text written for the first replica, with the followed one in its place. */
  readdressed(text: string): string {
    const [{ href, origin }] = this.#urls;
    return text.startsWith(href)
      ? `${this.url.href}${text.slice(href.length)}`
      : text.replaceAll(origin, this.url.origin);
  }

  /**
   * Asks the replica that is followed at that moment. If it does not let the caller in, or turns the caller or the
   * merchant away, the next one is asked at once: a reload reaches one replica after another.
   */
  through(ask: Fetch, following: Following): Fetch {
    return async (text, init) => {
      for (let asked = 1; ; asked += 1) {
        const answer = await this.#ask(ask, [text, init], following);
        const isLast = asked === this.#urls.length || this.turnedAwayAt !== undefined;
        const isPassedOver = answer.status === NOT_LET_IN || TURNED_AWAY.has(answer.status);
        if (!isPassedOver || isLast) return answer;
        await answer.body?.cancel();
        this.changeOver();
      }
    };
  }

  async #ask(ask: Fetch, [text, init]: Parameters<Fetch>, following: Following): ReturnType<Fetch> {
    const { url } = this;
    try {
      const answer = await ask(this.readdressed(text), init);
      this.#note(url, await tlsInstead({ httpStatus: answer.status }, { url }, following), following);
      this.#noteAnswer(url, answer.status, { authorization: init.headers['authorization'], ...following });
      if (this.turnedAwayAt !== undefined) following.onTurnedAway();
      return answer;
    } catch (error) {
      // The error that fetch throws says nothing by itself, only its cause does.
      const end = exchangeEndOf(error instanceof TypeError ? error.cause : error);
      if (init.signal?.aborted !== true) {
        const why = await noAnswer(end, { url }, following);
        this.#note(url, why, following);
        if (!end.wasReached || why.fault !== 'tryLater') this.#turnedAway.delete(url);
      }
      throw error;
    }
  }

  #noteAnswer(url: URL, status: number, { authorization, accepted }: AskedWith): void {
    if (SERVED.has(status)) {
      this.#had.add(url);
      accepted.noteShown(authorization);
    }
    if (TURNED_AWAY.has(status) && !accepted.isExchangedFor(authorization)) {
      this.#had.delete(url);
      this.#turnedAway.add(url);
    } else if (status === NOT_LET_IN && !accepted.hasShown) this.#turnedAway.add(url);
    else this.#turnedAway.delete(url);
  }

  #note(url: URL, why: NoAnswer | undefined, { onLost }: Following): void {
    if (why === undefined || why.fault === 'tryLater') {
      this.#lost.delete(url);
      return;
    }
    this.#lost.set(url, why);
    if (this.#urls.every((one) => this.#lost.has(one)))
      onLost([...this.#lost].map(([place, reason]) => ({ url: place, why: reason })));
  }
}
