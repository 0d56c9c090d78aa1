import type { Clock } from '#libs/clock';
import { causeText, type ListedMerchant, nextAttemptText, shownCondition } from './listed-merchant.js';
import type { TellNotice } from './notice.js';
import type { NoticeParts } from './notice-parts.js';

/** Replicas have their own clocks, and times are shown to people in minutes. */
const SAME_MOMENT_MS = 60_000;

/** Conditions whose cause names times, or how long a session lasts: the words change although nothing else does. */
const COUNTS_DOWN: ReadonlySet<string> = new Set([
  'held_back',
  'foreign_authorizer',
  'watched',
  'reported_dead',
  'fresh',
]);

/** The time until which a budget is spent is shown to the second once it is near. */
const MOMENTS = /(?:\d{4}-\d\d-\d\d )?\d\d:\d\d(?::\d\d)? UTC/g;

/**
 * Reports when a followed merchant is not well, with or without a session, and when it is well again, in the words of
 * `status`.
 */
export class ConditionNotice {
  readonly #tell: TellNotice;
  readonly #clock: Clock;
  readonly #hasReplicas: boolean;
  /** The merchant as last reported; undefined while all was well. */
  #told: ListedMerchant | undefined;
  /** Whether a line was printed that another such line has to end. */
  #isOpen = false;
  /** The replica of the last line. */
  #place: URL | undefined;

  constructor({ tell, clock, broker }: Pick<NoticeParts, 'tell' | 'clock' | 'broker'>) {
    this.#hasReplicas = broker.urls.length > 1;
    this.#tell = tell;
    this.#clock = clock;
  }

  /** The line about the end of its session has already said this. */
  toldAtItsEnd(merchant: ListedMerchant): void {
    this.#told = merchant;
  }

  /** @param url of the replica that lists it */
  look(merchant: ListedMerchant, url: URL): void {
    const { id } = merchant;
    const { word, tone } = shownCondition(merchant);
    const isWell = tone === 'green';
    if (isUndecided(merchant)) return;
    const isTold = isWell ? !this.#isOpen : this.#told !== undefined && isSame(this.#told, merchant);
    if (isWell || !isTold) this.#told = isWell ? undefined : merchant;
    if (isTold) return;
    this.#isOpen = !isWell;
    const why = isWell ? undefined : causeText(merchant);
    const because = why === undefined ? '' : `: ${why}${nextAttemptText(merchant, this.#clock.now())}`;
    this.#tell({
      event: 'condition',
      about: id,
      words: `${word}${this.#atWhich(url)}${because}`,
      state: { word, tone },
      facts: { ...factsOf(merchant, why), ...(this.#hasReplicas ? { place: url.origin } : {}) },
    });
  }

  /** Named if another replica says so than before, because each has seen different calls. */
  #atWhich(url: URL): string {
    const isOther = this.#place !== undefined && this.#place !== url;
    this.#place = url;
    return isOther ? ` at ${url.origin}` : '';
  }
}

function factsOf({ id, condition, state, cause, runbook, retryAt }: ListedMerchant, why: string | undefined): object {
  return {
    ...{ merchant: id, condition: condition ?? state },
    ...(why === undefined ? {} : { cause, runbook }),
    ...(retryAt === undefined ? {} : { retryAt }),
  };
}

/** An attempt in progress says nothing about how it will end. */
function isUndecided(merchant: ListedMerchant): boolean {
  const { state, renewing, lastFailure } = merchant;
  if (shownCondition(merchant).tone === 'blue') return true;
  return state === 'unavailable' && renewing && lastFailure === undefined;
}

function isSame(told: ListedMerchant, now: ListedMerchant): boolean {
  const [before, after] = [dataOf(told), dataOf(now)];
  return before.facts === after.facts && Math.abs(before.retryAtMs - after.retryAtMs) < SAME_MOMENT_MS;
}

/** What makes it a different matter if it changes. */
function dataOf({ condition = '', runbook, cause, retryAt, lastFailure }: ListedMerchant): {
  readonly facts: string;
  readonly retryAtMs: number;
} {
  const { kind, msgCode, wrongAddress } = lastFailure ?? {};
  const words = COUNTS_DOWN.has(condition) ? undefined : cause?.replaceAll(MOMENTS, '');
  // After a failure, the next attempt comes a little later each time; for a spent budget, the time says until when.
  const isUntil = condition === 'held_back' && retryAt !== undefined;
  return {
    facts: JSON.stringify([condition, runbook, words, kind, msgCode, wrongAddress]),
    retryAtMs: isUntil ? Date.parse(retryAt) : 0,
  };
}
