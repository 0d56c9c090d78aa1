import type { ClaimRequest, ClaimResult, DeathReport, DueMerchants, Lease, LeaseRelease, Offer } from '#libs/session';
import type { OfferResult, Publication, Session } from '#libs/session';
import * as rules from './store-rules.js';
import { type Made, type Merchant, type ReadMerchant, remaining, storeRules, unknownMerchant } from './store-rules.js';

/** Tells a session from another of the same generation. */
export const identityOf = ({ authToken, deviceId }: Session): string => `${authToken}/${deviceId}`;

const SEATS = 1_024;

/**
 * The store port as specified: every operation with its full result, at a moment that the caller gives. A store under
 * test is held to it, and it can be copied at any moment (a failover goes back to a copy).
 */
export class SpecifiedStore {
  #merchants = new Map<string, Merchant>();
  /** Merchants that are due at the same moment come in the order in which that was decided. */
  #dueOrder = new Map<string, number>();
  #dueMomentsSet = 0;
  #seats = new Map<string, number>();

  clone(): SpecifiedStore {
    const copy = new SpecifiedStore();
    copy.#merchants = new Map(this.#merchants);
    copy.#dueOrder = new Map(this.#dueOrder);
    copy.#dueMomentsSet = this.#dueMomentsSet;
    copy.#seats = new Map(this.#seats);
    return copy;
  }

  /** What is kept of the merchant; it never changes, the next operation makes a new one. */
  merchant(name: string): Merchant {
    return this.#merchants.get(name) ?? unknownMerchant;
  }

  enrolled(): readonly string[] {
    return [...this.#merchants].filter(([, { due }]) => due !== undefined).map(([name]) => name);
  }

  enrol(names: readonly string[], nowMs: number): void {
    for (const name of names) this.#becomes(name, rules.enrol(this.merchant(name), nowMs));
  }

  /** For an owner with a seat, whether `drawn` is that seat; otherwise whether `drawn` may become its seat. */
  seat(owner: string, drawn: number): boolean {
    const known = this.#seats.get(owner);
    if (known !== undefined) return known === drawn;
    const isTaken = [...this.#seats.values()].includes(drawn);
    if (isTaken && this.#seats.size < SEATS) return false;
    for (const [other, seat] of this.#seats) if (seat === drawn) this.#seats.delete(other);
    this.#seats.set(owner, drawn);
    return Number.isInteger(drawn) && drawn >= 0 && drawn < SEATS;
  }

  due(limit: number, nowMs: number): DueMerchants {
    const inOrder = [...this.#merchants]
      .flatMap(([name, { due }]) => (due === undefined ? [] : [{ name, due, order: this.#dueOrder.get(name) ?? 0 }]))
      .sort((a, b) => a.due.endsAt - b.due.endsAt || a.order - b.order);
    const merchants = inOrder.filter(({ due }) => remaining(due, nowMs) === 0).slice(0, limit);
    const next = inOrder[merchants.length];
    const named = merchants.map(({ name }) => name);
    return next === undefined ? { merchants: named } : { merchants: named, nextDueInMs: remaining(next.due, nowMs) };
  }

  /**
   * `time.wallMs`: the clock that fences are seeded from, if it is a different one. `time.fence`: what the store under
   * test granted, if its clock is not known to the millisecond; compare it with `leastFence` first.
   */
  claim(
    request: ClaimRequest,
    nowMs: number,
    time: { readonly wallMs?: number; readonly fence?: number } = {},
  ): ClaimResult {
    const asked = { ...request, clock: nowMs, rules: storeRules };
    const [result, next] = rules.claim(this.merchant(request.merchant), asked, {
      wall: time.wallMs ?? nowMs,
      fence: time.fence,
    });
    this.#becomes(request.merchant, next);
    return result;
  }

  /** A fence is even, and at least this; how much higher it is depends on the store's clock. */
  leastFence({ merchant: name, floor }: ClaimRequest): number {
    const merchant = this.merchant(name);
    return storeRules.nextFence(Math.max(merchant.fence, rules.generationOf(merchant), floor), 0);
  }

  publish(lease: Lease, publication: Publication, nowMs: number): 'published' | 'fenced' {
    const made = { ...madeBy(publication), owner: lease.owner };
    const [result, next] = rules.publish(this.merchant(lease.merchant), made, { clock: nowMs, rules: storeRules });
    this.#becomes(lease.merchant, next);
    return result;
  }

  offer(offer: Offer, nowMs: number): OfferResult {
    const name = offer.session.merchant;
    const made = { ...madeBy(offer), known: offer.known };
    const [result, next] = rules.offer(this.merchant(name), made, { clock: nowMs, rules: storeRules });
    this.#becomes(name, next);
    return result;
  }

  release(lease: Lease, release: LeaseRelease, nowMs: number): boolean {
    const [result, next] = rules.release(this.merchant(lease.merchant), lease, { ...release, clock: nowMs });
    this.#becomes(lease.merchant, next);
    return result;
  }

  condemn(name: string, generation: number): boolean {
    const [result, next] = rules.condemn(this.merchant(name), generation);
    this.#becomes(name, next);
    return result;
  }

  reportDead(name: string, report: DeathReport, nowMs: number): boolean {
    const [result, next] = rules.reportDead(this.merchant(name), report, nowMs);
    this.#becomes(name, next);
    return result;
  }

  read(name: string, known: number, nowMs: number): ReadMerchant {
    return rules.read(this.merchant(name), known, nowMs);
  }

  #becomes(name: string, next: Merchant): void {
    const before = this.#merchants.get(name);
    if (before === next || next === unknownMerchant) return;
    this.#merchants.set(name, next);
    if (before?.due !== next.due) this.#dueOrder.set(name, this.#dueMomentsSet++);
  }
}

function madeBy({ session, ageMs, nextDueInMs }: Publication): Made {
  return { generation: session.generation, identity: identityOf(session), age: ageMs, nextDueIn: nextDueInMs };
}
