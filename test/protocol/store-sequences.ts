import type {
  ClaimRequest,
  ClaimResult,
  CreateCallBudget,
  DueMerchants,
  Lease,
  MomentMark,
  Session,
  SessionStore,
  StoredSession,
} from '#libs/session';
import { aClaim, anOffer, aPublication, aRecordedFailure, aSession } from '#libs/testing';
import fc from 'fast-check';
import { MarkPairs, type PairedMark } from './mark-pairs.js';
import { identityOf, SpecifiedStore } from './specified-store.js';
import type { ReadMerchant } from './store-rules.js';

/** The durations that a sequence draws from. */
export interface Durations {
  readonly leaseMs: readonly number[];
  readonly nextDueInMs: readonly number[];
  readonly coolDownMs: readonly number[];
  /** For a budget of one or two windows. */
  readonly windowsMs: readonly [number, number];
  /** Times that pass between operations; none if the clock cannot be moved. */
  readonly passMs: readonly number[];
}

/** An empty store whose time the test knows. */
export interface Bench {
  readonly store: SessionStore;
  readonly nowMs: () => number;
  /** The clock that fences are seeded from; undefined if it is known only by its effects. */
  readonly wallMs: () => number | undefined;
  readonly pass: (durationMs: number) => void;
  readonly jumpWall: (byMs: number) => void;
  /** Durations are compared in this unit; more than 1 if real time passes during the test. */
  readonly unitMs: number;
}

export interface SequenceStep {
  readonly name: string;
  readonly act: (run: SequenceRun) => Promise<void>;
}

/** The store and the specification side by side, and every lease ever granted. */
export class SequenceRun {
  readonly bench: Bench;
  readonly specified = new SpecifiedStore();
  readonly leases: Lease[] = [];
  readonly #marks: MarkPairs;

  constructor(bench: Bench) {
    this.bench = bench;
    this.#marks = new MarkPairs(bench.unitMs === 1);
  }

  /** After each step the same merchants are due, and a read returns the same for each. */
  async check(): Promise<void> {
    const { store, nowMs } = this.bench;
    for (const merchant of this.specified.enrolled()) await this.#checkMerchant(merchant);
    expect(this.#dueInUnits(await store.due(10))).toEqual(this.#dueInUnits(this.specified.due(10, nowMs())));
  }

  /**
   * Compares the whole answer; of a clock that the specification does not know, it checks that the fence is even, and
   * above all known.
   */
  async claim(request: ClaimRequest, watched: PairedMark): Promise<void> {
    const [nowMs, wallMs] = [this.bench.nowMs(), this.bench.wallMs()];
    const leastFence = this.specified.leastFence(request);
    const result = await this.bench.store.claim(watching(request, watched.real));
    const fence = result.kind === 'claimed' ? result.lease.fence : undefined;
    const seed = wallMs === undefined ? { ...(fence === undefined ? {} : { fence }) } : { wallMs };
    const lastGrant = this.specified.merchant(request.merchant).lease;
    const expected = this.specified.claim(watching(request, watched.expected), nowMs, seed);
    this.#expectClaim(request.merchant, result, expected);
    if (result.kind !== 'claimed') return;
    const isNew = this.specified.merchant(request.merchant).lease !== lastGrant;
    if (isNew) expect(result.lease.fence).toBeGreaterThanOrEqual(leastFence);
    expect(result.lease.fence % 2).toBe(0);
    this.leases.push(result.lease);
  }

  /** A mark that the store has named for this merchant; none if two moments may share a mark, in a fast store. */
  someMark(merchant: string, pick: number): PairedMark {
    return this.bench.unitMs === 1 ? this.#marks.some(merchant, pick) : {};
  }

  generationOf(merchant: string): number {
    return this.specified.merchant(merchant).session?.generation ?? 0;
  }

  #expectClaim(merchant: string, result: ClaimResult, expected: ClaimResult): void {
    expect(this.#claimInUnits(result)).toEqual(this.#claimInUnits(expected));
    const [mark, expectedMark] = [result, expected].map((one) => ('mark' in one ? one.mark : undefined));
    // Calls of the same millisecond leave the window together: which of them is named is up to the adapter.
    if (result.kind === 'budget_exhausted') expect(mark).toEqual(expect.any(String));
    else this.#marks.pair(merchant, mark, expectedMark);
  }

  async #checkMerchant(merchant: string): Promise<void> {
    const { store, nowMs } = this.bench;
    for (const known of new Set([0, this.generationOf(merchant)])) {
      const expected = this.specified.read(merchant, known, nowMs());
      const [state] = (await store.read([{ merchant, known }])).states;
      if (state === undefined) throw new Error('a read answers for everything that was asked');
      this.#marks.pair(merchant, state.dueMark, expected.dueMark);
      expect(this.#stateInUnits({ ...state, stored: identified(state.stored) })).toEqual(
        this.#stateInUnits({ merchant, ...expected }),
      );
    }
  }

  #stateInUnits(read: ReadMerchant & { merchant: string }): unknown {
    const { stored, dueInMs, dueMark: _paired, reportedDead, ...state } = read;
    return {
      ...state,
      reportedDead:
        reportedDead === undefined ? undefined : { ...reportedDead, ageMs: this.#inUnits(reportedDead.ageMs) },
      stored: 'ageMs' in stored ? { ...stored, ageMs: this.#inUnits(stored.ageMs) } : stored,
      dueInMs: dueInMs === undefined ? undefined : this.#inUnits(dueInMs),
    };
  }

  #dueInUnits({ merchants, nextDueInMs }: DueMerchants): unknown {
    const inOrder = this.bench.unitMs === 1 ? merchants : [...merchants].sort();
    return { merchants: inOrder, nextDueInMs: nextDueInMs === undefined ? undefined : this.#inUnits(nextDueInMs) };
  }

  #claimInUnits(result: ClaimResult): unknown {
    if (result.kind === 'already_newer') return result;
    if (result.kind === 'claimed') {
      const { lease } = result;
      return { kind: 'claimed', lease: { ...lease, remainingMs: this.#inUnits(lease.remainingMs) } };
    }
    return { kind: result.kind, retryInMs: this.#inUnits(result.retryInMs) };
  }

  #inUnits(durationMs: number): number {
    // The + 0 is needed because a rounded negative is a negative zero, which is not zero to toEqual.
    return Math.round(durationMs / this.bench.unitMs) * this.bench.unitMs + 0;
  }
}

/** What the specification keeps of a session: which one it is. */
function identified(stored: StoredSession): ReadMerchant['stored'] {
  if (stored.kind === 'unopenable') throw new Error('what the sequence has written can be opened');
  if (stored.kind !== 'session') return stored;
  const { session, ageMs } = stored;
  return { kind: 'session', generation: session.generation, identity: identityOf(session), ageMs };
}

/** One session for each merchant and generation, different from every other. */
const sessionOf = (merchant: string, generation: number): Session =>
  aSession({ merchant, generation, authToken: `token of ${merchant} ${generation}` });

const merchants = fc.constantFrom('shop', 'second');
const ages = fc.constantFrom(0, 7);

const watching = (request: ClaimRequest, watched: MomentMark | undefined): ClaimRequest =>
  watched === undefined ? request : { ...request, watched };

function claimSteps({ leaseMs, coolDownMs, windowsMs: [shortMs, longMs] }: Durations): fc.Arbitrary<SequenceStep> {
  return fc
    .record({
      merchant: merchants,
      owner: fc.constantFrom('replica-1', 'replica-2', 'replica-3'),
      leaseMs: fc.constantFrom(...leaseMs),
      mode: fc.constantFrom('when_due', 'when_wanted'),
      coolDownMs: fc.constantFrom(...coolDownMs),
      budget: fc.constantFrom<CreateCallBudget>(
        [{ calls: 1, perMs: longMs }],
        [{ calls: 3, perMs: longMs }],
        [
          { calls: 1, perMs: shortMs },
          { calls: 3, perMs: longMs },
        ],
        [
          { calls: 3, perMs: longMs },
          { calls: 2, perMs: shortMs },
        ],
      ),
      knows: fc.constantFrom('stored', 'nothing'),
      ignoresBackOff: fc.boolean(),
      called: fc.option(fc.nat()),
      watches: fc.option(fc.nat()),
    })
    .map(({ knows, called, watches, ...drawn }) => ({
      name: `claim ${JSON.stringify({ ...drawn, knows, called, watches })}`,
      act: async (run) => {
        const newerThan = knows === 'stored' ? run.generationOf(drawn.merchant) : 0;
        const floor = called === null ? 0 : (run.leases[called % run.leases.length]?.fence ?? 0);
        const watched = watches === null ? {} : run.someMark(drawn.merchant, watches);
        await run.claim(aClaim({ ...drawn, newerThan, floor }), watched);
      },
    }));
}

function publishSteps({ nextDueInMs }: Durations): fc.Arbitrary<SequenceStep> {
  const drawn = fc.record({ pick: fc.nat(), nextDueInMs: fc.constantFrom(...nextDueInMs), ageMs: ages });
  return drawn.map(({ pick, ...times }) => ({
    name: `publish ${JSON.stringify({ pick, ...times })}`,
    act: async (run) => {
      const lease = run.leases[pick % run.leases.length];
      if (lease === undefined) return;
      const publication = aPublication(sessionOf(lease.merchant, lease.fence), times);
      const expected = run.specified.publish(lease, publication, run.bench.nowMs());
      expect(await run.bench.store.publish(lease, publication)).toBe(expected);
    },
  }));
}

/** Made alone, a little before or after the newest; or made under some lease. */
function offerSteps({ nextDueInMs }: Durations): fc.Arbitrary<SequenceStep> {
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
        const newest = run.specified.merchant(name).fence;
        const generation = lease?.fence ?? Math.max(1, newest + ahead);
        const known = { newest, stored: run.generationOf(name), nothing: 0 };
        const offer = anOffer(sessionOf(name, generation), { known: known[knows], ...times });
        const expected = run.specified.offer(offer, run.bench.nowMs());
        expect(await run.bench.store.offer(offer)).toEqual(expected);
      },
    }));
}

function releaseSteps({ nextDueInMs }: Durations): fc.Arbitrary<SequenceStep> {
  const due = fc.constantFrom(...nextDueInMs);
  return fc
    .record({ pick: fc.nat(), nextDueInMs: due, called: fc.boolean(), failed: fc.boolean() })
    .map(({ pick, failed, ...drawn }) => ({
      name: `release ${JSON.stringify({ pick, failed, ...drawn })}`,
      act: async (run) => {
        const lease = run.leases[pick % run.leases.length];
        if (lease === undefined) return;
        const release = { ...drawn, ...(failed ? { failure: aRecordedFailure() } : {}) };
        const expected = run.specified.release(lease, release, run.bench.nowMs());
        expect(await run.bench.store.release(lease, release)).toBe(expected);
      },
    }));
}

/** The newest known generation, or one a little before or after it. */
const condemnSteps: fc.Arbitrary<SequenceStep> = fc
  .record({ merchant: merchants, ahead: fc.integer({ min: -2, max: 2 }) })
  .map(({ merchant, ahead }) => ({
    name: `condemn ${JSON.stringify({ merchant, ahead })}`,
    act: async (run) => {
      const generation = Math.max(1, run.generationOf(merchant) + ahead);
      const expected = run.specified.condemn(merchant, generation);
      expect(await run.bench.store.condemn(merchant, generation)).toBe(expected);
    },
  }));

function reportSteps({ nextDueInMs }: Durations): fc.Arbitrary<SequenceStep> {
  const by = fc.constantFrom('budget' as const, 'cool_down' as const);
  const heldUp = fc.option(fc.record({ by, forMs: fc.constantFrom(...nextDueInMs) }), { nil: undefined });
  const ageMs = fc.constantFrom(0, ...nextDueInMs);
  return fc.record({ merchant: merchants, ahead: fc.integer({ min: -2, max: 2 }), ageMs, heldUp }).map((drawn) => ({
    name: `report ${JSON.stringify(drawn)}`,
    act: async (run) => {
      const { merchant, ahead, ageMs: ago, heldUp: held } = drawn;
      const generation = Math.max(1, run.generationOf(merchant) + ahead);
      const report = { generation, ageMs: ago, ...(held === undefined ? {} : { heldUp: held }) };
      const expected = run.specified.reportDead(merchant, report, run.bench.nowMs());
      expect(await run.bench.store.reportDead(merchant, report)).toBe(expected);
    },
  }));
}

const enrolSteps: fc.Arbitrary<SequenceStep> = merchants.map((merchant) => ({
  name: `enrol ${merchant}`,
  act: async (run) => {
    run.specified.enrol([merchant], run.bench.nowMs());
    await run.bench.store.enrol([merchant]);
  },
}));

function timeSteps({ passMs }: Durations): fc.Arbitrary<SequenceStep>[] {
  if (passMs.length === 0) return [];
  const pass = fc.constantFrom(...passMs).map((durationMs) => ({
    name: `let ${durationMs} ms pass`,
    act: async (run: SequenceRun) => run.bench.pass(durationMs),
  }));
  const jump = fc.constantFrom(-3_600_000, 3_600_000).map((byMs) => ({
    name: `the wall clock jumps by ${byMs} ms`,
    act: async (run: SequenceRun) => run.bench.jumpWall(byMs),
  }));
  return [pass, pass, pass, jump];
}

const seatSteps: fc.Arbitrary<SequenceStep> = fc.constantFrom('replica-1', 'replica-2', 'replica-3').map((owner) => ({
  name: `seat ${owner}`,
  act: async (run) => expect(run.specified.seat(owner, await run.bench.store.seat(owner))).toBe(true),
}));

/** Random sequences of operations, to be held to `SpecifiedStore`. */
export function sessionStoreSteps(durations: Durations): fc.Arbitrary<SequenceStep[]> {
  return fc.array(
    fc.oneof(
      { weight: 5, arbitrary: claimSteps(durations) },
      { weight: 3, arbitrary: publishSteps(durations) },
      { weight: 2, arbitrary: offerSteps(durations) },
      { weight: 3, arbitrary: releaseSteps(durations) },
      { weight: 2, arbitrary: condemnSteps },
      { weight: 2, arbitrary: reportSteps(durations) },
      { weight: 1, arbitrary: enrolSteps },
      { weight: 1, arbitrary: seatSteps },
      ...timeSteps(durations),
    ),
    { maxLength: 60, size: 'max' },
  );
}
