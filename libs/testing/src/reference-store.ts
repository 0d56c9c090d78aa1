import type { ClaimRequest, DueMerchants, Lease, LeaseRelease, MomentMark, Offer, OfferResult } from '#libs/session';

interface Moment {
  readonly mark: MomentMark;
  readonly atMs: number;
}

interface Grant {
  readonly owner: string;
  readonly fence: number;
  readonly atMs: number;
  readonly end: Moment;
  readonly coolDownMs: number;
  readonly budget: ClaimRequest['budget'];
  /** Released, published, offered for or followed by another grant: no lease any more. */
  isOver: boolean;
  /** Given back unused: it then counts for neither budget nor cool-down. */
  unused: boolean;
}

interface Merchant {
  readonly grants: Grant[];
  due: Moment;
  order: number;
  generation: number;
  answeredAtMs: number;
  isContested: boolean;
  failures: number;
}

/**
 * The rules of the store port as a history of grants that is searched from its beginning every time: too slow for use,
 * and too simple to be wrong. It predicts everything but the fence, which `granted` tells it, and how marks are written.
 */
export class ReferenceStore {
  readonly #merchants = new Map<string, Merchant>();
  #order = 0;

  merchants(): readonly string[] {
    return [...this.#merchants.keys()];
  }

  generationOf(name: string): number {
    return this.#merchants.get(name)?.generation ?? 0;
  }

  ageOf(name: string, nowMs: number): number {
    return nowMs - (this.#merchants.get(name)?.answeredAtMs ?? nowMs);
  }

  dueMarkOf(name: string): MomentMark | undefined {
    return this.#merchants.get(name)?.due.mark;
  }

  /** The highest number that was granted, published or offered. */
  newestOf(name: string): number {
    const known = this.#merchants.get(name);
    return known === undefined ? 0 : newest(known);
  }

  enrol(name: string, nowMs: number): void {
    if (!this.#merchants.has(name)) this.#known(name, nowMs);
  }

  due(nowMs: number): DueMerchants {
    const inOrder = [...this.#merchants].sort(([, a], [, b]) => a.due.atMs - b.due.atMs || a.order - b.order);
    const due = inOrder.filter(
      ([
        ,
        {
          due: { atMs },
        },
      ]) => atMs <= nowMs,
    );
    const next = inOrder[due.length]?.[1].due.atMs;
    return { merchants: due.map(([name]) => name), ...(next === undefined ? {} : { nextDueInMs: next - nowMs }) };
  }

  claim(request: ClaimRequest, nowMs: number): unknown {
    const known = this.#merchants.get(request.merchant);
    const { merchant, owner, leaseMs, watched } = request;
    if (known === undefined) return { kind: 'claimed', lease: { merchant, owner, remainingMs: leaseMs, failures: 0 } };
    if (known.generation > request.newerThan) return { kind: 'already_newer', generation: known.generation };
    const { failures } = known;
    const live = liveGrant(known, nowMs);
    if (live !== undefined) {
      const leftMs = live.end.atMs - nowMs;
      const isOwn = live.owner === owner;
      if (isOwn && live.fence > request.floor) {
        return { kind: 'claimed', lease: { merchant, owner, remainingMs: leftMs, failures } };
      }
      if (!isOwn && watched !== live.end.mark) return { kind: 'held', retryInMs: leftMs, mark: live.end.mark };
    }
    const waits = this.#waits(known, request, nowMs) ?? this.#limited(known, request, nowMs);
    return waits ?? { kind: 'claimed', lease: { merchant, owner, remainingMs: leaseMs, failures } };
  }

  /** What the store granted, when `claim` had predicted a grant. */
  granted(lease: Lease, request: ClaimRequest, nowMs: number): void {
    const known = this.#known(lease.merchant, nowMs);
    if (known.grants.some(({ fence }) => fence === lease.fence)) return;
    const { owner, fence } = lease;
    const { coolDownMs, budget } = request;
    for (const grant of known.grants) grant.isOver = true;
    const end = this.#fallsDue(known, nowMs + request.leaseMs);
    known.grants.push({ owner, fence, atMs: nowMs, end, coolDownMs, budget, isOver: false, unused: false });
  }

  publish(lease: Lease, { nextDueInMs, ageMs }: { nextDueInMs: number; ageMs: number }, nowMs: number): string {
    const known = this.#known(lease.merchant, nowMs);
    if (known.generation === lease.fence) return 'published';
    if (newest(known) > lease.fence) return 'fenced';
    this.#holds(known, { generation: lease.fence, answeredAtMs: nowMs - ageMs, isContested: false });
    for (const grant of known.grants) if (grant.fence === lease.fence) grant.isOver = true;
    known.failures = 0;
    this.#fallsDue(known, nowMs + nextDueInMs);
    return 'published';
  }

  offer({ session, basis, ageMs, nextDueInMs }: Offer, nowMs: number): OfferResult {
    const { generation } = session;
    const known = this.#known(session.merchant, nowMs);
    const live = liveGrant(known, nowMs);
    const isBeside = live !== undefined && live.fence !== generation;
    const isSame = known.generation === generation;
    const isUnknown = [known.generation, newest(known)].some((other) => other > basis && other !== generation);
    const isContested = isBeside || isUnknown || (isSame && known.isContested);
    if (isSame) return { kind: 'taken', generation, isContested };
    if (newest(known) > generation) return { kind: 'refused', generation: newest(known), isContested };
    this.#holds(known, { generation, answeredAtMs: nowMs - ageMs, isContested });
    if (isBeside) return { kind: 'taken', generation, isContested };
    for (const grant of known.grants) grant.isOver = true;
    known.failures = 0;
    this.#fallsDue(known, nowMs + nextDueInMs);
    return { kind: 'taken', generation, isContested };
  }

  release(lease: Lease, release: LeaseRelease, nowMs: number): boolean {
    const known = this.#known(lease.merchant, nowMs);
    const live = liveGrant(known, nowMs);
    if (live?.fence !== lease.fence) return false;
    live.isOver = true;
    live.unused = !release.called;
    if (release.failure !== undefined) known.failures += 1;
    this.#fallsDue(known, nowMs + release.nextDueInMs);
    return true;
  }

  /** To be asked after each grant: no more than its budget may lie in the window that ends with it. */
  checkBudgets(): void {
    for (const { grants } of this.#merchants.values()) {
      const latest = grants.at(-1);
      if (latest === undefined || latest.unused) continue;
      const { atMs, budget } = latest;
      const inWindow = used(grants).filter((other) => other.atMs > atMs - budget.windowMs);
      expect(inWindow.length).toBeLessThanOrEqual(budget.calls);
    }
  }

  #waits({ due, failures }: Merchant, { mode, watched, ignoresBackOff }: ClaimRequest, nowMs: number): unknown {
    const retryInMs = due.atMs - nowMs;
    if (retryInMs <= 0 || watched === due.mark) return undefined;
    if (mode === 'when_due') return { kind: 'not_due', retryInMs, mark: due.mark };
    return failures > 0 && ignoresBackOff !== true ? { kind: 'backing_off', retryInMs, mark: due.mark } : undefined;
  }

  #limited({ grants }: Merchant, { coolDownMs, budget, watched }: ClaimRequest, nowMs: number): unknown {
    const cooling = used(grants).findLast((grant) => grant.coolDownMs > 0);
    const coolsUntilMs = (cooling?.atMs ?? -Infinity) + coolDownMs;
    const mark = `cool:${cooling?.fence}`;
    if (coolDownMs > 0 && coolsUntilMs > nowMs && watched !== mark) {
      return { kind: 'cooled_down', retryInMs: coolsUntilMs - nowMs, mark };
    }
    const inWindow = used(grants).filter(({ atMs }) => atMs > nowMs - budget.windowMs);
    const leaves = inWindow[inWindow.length - budget.calls];
    if (leaves === undefined) return undefined;
    const retryInMs = leaves.atMs + budget.windowMs - nowMs;
    return { kind: 'budget_exhausted', retryInMs, mark: `budget:${leaves.fence}` };
  }

  #known(name: string, nowMs: number): Merchant {
    const known = this.#merchants.get(name) ?? {
      grants: [],
      due: { mark: `due:${this.#order}`, atMs: nowMs },
      order: this.#order++,
      generation: 0,
      answeredAtMs: 0,
      isContested: false,
      failures: 0,
    };
    this.#merchants.set(name, known);
    return known;
  }

  #holds(merchant: Merchant, session: Pick<Merchant, 'generation' | 'answeredAtMs' | 'isContested'>): void {
    Object.assign(merchant, session);
  }

  #fallsDue(merchant: Merchant, atMs: number): Moment {
    merchant.order = this.#order++;
    merchant.due = { mark: `due:${merchant.order}`, atMs };
    return merchant.due;
  }
}

const newest = ({ grants, generation }: Merchant): number => Math.max(generation, ...grants.map(({ fence }) => fence));

const liveGrant = ({ grants }: Merchant, nowMs: number): Grant | undefined =>
  grants.find(({ isOver, end }) => !isOver && end.atMs > nowMs);

const used = (grants: readonly Grant[]): readonly Grant[] => grants.filter(({ unused }) => !unused);
