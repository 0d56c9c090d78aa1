import type { ClaimRequest, ClaimResult, DueMerchants, Lease, MomentMark, SessionStore } from '#libs/session';
import fc from 'fast-check';
import { aClaim, anOffer, aPublication, aRecordedFailure, aSession } from './builders.js';
import { MarkPairs } from './mark-pairs.js';
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

/** The answer to a claim, in the units of the bench. */
interface Answer {
  readonly mark?: MomentMark | undefined;
  readonly [fact: string]: unknown;
}

/** The store and the reference side by side, and every lease that was ever granted. */
export class ModelRun {
  readonly bench: ModelBench;
  readonly reference = new ReferenceStore();
  readonly leases: Lease[] = [];
  readonly #marks: MarkPairs;
  readonly #highestFence = new Map<string, number>();

  constructor(bench: ModelBench) {
    this.bench = bench;
    this.#marks = new MarkPairs(bench.unitMs === 1);
  }

  /** After each step: generations only grow, budgets hold, and the same merchants are due. */
  async check(): Promise<void> {
    const { store, nowMs } = this.bench;
    this.reference.checkBudgets();
    for (const merchant of this.reference.merchants()) await this.#checkMerchant(merchant);
    expect(this.dueInUnits(await store.due(10))).toEqual(this.dueInUnits(this.reference.due(nowMs())));
  }

  noteGrant(lease: Lease, floor: number): void {
    const repeated = this.leases.some(({ merchant, fence }) => merchant === lease.merchant && fence === lease.fence);
    expect(lease.fence).toBeGreaterThan(floor);
    if (!repeated) {
      expect(lease.fence % 2).toBe(0);
      expect(lease.fence).toBeGreaterThan(this.#highestFence.get(lease.merchant) ?? 0);
      expect(lease.fence).toBeGreaterThan(this.reference.newestOf(lease.merchant));
      this.#highestFence.set(lease.merchant, lease.fence);
    }
    this.leases.push(lease);
  }

  /** A mark that the store has named of this merchant; none where two moments may bear one mark, in a store that is fast. */
  someMark(merchant: string, pick: number): { real?: MomentMark; expected?: MomentMark } {
    return this.bench.unitMs === 1 ? this.#marks.some(merchant, pick) : {};
  }

  /** Same kind, same durations in units, and a mark that stands for the same moment. */
  expectResult(merchant: string, result: ClaimResult, expected: unknown): void {
    const { mark, ...rest } = this.#resultInUnits(result);
    const { mark: expectedMark, ...expectedRest } = expected as Answer;
    expect(rest).toEqual(expectedRest);
    // Calls of one millisecond leave the window together: which of them is named is the adapter's choice.
    if (result.kind === 'budget_exhausted') expect(mark).toEqual(expect.any(String));
    else this.#marks.pair(merchant, mark, expectedMark);
  }

  dueInUnits({ merchants, nextDueInMs }: DueMerchants): unknown {
    const inOrder = this.bench.unitMs === 1 ? merchants : [...merchants].sort();
    return { merchants: inOrder, nextDueInMs: nextDueInMs === undefined ? undefined : this.#inUnits(nextDueInMs) };
  }

  async #checkMerchant(merchant: string): Promise<void> {
    const { store, nowMs } = this.bench;
    const generation = this.reference.generationOf(merchant);
    const asked = [0, generation].map((known) => ({ merchant, known }));
    const [whole, known] = (await store.read(asked)).states;
    if (whole === undefined || known === undefined) throw new Error('a read answers for everything that was asked');
    this.#marks.pair(merchant, whole.dueMark, this.reference.dueMarkOf(merchant));
    expect([whole.stored.kind, known.stored.kind]).toEqual(
      generation === 0 ? ['absent', 'absent'] : ['session', 'unchanged'],
    );
    if (whole.stored.kind !== 'session' || known.stored.kind !== 'unchanged') return;
    expect(whole.stored.session.generation).toBe(generation);
    const ageMs = this.#inUnits(this.reference.ageOf(merchant, nowMs()));
    expect([whole.stored.ageMs, known.stored.ageMs].map((age) => this.#inUnits(age))).toEqual([ageMs, ageMs]);
  }

  #resultInUnits(result: ClaimResult): Answer {
    if (result.kind === 'already_newer') return { ...result };
    if (result.kind !== 'claimed') return { ...result, retryInMs: this.#inUnits(result.retryInMs) };
    const { fence: _fence, ...lease } = result.lease;
    const inUnits = { ...lease, remainingMs: this.#inUnits(lease.remainingMs) };
    return { kind: 'claimed', lease: inUnits };
  }

  #inUnits(durationMs: number): number {
    // Added to, because a rounded negative is a negative zero, which is no zero for toEqual.
    return Math.round(durationMs / this.bench.unitMs) * this.bench.unitMs + 0;
  }
}

const merchants = fc.constantFrom('shop', 'second');
const ages = fc.constantFrom(0, 7);

const watching = (request: ClaimRequest, watched: MomentMark | undefined): ClaimRequest =>
  watched === undefined ? request : { ...request, watched };

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
      ignoresBackOff: fc.boolean(),
      called: fc.option(fc.nat()),
      watches: fc.option(fc.nat()),
    })
    .map(({ calls, knows, called, watches, ...drawn }) => ({
      name: `claim ${JSON.stringify({ ...drawn, calls, knows, called, watches })}`,
      act: async (run) => {
        const nowMs = run.bench.nowMs();
        const newerThan = knows === 'stored' ? run.reference.generationOf(drawn.merchant) : 0;
        const floor = called === null ? 0 : (run.leases[called % run.leases.length]?.fence ?? 0);
        const request: ClaimRequest = aClaim({ ...drawn, newerThan, floor, budget: { calls, windowMs } });
        const watched = watches === null ? {} : run.someMark(drawn.merchant, watches);
        const expected = run.reference.claim(watching(request, watched.expected), nowMs);
        const result = await run.bench.store.claim(watching(request, watched.real));
        run.expectResult(drawn.merchant, result, expected);
        if (result.kind !== 'claimed') return;
        run.noteGrant(result.lease, floor);
        run.reference.granted(result.lease, request, nowMs);
      },
    }));
}

function publishSteps({ nextDueInMs }: ModelDurations): fc.Arbitrary<ModelStep> {
  const drawn = fc.record({ pick: fc.nat(), nextDueInMs: fc.constantFrom(...nextDueInMs), ageMs: ages });
  return drawn.map(({ pick, ...times }) => ({
    name: `publish ${JSON.stringify({ pick, ...times })}`,
    act: async (run) => {
      const lease = run.leases[pick % run.leases.length];
      if (lease === undefined) return;
      const session = aSession({ merchant: lease.merchant, generation: lease.fence });
      const expected = run.reference.publish(lease, times, run.bench.nowMs());
      expect(await run.bench.store.publish(lease, aPublication(session, times))).toBe(expected);
    },
  }));
}

/** Made alone, a little before or after what is the newest; or made under some lease. */
function offerSteps({ nextDueInMs }: ModelDurations): fc.Arbitrary<ModelStep> {
  return fc
    .record({
      merchant: merchants,
      ahead: fc.integer({ min: -3, max: 3 }),
      underLease: fc.option(fc.nat()),
      knows: fc.constantFrom('newest', 'stored', 'nothing'),
      ageMs: ages,
      nextDueInMs: fc.constantFrom(...nextDueInMs),
    })
    .map(({ merchant, ahead, underLease, knows, ...times }) => ({
      name: `offer ${JSON.stringify({ merchant, ahead, underLease, knows, ...times })}`,
      act: async (run) => {
        const lease = underLease === null ? undefined : run.leases[underLease % run.leases.length];
        const name = lease?.merchant ?? merchant;
        const newest = run.reference.newestOf(name);
        const generation = lease?.fence ?? Math.max(1, newest + ahead);
        const known = { newest, stored: run.reference.generationOf(name), nothing: 0 };
        const offer = anOffer(aSession({ merchant: name, generation }), { basis: known[knows], ...times });
        const expected = run.reference.offer(offer, run.bench.nowMs());
        expect(await run.bench.store.offer(offer)).toEqual(expected);
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
      { weight: 2, arbitrary: offerSteps(durations) },
      { weight: 3, arbitrary: releaseSteps(durations) },
      { weight: 1, arbitrary: enrolSteps },
      ...timeSteps(durations),
    ),
    { maxLength: 60, size: 'max' },
  );
}
