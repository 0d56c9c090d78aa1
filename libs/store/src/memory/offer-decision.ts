import type { Offer, OfferResult } from '#libs/session';
import { liveLease, type MerchantRecord } from './merchant-record.js';

/**
 * Whether a lease continues alongside an offer: it is the offering replica's own only if the session was made under it.
 */
function foreignLease(record: MerchantRecord, generation: number, nowMs: number): boolean {
  const lease = liveLease(record, nowMs);
  return lease !== undefined && lease.fence !== generation;
}

interface OfferDecision {
  readonly result: OfferResult;
  /** Whether anything has to be written: not if the offer is refused or already stored. */
  readonly isNew: boolean;
  readonly keepsLease: boolean;
}

/** Whether a session without a lease becomes the store's, and whether another one was or is being made alongside it. */
export function decideOffer(offer: Offer, record: MerchantRecord, nowMs: number): OfferDecision {
  const { generation } = offer.session;
  const stored = record.stored?.session.generation ?? 0;
  const unknownToMaker = (number: number): boolean => number > offer.known && number !== generation;
  const isRepeated = stored === generation;
  const keepsLease = foreignLease(record, generation, nowMs);
  const isContested =
    (isRepeated && record.stored?.isContested === true) ||
    keepsLease ||
    unknownToMaker(stored) ||
    unknownToMaker(record.fence);
  const isNew = generation > stored && generation >= record.fence;
  if (!isNew && !isRepeated) {
    return { result: { kind: 'refused', generation: Math.max(stored, record.fence), isContested }, isNew, keepsLease };
  }
  return { result: { kind: 'taken', generation, isContested }, isNew, keepsLease };
}
