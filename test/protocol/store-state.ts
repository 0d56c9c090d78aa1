import { instantFromEpochMs } from '#libs/clock';
import type { ClaimRequest, ClaimResult, DeathReport, Lease, LeaseRelease } from '#libs/session';
import type { Publication, ReportResult, StoredState } from '#libs/session';
import { memoryStore } from '#libs/store';

/** What the store keeps of the one merchant; undefined if it does not know it. */
export type StoreState = memoryStore.MerchantRecord | undefined;

/** What a replica asks the store. An offer is a publication without a lease; a sync is the read that a round makes. */
export type Question =
  | { readonly ask: 'claim'; readonly request: ClaimRequest }
  | { readonly ask: 'publish'; readonly lease: Lease; readonly publication: Publication }
  | { readonly ask: 'offer'; readonly publication: Publication }
  | { readonly ask: 'release'; readonly lease: Lease; readonly release: LeaseRelease }
  | { readonly ask: 'report'; readonly report: DeathReport }
  | { readonly ask: 'read' | 'sync'; readonly known: number };

export type Answer =
  | { readonly ask: 'claim'; readonly result: ClaimResult }
  | { readonly ask: 'publish' | 'offer'; readonly result: 'published' | 'fenced' }
  | { readonly ask: 'release'; readonly result: boolean }
  | { readonly ask: 'report'; readonly result: ReportResult }
  | { readonly ask: 'read' | 'sync'; readonly result: StoredState };

export interface Answered {
  readonly answer: Answer;
  readonly store: StoreState;
  /** What every replica is told, if anything. */
  readonly told: { readonly generation?: number } | undefined;
}

export const MERCHANT = 'shop';

/** The store's own clock, and how many leases it ever granted: no two in one millisecond, even if it forgot the first. */
export interface StoreClockReading {
  readonly ms: number;
  readonly grants: number;
}

const timeOf = ({ ms, grants }: StoreClockReading): memoryStore.StoreTime => ({
  monotonicMs: ms,
  wall: instantFromEpochMs(ms + 2 * grants),
});

export function isDue(store: StoreState, ms: number): boolean {
  if (store === undefined) return false;
  return memoryStore.dueIn([[MERCHANT, store]], 1, timeOf({ ms, grants: 0 })).merchants.length > 0;
}

export const endOf = ({ fromMs, lengthMs }: memoryStore.Moment): number => fromMs + lengthMs;

/** Asks the memory store, by its own rules. */
export function askStore(store: StoreState, question: Question, reading: StoreClockReading): Answered {
  const time = timeOf(reading);
  const before = store ?? memoryStore.newRecord(time);
  const after = <Result>({ record, announcement }: memoryStore.Outcome<Result>, answer: Answer): Answered => ({
    answer,
    store: record === before ? store : record,
    told: announcement?.kind === 'changed' ? announcement : undefined,
  });
  switch (question.ask) {
    case 'claim': {
      const outcome = memoryStore.claimIn(before, question.request, time);
      return after(outcome, { ask: 'claim', result: outcome.answer });
    }
    case 'publish':
    case 'offer': {
      const lease = question.ask === 'publish' ? question.lease : undefined;
      const outcome = memoryStore.publishIn(before, question.publication, { lease, time });
      return after(outcome, { ask: question.ask, result: outcome.answer });
    }
    case 'release': {
      const { lease, release } = question;
      const outcome = memoryStore.releaseIn(before, lease, { release, time });
      return after(outcome, { ask: 'release', result: outcome.answer });
    }
    case 'report': {
      const outcome = memoryStore.reportIn(before, MERCHANT, { report: question.report, time });
      return after(outcome, { ask: 'report', result: outcome.answer });
    }
    case 'read':
    case 'sync': {
      const result = memoryStore.stateIn(before, { merchant: MERCHANT, known: question.known }, time);
      return { answer: { ask: question.ask, result }, store: before, told: undefined };
    }
  }
}
