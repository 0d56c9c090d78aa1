import type { ClaimRequest, DueMerchants, Lease, LeaseRelease } from '#libs/session';

interface Grant {
  readonly owner: string;
  readonly fence: number;
  readonly atMs: number;
  endsAtMs: number;
  readonly coolDownMs: number;
  readonly budget: ClaimRequest['budget'];
  /** Given back unused: it then counts for neither budget nor cool-down. */
  unused: boolean;
}

interface Merchant {
  readonly grants: Grant[];
  dueAtMs: number;
  order: number;
  generation: number;
  failures: number;
}

/**
 * The rules of the store port as a history of grants that is searched from its beginning every time: too slow for use,
 * and too simple to be wrong. It predicts everything but the fence, which `granted` tells it.
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

  enrol(name: string, nowMs: number): void {
    if (!this.#merchants.has(name)) this.#known(name, nowMs);
  }

  due(nowMs: number): DueMerchants {
    const inOrder = [...this.#merchants].sort(([, a], [, b]) => a.dueAtMs - b.dueAtMs || a.order - b.order);
    const due = inOrder.filter(([, { dueAtMs }]) => dueAtMs <= nowMs);
    const next = inOrder[due.length]?.[1].dueAtMs;
    return { merchants: due.map(([name]) => name), ...(next === undefined ? {} : { nextDueInMs: next - nowMs }) };
  }

  claim(request: ClaimRequest, nowMs: number): unknown {
    const known = this.#merchants.get(request.merchant);
    const { merchant, owner, leaseMs } = request;
    if (known === undefined) return { kind: 'claimed', lease: { merchant, owner, remainingMs: leaseMs, failures: 0 } };
    if (known.generation > request.newerThan) return { kind: 'already_newer', generation: known.generation };
    const live = known.grants.find(({ endsAtMs }) => endsAtMs > nowMs);
    if (live !== undefined) {
      const leftMs = live.endsAtMs - nowMs;
      if (live.owner !== owner) return { kind: 'held', retryInMs: leftMs };
      return { kind: 'claimed', lease: { merchant, owner, remainingMs: leftMs, failures: known.failures } };
    }
    const waitMs = known.dueAtMs - nowMs;
    if (waitMs > 0 && request.mode === 'when_due') return { kind: 'not_due', retryInMs: waitMs };
    if (waitMs > 0 && known.failures > 0) return { kind: 'backing_off', retryInMs: waitMs };
    return (
      this.#limited(known, request, nowMs) ?? {
        kind: 'claimed',
        lease: { merchant, owner, remainingMs: leaseMs, failures: known.failures },
      }
    );
  }

  /** What the store granted, when `claim` had predicted a grant. */
  granted(lease: Lease, request: ClaimRequest, nowMs: number): void {
    const known = this.#known(lease.merchant, nowMs);
    if (known.grants.some(({ fence }) => fence === lease.fence)) return;
    const { owner, fence } = lease;
    const { coolDownMs, budget } = request;
    const endsAtMs = nowMs + request.leaseMs;
    known.grants.push({ owner, fence, atMs: nowMs, endsAtMs, coolDownMs, budget, unused: false });
    this.#fallsDue(known, endsAtMs);
  }

  publish(lease: Lease, nextDueInMs: number, nowMs: number): 'published' | 'fenced' {
    const known = this.#known(lease.merchant, nowMs);
    if (known.generation === lease.fence) return 'published';
    if (known.grants.some(({ fence }) => fence > lease.fence)) return 'fenced';
    known.generation = lease.fence;
    known.failures = 0;
    for (const grant of known.grants) grant.endsAtMs = Math.min(grant.endsAtMs, nowMs);
    this.#fallsDue(known, nowMs + nextDueInMs);
    return 'published';
  }

  release(lease: Lease, release: LeaseRelease, nowMs: number): boolean {
    const known = this.#known(lease.merchant, nowMs);
    const live = known.grants.find(({ fence, endsAtMs }) => fence === lease.fence && endsAtMs > nowMs);
    if (live === undefined) return false;
    live.endsAtMs = nowMs;
    live.unused = !release.called;
    if (release.failure !== undefined) known.failures += 1;
    this.#fallsDue(known, nowMs + release.nextDueInMs);
    return true;
  }

  /** At no moment may more than the budget of the latest grant lie in one window that ends with it. */
  checkBudgets(): void {
    for (const { grants } of this.#merchants.values()) {
      for (const { atMs, fence, budget, unused } of grants) {
        const before = grants.filter((other) => other.fence <= fence && other.atMs > atMs - budget.windowMs);
        if (!unused) expect(used(before).length).toBeLessThanOrEqual(budget.calls);
      }
    }
  }

  #limited({ grants }: Merchant, { coolDownMs, budget }: ClaimRequest, nowMs: number): unknown {
    const cooling = used(grants).findLast((grant) => grant.coolDownMs > 0);
    const coolsUntilMs = (cooling?.atMs ?? -Infinity) + coolDownMs;
    if (coolDownMs > 0 && coolsUntilMs > nowMs) return { kind: 'cooled_down', retryInMs: coolsUntilMs - nowMs };
    const inWindow = used(grants).filter(({ atMs }) => atMs > nowMs - budget.windowMs);
    const leaves = inWindow[inWindow.length - budget.calls];
    if (leaves === undefined) return undefined;
    return { kind: 'budget_exhausted', retryInMs: leaves.atMs + budget.windowMs - nowMs };
  }

  #known(name: string, nowMs: number): Merchant {
    const known = this.#merchants.get(name) ?? {
      grants: [],
      dueAtMs: nowMs,
      order: this.#order++,
      generation: 0,
      failures: 0,
    };
    this.#merchants.set(name, known);
    return known;
  }

  #fallsDue(merchant: Merchant, dueAtMs: number): void {
    merchant.dueAtMs = dueAtMs;
    merchant.order = this.#order++;
  }
}

const used = (grants: readonly Grant[]): readonly Grant[] => grants.filter(({ unused }) => !unused);
