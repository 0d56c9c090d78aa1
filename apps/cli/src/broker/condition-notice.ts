import { causeText, type ListedMerchant, shownCondition } from './listed-merchant.js';
import type { TellNotice } from './notice.js';

/** Replicas have clocks of their own, and people are told of minutes. */
const SAME_MOMENT_MS = 60_000;

/** Whose cause names moments, or what is left of a session: its words change while nothing of it does. */
const COUNTS_DOWN: ReadonlySet<string> = new Set(['held_back', 'foreign_authorizer', 'reported_dead', 'fresh']);

/** Says when a merchant that is followed is not well although it has a session, and when it is well again, in the words of `status`. */
export class ConditionNotice {
  readonly #tell: TellNotice;
  /** As it was when it was told last; undefined while all was well. */
  #told: ListedMerchant | undefined;

  constructor(tell: TellNotice) {
    this.#tell = tell;
  }

  look(merchant: ListedMerchant): void {
    const { id, condition, state, cause, runbook } = merchant;
    const { word, tone } = shownCondition(merchant);
    const isWell = tone === 'green';
    // The end of a session has a line of its own; an attempt that is made says nothing of how it will end.
    if (condition === 'unavailable' || tone === 'blue') return;
    if (isWell ? this.#told === undefined : this.#told !== undefined && isSame(this.#told, merchant)) return;
    this.#told = isWell ? undefined : merchant;
    const why = isWell ? undefined : causeText(merchant);
    this.#tell({
      event: 'condition',
      about: id,
      words: why === undefined ? word : `${word}: ${why}`,
      facts: { merchant: id, condition: condition ?? state, ...(why === undefined ? {} : { cause, runbook }) },
    });
  }
}

function isSame(told: ListedMerchant, now: ListedMerchant): boolean {
  const [before, after] = [dataOf(told), dataOf(now)];
  return before.facts === after.facts && Math.abs(before.retryAtMs - after.retryAtMs) < SAME_MOMENT_MS;
}

/** What makes it another matter when it changes. */
function dataOf({ condition = '', runbook, cause, retryAt, lastFailure }: ListedMerchant): {
  readonly facts: string;
  readonly retryAtMs: number;
} {
  const { kind, msgCode, wrongAddress } = lastFailure ?? {};
  const words = COUNTS_DOWN.has(condition) ? undefined : cause;
  // After a failure the next attempt comes a little later each time; with a budget that is spent it says until when.
  const isUntil = condition === 'held_back' && retryAt !== undefined;
  return {
    facts: JSON.stringify([condition, runbook, words, kind, msgCode, wrongAddress]),
    retryAtMs: isUntil ? Date.parse(retryAt) : 0,
  };
}
