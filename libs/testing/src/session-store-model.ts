import type { ClaimRequest, ClaimResult, DueMerchants, Lease, SessionStore } from '#libs/session';
import fc from 'fast-check';
import { aClaim, aRecordedFailure, aSession } from './builders.js';
import { ReferenceStore } from './reference-store.js';

/** The durations that a sequence draws from. */
export interface ModelDurations {
  readonly leaseMs: readonly number[];
  readonly nextDueInMs: readonly number[];
  readonly coolDownMs: readonly number[];
  readonly windowMs: number;
  /** Times that pass between operations; none where the clock cannot be moved. */
  readonly passMs: readonly number[];
}

/** An empty store whose time the test knows. */
export interface ModelBench {
  readonly store: SessionStore;
  readonly nowMs: () => number;
  readonly pass: (durationMs: number) => void;
  readonly jumpWall: (byMs: number) => void;
  /** Durations are compared in this unit; more than 1 where real time runs on beneath the test. */
  readonly unitMs: number;
}

export interface ModelStep {
  readonly name: string;
  readonly act: (run: ModelRun) => Promise<void>;
}

/** The store and the reference side by side, and every lease that was ever granted. */
export class ModelRun {
  readonly bench: ModelBench;
  readonly reference = new ReferenceStore();
  readonly leases: Lease[] = [];
  readonly #highestFence = new Map<string, number>();

  constructor(bench: ModelBench) {
    this.bench = bench;
  }

  /** After each step: generations only grow, budgets hold, and the same merchants are due. */
  async check(): Promise<void> {
    const { store, nowMs } = this.bench;
    this.reference.checkBudgets();
    for (const { merchant, stored } of await store.read(this.reference.merchants())) {
      const generation = stored.kind === 'session' ? stored.session.generation : 0;
      expect(generation).toBe(this.reference.generationOf(merchant));
    }
    expect(this.dueInUnits(await store.due(10))).toEqual(this.dueInUnits(this.reference.due(nowMs())));
  }

  noteGrant(lease: Lease): void {
    const repeated = this.leases.some(({ merchant, fence }) => merchant === lease.merchant && fence === lease.fence);
    if (!repeated) {
      expect(lease.fence).toBeGreaterThan(this.#highestFence.get(lease.merchant) ?? 0);
      this.#highestFence.set(lease.merchant, lease.fence);
    }
    this.leases.push(lease);
  }

  resultInUnits(result: ClaimResult): unknown {
    if (result.kind === 'already_newer') return result;
    if (result.kind !== 'claimed') return { ...result, retryInMs: this.#inUnits(result.retryInMs) };
    const { fence: _fence, ...lease } = result.lease;
    return { kind: 'claimed', lease: { ...lease, remainingMs: this.#inUnits(lease.remainingMs) } };
  }

  dueInUnits({ merchants, nextDueInMs }: DueMerchants): unknown {
    const inOrder = this.bench.unitMs === 1 ? merchants : [...merchants].sort();
    return { merchants: inOrder, nextDueInMs: nextDueInMs === undefined ? undefined : this.#inUnits(nextDueInMs) };
  }

  #inUnits(durationMs: number): number {
    return Math.round(durationMs / this.bench.unitMs) * this.bench.unitMs;
  }
}

const merchants = fc.constantFrom('shop', 'second');

function claimSteps({ leaseMs, coolDownMs, windowMs }: ModelDurations): fc.Arbitrary<ModelStep> {
  return fc
    .record({
      merchant: merchants,
      owner: fc.constantFrom('replica-1', 'replica-2', 'replica-3'),
      leaseMs: fc.constantFrom(...leaseMs),
      mode: fc.constantFrom('when_due', 'now'),
      coolDownMs: fc.constantFrom(...coolDownMs),
      calls: fc.constantFrom(1, 3),
      knows: fc.constantFrom('stored', 'nothing'),
    })
    .map(({ calls, knows, ...drawn }) => ({
      name: `claim ${JSON.stringify({ ...drawn, calls, knows })}`,
      act: async (run) => {
        const nowMs = run.bench.nowMs();
        const newerThan = knows === 'stored' ? run.reference.generationOf(drawn.merchant) : 0;
        const request: ClaimRequest = aClaim({ ...drawn, newerThan, budget: { calls, windowMs } });
        const expected = run.reference.claim(request, nowMs);
        const result = await run.bench.store.claim(request);
        expect(run.resultInUnits(result)).toEqual(expected);
        if (result.kind !== 'claimed') return;
        run.noteGrant(result.lease);
        run.reference.granted(result.lease, request, nowMs);
      },
    }));
}

function publishSteps({ nextDueInMs }: ModelDurations): fc.Arbitrary<ModelStep> {
  return fc.record({ pick: fc.nat(), nextDueInMs: fc.constantFrom(...nextDueInMs) }).map((drawn) => ({
    name: `publish ${JSON.stringify(drawn)}`,
    act: async (run) => {
      const lease = run.leases[drawn.pick % run.leases.length];
      if (lease === undefined) return;
      const session = aSession({ merchant: lease.merchant, generation: lease.fence });
      const expected = run.reference.publish(lease, drawn.nextDueInMs, run.bench.nowMs());
      expect(await run.bench.store.publish(lease, session, drawn.nextDueInMs)).toBe(expected);
    },
  }));
}

function releaseSteps({ nextDueInMs }: ModelDurations): fc.Arbitrary<ModelStep> {
  const due = fc.constantFrom(...nextDueInMs);
  return fc
    .record({ pick: fc.nat(), nextDueInMs: due, called: fc.boolean(), failed: fc.boolean() })
    .map(({ pick, failed, ...drawn }) => ({
      name: `release ${JSON.stringify({ pick, failed, ...drawn })}`,
      act: async (run) => {
        const lease = run.leases[pick % run.leases.length];
        if (lease === undefined) return;
        const release = { ...drawn, ...(failed ? { failure: aRecordedFailure() } : {}) };
        const expected = run.reference.release(lease, release, run.bench.nowMs());
        expect(await run.bench.store.release(lease, release)).toBe(expected);
      },
    }));
}

const enrolSteps: fc.Arbitrary<ModelStep> = merchants.map((merchant) => ({
  name: `enrol ${merchant}`,
  act: async (run) => {
    run.reference.enrol(merchant, run.bench.nowMs());
    await run.bench.store.enrol([merchant]);
  },
}));

function timeSteps({ passMs }: ModelDurations): fc.Arbitrary<ModelStep>[] {
  if (passMs.length === 0) return [];
  const pass = fc.constantFrom(...passMs).map((durationMs) => ({
    name: `let ${durationMs} ms pass`,
    act: async (run: ModelRun) => run.bench.pass(durationMs),
  }));
  const jump = fc.constantFrom(-3_600_000, 3_600_000).map((byMs) => ({
    name: `the wall clock jumps by ${byMs} ms`,
    act: async (run: ModelRun) => run.bench.jumpWall(byMs),
  }));
  return [pass, pass, pass, jump];
}

/** Random sequences of operations, to be held against `ReferenceStore`. */
export function sessionStoreSteps(durations: ModelDurations): fc.Arbitrary<ModelStep[]> {
  return fc.array(
    fc.oneof(
      { weight: 5, arbitrary: claimSteps(durations) },
      { weight: 3, arbitrary: publishSteps(durations) },
      { weight: 3, arbitrary: releaseSteps(durations) },
      { weight: 1, arbitrary: enrolSteps },
      ...timeSteps(durations),
    ),
    { maxLength: 60, size: 'max' },
  );
}
