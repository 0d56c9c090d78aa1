import type { NoticeParts } from './notice-parts.js';
import { type ReplicaTrouble, troubleFacts, troubleLines } from './replica-trouble.js';

interface AnswerParts extends Pick<NoticeParts, 'broker' | 'tell'> {
  readonly merchant: string;
  /** Whether the replica has had the merchant. */
  readonly hasHad: (url: URL) => boolean;
}

interface Seen {
  readonly troubles: readonly ReplicaTrouble[];
  /** What is then seen of the merchant, in words. */
  readonly leaves: string;
}

/** Says once why no replica answers for the merchant, again when that is another reason, and once that one answers again. */
export class AnswerNotice {
  readonly #parts: AnswerParts;
  /** What was told last; undefined while all was well. */
  #told: string | undefined;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
  }

  get isMissing(): boolean {
    return this.#told !== undefined;
  }

  /** @param troubles of those that were asked, none of which has said anything of the merchant */
  missing({ troubles, leaves }: Seen): void {
    const [first, ...others] = troubles;
    if (first === undefined) return this.answered();
    const now = JSON.stringify([leaves, ...troubles.map(({ url, error }) => [url.href, error.code, error.message])]);
    if (now === this.#told) return;
    this.#told = now;
    const words = this.#words([first, ...others], leaves);
    this.#tell(words, { answers: false, ...troubleFacts([first, ...others]) });
  }

  answered(): void {
    if (this.#told === undefined) return;
    this.#told = undefined;
    this.#tell('The broker answers again.', { answers: true });
  }

  #words(troubles: readonly [ReplicaTrouble, ...ReplicaTrouble[]], leaves: string): string {
    const { broker, hasHad } = this.#parts;
    const nameOf = (url: URL): string => `${url.origin}${hasHad(url) ? ', which has it' : ''}`;
    const [first, ...more] = troubleLines(troubles, nameOf);
    if (troubles.length > 1) return [`${capitalized(leaves)}:`, first, ...more].join('\n');
    const what = broker.urls.length === 1 ? troubles[0].error.message : first;
    return [`${capitalized(leaves)}: ${what}`, ...more].join('\n');
  }

  #tell(words: string, facts: object): void {
    const { merchant, tell } = this.#parts;
    tell({ event: 'broker', about: merchant, words, facts: { merchant, ...facts } });
  }
}

const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
