import { type Instant, instantFromEpochMs } from '#libs/clock';
import { ASKED_AGAIN, momentText } from '#libs/session';
import { endsBefore, type ListedMerchant } from '../broker/listed-merchant.js';

interface RefusedByBudget {
  /** As stated by the broker. */
  readonly cause: string | undefined;
  /** The runbook to continue with. */
  readonly page: string;
  readonly listed: ListedMerchant | undefined;
  /** Whether failed attempts have spent it. */
  readonly isSpentOnFailures: boolean;
  readonly now: Instant;
}

/** What to do if a request for a newer session found no call left, or spent the last one itself. */
export function spentBudgetRemedy({ cause, page, listed, isSpentOnFailures, now }: RefusedByBudget): string {
  // A broker of an earlier version does not remember the request.
  if (cause?.includes(ASKED_AGAIN) === true) {
    const again = `it will be asked for again by this replica${momentOf(listed, now) ?? ' when a call is free'}`;
    return isSpentOnFailures
      ? `if what ended the last attempt is fixed, wait: ${again}. Otherwise go on with runbook: ${page}`
      : `find out what spends the calls (runbook: ${page}); ${again}`;
  }
  if (!isSpentOnFailures) return `find out what spends the calls (runbook: ${page}), then ask again`;
  const next = `by itself the next attempt comes${momentOf(listed, now) ?? ' later'}`;
  return `when what ended the last attempt is fixed and a call is free, ask again: ${next}. Otherwise go on with runbook: ${page}`;
}

function momentOf(listed: ListedMerchant | undefined, now: Instant): string | undefined {
  const retryAt = listed?.retryAt;
  if (listed === undefined || retryAt === undefined) return undefined;
  const moment = ` at ${momentText(instantFromEpochMs(Date.parse(retryAt)), now)}`;
  return endsBefore(retryAt, listed) ? `${moment}, after the end of this session` : moment;
}
