import type { CreateCallWindow } from '#libs/session';
import type { Judge } from './judge.js';
import type { LeaseLedger } from './lease-ledger.js';
import { concerns, type Fault, isOfStoreAlone, type Scenario } from './scenario.js';
import type { IssuedToken } from './simulated-gateway.js';
import type { VirtualWorld } from './virtual-world.js';

/** Between the claim, which the budget counts, and the call, which is counted here: at most a lease. */
const CLAIM_TO_CALL_MS = 8_000;

/** A renewal this far ahead of its moment is early, but not needless: a store's clock may be a little ahead. */
const EARLY_MS = 2_000;

interface CreateCall {
  readonly owner: string;
  readonly atMs: number;
  inFlight: boolean;
}

export interface CallCheckParts {
  readonly world: VirtualWorld;
  readonly judge: Judge;
  readonly scenario: Scenario;
  readonly leases: LeaseLedger;
  readonly live: (merchant: string) => IssuedToken | undefined;
  /** Until when the session need not be renewed, if a running replica has it; undefined if none has. */
  readonly renewalDueAtMs: (issued: IssuedToken) => number | undefined;
  /** Whether the process with this name is running. */
  readonly isRunning: (owner: string) => boolean;
}

/** Checks how many calls are made: always within the budget, and needless ones as rarely as promised. */
export class CallCheck {
  readonly #parts: CallCheckParts;
  readonly #calls = new Map<string, CreateCall[]>();
  readonly #begun: { readonly fault: Fault; readonly leased: ReadonlySet<string> }[] = [];
  readonly #needless = new Map<string, number>();

  constructor(parts: CallCheckParts) {
    this.#parts = parts;
  }

  get total(): number {
    return [...this.#calls.values()].reduce((sum, calls) => sum + calls.length, 0);
  }

  get needless(): number {
    return [...this.#needless.values()].reduce((sum, count) => sum + count, 0);
  }

  faultBegins(fault: Fault): void {
    const { scenario, leases } = this.#parts;
    const leased = scenario.merchants.filter((merchant) => leases.wasLeased(merchant));
    this.#begun.push({ fault, leased: new Set(leased) });
  }

  called(merchant: string, owner: string): void {
    this.#countNeedless(merchant, owner);
    const calls = this.#callsOf(merchant);
    calls.push({ owner, atMs: this.#parts.world.nowMs, inFlight: true });
    this.#keepsCeiling(merchant, owner);
    if (this.#storeCountsAll()) this.#keepsBudget(merchant);
  }

  ended(merchant: string, owner: string): void {
    for (const call of this.#callsOf(merchant)) if (call.owner === owner) call.inFlight = false;
  }

  /** When the budget allows another call. */
  budgetFreeAtMs(merchant: string): number {
    const { scenario, leases } = this.#parts;
    const freeAtMs = scenario.budget.map(({ calls, perMs }) => {
      const firstAtMs = leases.takenAtMs(merchant, calls);
      return firstAtMs === undefined ? 0 : firstAtMs + perMs + this.#setBackMs();
    });
    return Math.max(...freeAtMs);
  }

  /** A window that is counted by a clock lasts longer by as much as the clock was set back. */
  #setBackMs(): number {
    return this.#begun.reduce(
      (sum, { fault }) => sum + (fault.kind === 'store_clock' ? Math.max(0, -fault.byMs) : 0),
      0,
    );
  }

  #countNeedless(merchant: string, owner: string): void {
    const why = this.#whyNeedless(merchant, owner);
    if (why === undefined) return;
    const count = (this.#needless.get(merchant) ?? 0) + 1;
    this.#needless.set(merchant, count);
    const allowed = this.#allowance(merchant);
    this.#parts.judge.note(() => `needless call ${count} of ${allowed} for ${merchant}: ${why}`);
    if (count > allowed) {
      const detail = `${count} for ${merchant}, ${allowed} at most; this one by ${owner} although ${why}`;
      this.#parts.judge.violated('no more create calls than expected', detail);
    }
  }

  #whyNeedless(merchant: string, owner: string): string | undefined {
    const { world, live, renewalDueAtMs, isRunning } = this.#parts;
    const other = this.#callsOf(merchant).find(
      (call) => call.inFlight && call.owner !== owner && isRunning(call.owner),
    );
    if (other !== undefined) return `a call by ${other.owner} is in flight`;
    const issued = live(merchant);
    if (issued === undefined) return undefined;
    const dueAtMs = renewalDueAtMs(issued);
    if (dueAtMs === undefined || dueAtMs <= world.nowMs + EARLY_MS) return undefined;
    return `the session lives and need not be renewed for ${Math.round(dueAtMs - world.nowMs)} ms`;
  }

  #allowance(merchant: string): number {
    const { scenario } = this.#parts;
    const begun = this.#begun.filter(({ fault }) => concerns(fault, merchant));
    const wrongClocks = scenario.wallOffsetsMs.filter((offsetMs) => offsetMs !== 0).length;
    return begun.reduce((sum, { fault, leased }) => sum + allowanceOf(fault, leased.has(merchant)), wrongClocks);
  }

  #storeCountsAll(): boolean {
    const forgetful: readonly string[] = ['store_emptied', 'store_failover', 'store_clock', 'record_damaged'];
    return !this.#begun.some(({ fault }) => forgetful.includes(fault.kind));
  }

  #keepsBudget(merchant: string): void {
    for (const window of this.#parts.scenario.budget) {
      const count = this.#recent(merchant, window).length;
      if (count <= window.calls) continue;
      const detail = `${count} calls for ${merchant} in ${window.perMs} ms`;
      this.#parts.judge.violated('the budget of a merchant is kept', detail);
    }
  }

  #keepsCeiling(merchant: string, owner: string): void {
    for (const window of this.#parts.scenario.budget) {
      const count = this.#recent(merchant, window).filter((call) => call.owner === owner).length;
      if (count <= window.calls) continue;
      const detail = `${count} calls for ${merchant} by ${owner} in ${window.perMs} ms`;
      this.#parts.judge.violated('the ceiling of a replica is kept', detail);
    }
  }

  #recent(merchant: string, { perMs }: CreateCallWindow): readonly CreateCall[] {
    const sinceMs = this.#parts.world.nowMs - perMs + CLAIM_TO_CALL_MS;
    return this.#callsOf(merchant).filter(({ atMs }) => atMs > sinceMs);
  }

  #callsOf(merchant: string): CreateCall[] {
    const known = this.#calls.get(merchant) ?? [];
    this.#calls.set(merchant, known);
    return known;
  }
}

/**
 * A store that forgets a claim while a call is made under it, or whose clock is set meanwhile, cannot
 * keep the next claimant from calling; then the session that was made last may be the one that nobody takes for the
 * newest, and a consumer's report leads to one more.
 */
function allowanceOf(fault: Fault, wasLeased: boolean): number {
  const forgetsLeases =
    fault.kind === 'store_emptied' ||
    fault.kind === 'store_failover' ||
    // Set back, what lies further ahead than its own length is over.
    fault.kind === 'store_clock';
  if (forgetsLeases) return wasLeased ? 2 : 0;
  return isOfStoreAlone(fault) ? 0 : 1;
}
