import { instantFromEpochMs } from '#libs/clock';
import type { ClaimRequest, ClaimResult, DeathReport, Lease, LeaseRelease } from '#libs/session';
import type { Offer, OfferResult, Publication, StoredState } from '#libs/session';
import { MerchantLedger } from '../../libs/store/src/memory/merchant-ledger.js';

/** What a replica asks the store about its one merchant. */
export type Question =
  | { readonly ask: 'claim'; readonly request: ClaimRequest }
  | { readonly ask: 'publish'; readonly lease: Lease; readonly publication: Publication }
  | { readonly ask: 'release'; readonly lease: Lease; readonly release: LeaseRelease }
  | { readonly ask: 'offer'; readonly offer: Offer }
  | { readonly ask: 'condemn'; readonly generation: number }
  | { readonly ask: 'report'; readonly report: DeathReport; readonly atMs: number }
  | { readonly ask: 'read'; readonly known: number }
  /** Makes the merchant known first. */
  | { readonly ask: 'sync'; readonly known: number };

interface Results {
  readonly claim: ClaimResult;
  readonly publish: 'published' | 'fenced';
  readonly release: boolean;
  readonly offer: OfferResult;
  readonly condemn: boolean;
  readonly report: boolean;
  readonly read: StoredState;
  readonly sync: StoredState;
}

export type Answer = { [Ask in keyof Results]: { readonly ask: Ask; readonly result: Results[Ask] } }[keyof Results];

export interface Answered {
  readonly answer: Answer;
  /** The same one if nothing was written. */
  readonly store: StoreState;
  /** What every replica is told, if anything. */
  readonly told?: { readonly generation?: number };
}

export const MERCHANT = 'shop';

/** The memory store as a value: asking it something gives another one. */
export class StoreState {
  readonly #ledger: MerchantLedger;

  constructor(ledger = new MerchantLedger()) {
    this.#ledger = ledger;
  }

  get kept(): ReturnType<MerchantLedger['kept']> {
    return this.#ledger.kept(MERCHANT);
  }

  isDue(clockMs: number): boolean {
    return this.#ledger.due(1, timeAt(clockMs, 0)).merchants.length > 0;
  }

  /**
   * @param clockMs the store's own clock, by which it measures everything
   * @param grants no two leases are granted in the same millisecond, on whichever side of a lost write
   */
  ask(question: Question, clockMs: number, grants: number): Answered {
    const time = timeAt(clockMs, grants);
    if (question.ask === 'read') {
      const result = this.#ledger.read({ merchant: MERCHANT, known: question.known }, time);
      return { answer: { ask: 'read', result }, store: this };
    }
    const ledger = this.#ledger.copied();
    const store = new StoreState(ledger);
    switch (question.ask) {
      case 'claim': {
        const result = ledger.claim(question.request, time);
        const isNew = ledger.kept(MERCHANT).record?.lease !== undefined && result.kind === 'claimed';
        return { answer: { ask: 'claim', result }, store: isNew ? store : this };
      }
      case 'publish': {
        const { lease, publication } = question;
        const { result, hasChanged } = ledger.publish(lease, publication, time);
        const answer = { ask: 'publish', result } as const;
        return hasChanged ? { answer, store, told: { generation: lease.fence } } : { answer, store: this };
      }
      case 'release': {
        const { lease, release } = question;
        const result = ledger.release(lease, release, time);
        const answer = { ask: 'release', result } as const;
        if (!result) return { answer, store: this };
        return release.failure === undefined ? { answer, store } : { answer, store, told: {} };
      }
      case 'offer': {
        const { result, hasChanged } = ledger.offer(question.offer, time);
        const answer = { ask: 'offer', result } as const;
        const { generation } = question.offer.session;
        return hasChanged ? { answer, store, told: { generation } } : { answer, store: this };
      }
      case 'condemn': {
        const { result, hasChanged } = ledger.condemn(MERCHANT, question.generation);
        const answer = { ask: 'condemn', result } as const;
        return hasChanged ? { answer, store, told: {} } : { answer, store: this };
      }
      case 'report': {
        const result = ledger.reportDead(MERCHANT, question.report, time);
        return { answer: { ask: 'report', result }, store: result ? store : this, ...(result ? { told: {} } : {}) };
      }
      case 'sync': {
        const isKnown = this.kept.due !== undefined;
        ledger.enrol([MERCHANT], time);
        const result = ledger.read({ merchant: MERCHANT, known: question.known }, time);
        return { answer: { ask: 'sync', result }, store: isKnown ? this : store };
      }
    }
  }
}

function timeAt(clockMs: number, grants: number): { monotonicMs: number; wall: ReturnType<typeof instantFromEpochMs> } {
  return { monotonicMs: clockMs, wall: instantFromEpochMs(clockMs + 2 * grants) };
}
