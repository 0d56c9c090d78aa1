import { type ScheduledTask, toRfc3339 } from '#libs/clock';
import { causeText, type ListedMerchant, shownCondition } from './listed-merchant.js';
import { listedMerchant } from './listing.js';
import type { NoticeParts } from './notice-parts.js';

interface ConditionParts extends NoticeParts {
  readonly merchant: string;
}

/** Soon enough for a person, and nothing to a broker. */
const LOOK_EVERY_MS = 5_000;

/**
 * Says when a merchant that is followed is not well although it has a session, and when it is well again, in the words of `status`. The
 * stream has sessions alone, so the list is asked.
 */
export class ConditionNotice {
  readonly #parts: ConditionParts;
  #task: ScheduledTask | undefined;
  /** What was told last; undefined while all was well. */
  #told: string | undefined;

  constructor(parts: ConditionParts) {
    this.#parts = parts;
    this.#later();
  }

  close(): void {
    this.#task?.cancel();
  }

  #later(): void {
    this.#task = this.#parts.clock.schedule(LOOK_EVERY_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { broker, place, merchant, clock, signal, tell } = this.#parts;
    const listed = await listedMerchant(broker, { url: place() }, { merchant, clock, signal });
    if (signal.aborted) return;
    this.#later();
    // A broker that does not answer is told by the stream.
    if (listed === undefined || typeof listed === 'string') return;
    const words = this.#wordsOf(listed);
    if (words === undefined || steady(words) === this.#told) return;
    tell(`${toRfc3339(clock.now())}  ${merchant}  ${words}`);
    this.#told = shownCondition(listed).tone === 'green' ? undefined : steady(words);
  }

  /** Undefined where there is nothing to tell. */
  #wordsOf(listed: ListedMerchant): string | undefined {
    const { condition } = listed;
    const { word, tone } = shownCondition(listed);
    if (tone === 'green') return this.#told === undefined ? undefined : word;
    // The end of a session has a line of its own; an attempt that is made says nothing of how it will end.
    if (condition === 'unavailable' || tone === 'blue') return undefined;
    const cause = causeText(listed);
    return cause === undefined ? word : `${word}: ${cause}`;
  }
}

/** Without what is left of a session: it counts down, which is no change. */
function steady(words: string): string {
  return words.replace(/; its session is good for another \d+ [a-z]+/, '');
}
