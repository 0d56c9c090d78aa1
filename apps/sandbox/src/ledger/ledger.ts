import { toRfc3339, type Clock } from '#libs/clock';
import type { Operation } from '../calls/call-log.js';
import { BoundedMap } from '../payments/payment-book.js';

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
interface Account extends PaymentClaim {
  readonly merchant: string;
  readonly merchantRequestId: string;
  readonly firstAt: string;
  lastAt: string;
  /** Requests that arrived for it. */
  requests: number;
  /** How often it was carried out: more than once means a doubled payment. */
  accepted: number;
  /** Answers that report the acceptance and were handed over whole. */
  answered: number;
  /** Refused requests by reason: the msgCode, or the fault that got in the way. */
  readonly refusals: Record<string, number>;
}

export type LedgerEntry = Readonly<Account> & { readonly outcome: PaymentOutcome };

/** One request on its way; the stage reports to it what becomes of it. */
export interface LedgerLine {
  accept(): void;
  refuse(reason: string): void;
  /** The answer that reports the acceptance has been handed over. */
  answer(): void;
}

export type LedgerFilter = {
  readonly [K in 'merchant' | 'operation' | 'outcome' | 'merchantRequestId']: LedgerEntry[K] | undefined;
};

/** Every payment once, refused ones with their reason: shows whether any was lost or doubled. */
export class Ledger {
  readonly #clock: Clock;
  readonly #accounts: BoundedMap<Account>;
  /** Refused requests that named no payment, by reason: they could not be opened, or their session is unknown. */
  unidentified: Record<string, number> = {};
  /** Payments that had to make room for newer ones. */
  forgotten = 0;

  constructor(clock: Clock, capacity: number) {
    this.#clock = clock;
    this.#accounts = new BoundedMap(capacity);
  }

  /** A request for a payment has arrived. */
  arrive({ merchant, merchantRequestId, ...claim }: PaymentClaim): LedgerLine {
    if (merchant === undefined || merchantRequestId === undefined) {
      const nothing = (): void => undefined;
      return { accept: nothing, refuse: (reason) => count(this.unidentified, reason), answer: nothing };
    }
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
    const wanted = Object.entries(filter).filter(([, value]) => value !== undefined);
    return [...this.#accounts.values()]
      .map((account) => ({ ...account, outcome: outcomeOf(account) }))
      .filter((entry) => wanted.every(([name, value]) => entry[name as keyof LedgerFilter] === value));
  }

  /** Forgets all payments, or those of one merchant. */
  reset(merchant?: string): void {
    for (const [key, account] of this.#accounts) {
      if (merchant === undefined || account.merchant === merchant) this.#accounts.delete(key);
    }
    if (merchant !== undefined) return;
    this.unidentified = {};
    this.forgotten = 0;
  }

  #accountOf(claim: Pick<Account, keyof PaymentClaim>): Account {
    const key = JSON.stringify([claim.merchant, claim.operation, claim.merchantRequestId]);
    const known = this.#accounts.get(key);
    if (known !== undefined) return known;
    const now = toRfc3339(this.#clock.now());
    const account = { ...claim, firstAt: now, lastAt: now, requests: 0, accepted: 0, answered: 0, refusals: {} };
    if (this.#accounts.add(key, account)) this.forgotten += 1;
    return account;
  }
}

/** Totals of the entries; docs/reference/sandbox.md says what each of them counts. */
export function totalsOf(entries: readonly LedgerEntry[]): object {
  const having = (isSo: (entry: LedgerEntry) => boolean): number => entries.filter(isSo).length;
  const refusedByReason: Record<string, number> = {};
  for (const { refusals } of entries) {
    for (const [reason, times] of Object.entries(refusals)) count(refusedByReason, reason, times);
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
    refusedByReason,
  };
}

function outcomeOf({ accepted, requests, refusals }: Account): PaymentOutcome {
  if (accepted > 0) return 'accepted';
  const refused = Object.values(refusals).reduce((sum, times) => sum + times, 0);
  return refused < requests ? 'in_flight' : 'refused';
}

function count(counts: Record<string, number>, reason: string, times = 1): void {
  counts[reason] = (counts[reason] ?? 0) + times;
}
