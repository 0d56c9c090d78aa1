import { toRfc3339, type Clock } from '#libs/clock';
import type { Operation } from '../calls/call-log.js';

/** What a request asks for, as far as it could be read. Without a merchant or an id, it belongs to no payment. */
export interface PaymentClaim {
  readonly operation: Operation;
  readonly merchant?: string;
  readonly merchantRequestId?: string;
  readonly coinAmount?: number;
}

/** `accepted`: carried out at least once. `refused`: requested, and never carried out. `in_flight`: neither yet. */
export const paymentOutcomes = ['accepted', 'refused', 'in_flight'] as const;
type PaymentOutcome = (typeof paymentOutcomes)[number];

/** One payment, however often it was requested: a merchant's merchantRequestId in one operation. */
export interface LedgerEntry {
  readonly merchant: string;
  readonly operation: Operation;
  readonly merchantRequestId: string;
  readonly coinAmount?: number;
  readonly outcome: PaymentOutcome;
  /** Requests that arrived for it. */
  readonly requests: number;
  /** How often it was carried out: more than once means a doubled payment. */
  readonly accepted: number;
  /** Answers that report the acceptance and were handed over whole. */
  readonly answered: number;
  /** Refused requests by reason: the msgCode, or the fault that got in the way. */
  readonly refusals: Readonly<Record<string, number>>;
  readonly firstAt: string;
  readonly lastAt: string;
}

export interface LedgerTotals {
  readonly payments: number;
  readonly requests: number;
  readonly accepted: number;
  readonly refused: number;
  readonly inFlight: number;
  /** Payments that were carried out and whose callers have not been told: the answer was lost, or is still due. */
  readonly unanswered: number;
  /** Payments for which more than one request arrived, whatever became of them. */
  readonly repeated: number;
  /** Payments that were carried out more than once. */
  readonly doubled: number;
  /** Refused requests, including those for payments that were accepted later. */
  readonly refusedByReason: Readonly<Record<string, number>>;
}

/** One request on its way; the stage reports to it what becomes of it. */
export interface LedgerLine {
  accept(): void;
  refuse(reason: string): void;
  /** The answer that reports the acceptance has been handed over. */
  answer(): void;
}

interface Account {
  readonly claim: PaymentClaim & { readonly merchant: string; readonly merchantRequestId: string };
  readonly firstAt: string;
  readonly refusals: Map<string, number>;
  lastAt: string;
  requests: number;
  accepted: number;
  answered: number;
}

export interface LedgerFilter {
  readonly merchant: string | undefined;
  readonly operation: Operation | undefined;
  readonly outcome: PaymentOutcome | undefined;
  readonly merchantRequestId: string | undefined;
}

/** Every payment once, refused ones with their reason: shows whether any was lost or doubled. */
export class Ledger {
  readonly #clock: Clock;
  readonly #capacity: number;
  readonly #accounts = new Map<string, Account>();
  /** Requests that named no payment: either they could not be opened, or their session is unknown. */
  #unidentified = new Map<string, number>();
  #forgotten = 0;

  constructor(clock: Clock, capacity: number) {
    this.#clock = clock;
    this.#capacity = capacity;
  }

  /** A request for a payment has arrived. */
  arrive(claim: PaymentClaim): LedgerLine {
    const { merchant, merchantRequestId } = claim;
    if (merchant === undefined || merchantRequestId === undefined) return this.#lineOfNobody();
    const account = this.#accountOf({ ...claim, merchant, merchantRequestId });
    account.requests += 1;
    account.lastAt = toRfc3339(this.#clock.now());
    return {
      accept: () => void (account.accepted += 1),
      refuse: (reason) => count(account.refusals, reason),
      answer: () => void (account.answered += 1),
    };
  }

  list(filter: LedgerFilter): readonly LedgerEntry[] {
    return [...this.#accounts.values()]
      .map(entryOf)
      .filter(
        (entry) =>
          (filter.merchant === undefined || entry.merchant === filter.merchant) &&
          (filter.operation === undefined || entry.operation === filter.operation) &&
          (filter.outcome === undefined || entry.outcome === filter.outcome) &&
          (filter.merchantRequestId === undefined || entry.merchantRequestId === filter.merchantRequestId),
      );
  }

  /** Refused requests that named no payment, by reason. */
  get unidentified(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#unidentified);
  }

  /** Payments that had to make room for newer ones. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Forgets all payments, or those of one merchant. */
  reset(merchant?: string): void {
    for (const [key, { claim }] of this.#accounts) {
      if (merchant === undefined || claim.merchant === merchant) this.#accounts.delete(key);
    }
    if (merchant !== undefined) return;
    this.#unidentified = new Map();
    this.#forgotten = 0;
  }

  #accountOf(claim: Account['claim']): Account {
    const key = JSON.stringify([claim.merchant, claim.operation, claim.merchantRequestId]);
    const known = this.#accounts.get(key);
    if (known !== undefined) return known;
    const now = toRfc3339(this.#clock.now());
    const account = { claim, firstAt: now, lastAt: now, refusals: new Map(), requests: 0, accepted: 0, answered: 0 };
    this.#accounts.set(key, account);
    if (this.#accounts.size > this.#capacity) this.#forgetOldest();
    return account;
  }

  #forgetOldest(): void {
    const oldest = this.#accounts.keys().next();
    if (oldest.done === true) return;
    this.#accounts.delete(oldest.value);
    this.#forgotten += 1;
  }

  #lineOfNobody(): LedgerLine {
    const nothing = (): void => undefined;
    return { accept: nothing, refuse: (reason) => count(this.#unidentified, reason), answer: nothing };
  }
}

/** Totals of the entries. */
export function totalsOf(entries: readonly LedgerEntry[]): LedgerTotals {
  const having = (isSo: (entry: LedgerEntry) => boolean): number => entries.filter(isSo).length;
  const reasons = new Map<string, number>();
  for (const { refusals } of entries) {
    for (const [reason, times] of Object.entries(refusals)) reasons.set(reason, (reasons.get(reason) ?? 0) + times);
  }
  return {
    payments: entries.length,
    requests: entries.reduce((sum, { requests }) => sum + requests, 0),
    accepted: having(({ outcome }) => outcome === 'accepted'),
    refused: having(({ outcome }) => outcome === 'refused'),
    inFlight: having(({ outcome }) => outcome === 'in_flight'),
    unanswered: having(({ accepted, answered }) => accepted > 0 && answered === 0),
    repeated: having(({ requests }) => requests > 1),
    doubled: having(({ accepted }) => accepted > 1),
    refusedByReason: Object.fromEntries(reasons),
  };
}

function entryOf(account: Account): LedgerEntry {
  const { claim, refusals, ...counts } = account;
  return { ...claim, outcome: outcomeOf(account), ...counts, refusals: Object.fromEntries(refusals) };
}

function outcomeOf({ accepted, requests, refusals }: Account): PaymentOutcome {
  if (accepted > 0) return 'accepted';
  const refused = [...refusals.values()].reduce((sum, times) => sum + times, 0);
  return refused < requests ? 'in_flight' : 'refused';
}

function count(counts: Map<string, number>, reason: string): void {
  counts.set(reason, (counts.get(reason) ?? 0) + 1);
}
