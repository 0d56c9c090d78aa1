import type { SessionBrokerOptions } from '#libs/client';
import type { BrokerPlace } from './broker-place.js';

type Fetch = NonNullable<SessionBrokerOptions['fetch']>;

/** Which of several replicas is followed: after an interruption the next one, so that one that is dead keeps nobody from the others. */
export class FollowedReplica {
  readonly #urls: BrokerPlace['urls'];
  #index = 0;

  constructor(urls: BrokerPlace['urls']) {
    this.#urls = urls;
  }

  get url(): URL {
    return this.#urls[this.#index] ?? this.#urls[0];
  }

  changeOver(): void {
    this.#index = (this.#index + 1) % this.#urls.length;
  }

  /** What is written for the first replica, with the one that is followed in its place. */
  readdressed(text: string): string {
    const [{ href, origin }] = this.#urls;
    return text.startsWith(href)
      ? `${this.url.href}${text.slice(href.length)}`
      : text.replaceAll(origin, this.url.origin);
  }

  /** Asks the replica that is followed at that moment. */
  through(ask: Fetch): Fetch {
    return (url, init) => ask(this.readdressed(url), init);
  }
}
