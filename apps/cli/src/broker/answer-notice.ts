import type { FollowState, Left } from './follow-state.js';
import type { NoticeParts } from './notice-parts.js';
import { type ReplicaTrouble, troubleFacts, troubleLines } from './replica-trouble.js';

interface AnswerParts extends Pick<NoticeParts, 'broker' | 'tell'> {
  readonly merchant: string;
  readonly state: Pick<FollowState, 'hasBegun'>;
  /** Whether the replica has had the merchant. */
  readonly hasHad: (url: URL) => boolean;
}

interface Seen {
  readonly troubles: readonly ReplicaTrouble[];
  /** What is still seen of the merchant. */
  readonly left: Left;
}

/** Reports why no replica answers for the merchant: once, again when the reason changes, and when one answers again. */
export class AnswerNotice {
  readonly #parts: AnswerParts;
  /** What was last reported; undefined once it is over. */
  #told: string | undefined;
  /** Whether a line was printed that another line has to end. */
  #isOpen = false;
  /** Whether the merchant had been seen before that line. */
  #wasThere = false;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
  }

  get isMissing(): boolean {
    return this.#isOpen;
  }

  /**
   * @param troubles of the replicas that were asked, none of which said anything about the merchant; empty if that is
   * reported elsewhere
   */
  missing({ troubles, left }: Seen): void {
    const [first, ...others] = troubles;
    if (first === undefined) {
      this.#told = undefined;
      return;
    }
    const now = JSON.stringify([left.kind, ...troubles.map(({ url, error }) => [url.href, error.code, error.message])]);
    if (now === this.#told) return;
    this.#told = now;
    if (!this.#isOpen) this.#wasThere = this.#parts.state.hasBegun;
    this.#isOpen = true;
    const words = this.#words([first, ...others], left.words);
    this.#tell(words, { answers: false, ...left.facts, ...this.#facts([first, ...others]) });
  }

  /** @param troubles of the followed replica, and of any others except the one that serves the merchant */
  servedBy({ origin }: URL, troubles: readonly ReplicaTrouble[]): void {
    const [first, ...others] = troubles;
    const now = JSON.stringify([origin, ...troubles.map(({ url, error }) => [url.href, error.code])]);
    if (first === undefined || now === this.#told) return;
    this.#told = now;
    this.#isOpen = false;
    const words = `${origin} serves the merchant, while another one does not:\n${troubleLines(troubles).join('\n')}`;
    this.#tell(words, { answers: true, servedBy: origin, ...this.#facts([first, ...others]) });
  }

  /** A replica has shown the merchant. */
  answered(): void {
    this.#told = undefined;
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#tell(`The broker answers${this.#wasThere ? ' again' : ''}.`, { answers: true });
  }

  #words(troubles: readonly [ReplicaTrouble, ...ReplicaTrouble[]], left: string): string {
    const { broker, hasHad } = this.#parts;
    const nameOf = (url: URL): string => `${url.origin}${hasHad(url) ? ', which has it' : ''}`;
    const [first, ...more] = troubleLines(troubles, nameOf);
    if (troubles.length > 1) return [`${capitalized(left)}:`, first, ...more].join('\n');
    const what = broker.urls.length === 1 ? troubles[0].error.message : first;
    return [`${capitalized(left)}: ${what}`, ...more].join('\n');
  }

  #facts(troubles: readonly [ReplicaTrouble, ...ReplicaTrouble[]]): object {
    const { broker, hasHad } = this.#parts;
    return troubleFacts(troubles, { urls: broker.urls, hasHad });
  }

  #tell(words: string, facts: object): void {
    const { merchant, tell } = this.#parts;
    tell({ event: 'broker', about: merchant, words, facts: { merchant, ...facts } });
  }
}

const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
