import type { ClaimRequest, ClaimResult, Lease } from '#libs/session';
import { aClaim, aRecordedFailure, aSession, FakeClock, ReferenceStore } from '#libs/testing';
import fc from 'fast-check';
import { MemorySessionStore } from './memory-session-store.js';

/** What was done so far: the store and the reference side by side, and every lease that was ever granted. */
class Run {
  readonly clock = new FakeClock();
  readonly store = new MemorySessionStore({ clock: this.clock });
  readonly reference = new ReferenceStore();
  readonly leases: Lease[] = [];
  readonly #highestFence = new Map<string, number>();
  readonly #generations = new Map<string, number>();

  get nowMs(): number {
    return this.clock.monotonicMs();
  }

  noteGrant(lease: Lease): void {
    const repeated = this.leases.some(({ merchant, fence }) => merchant === lease.merchant && fence === lease.fence);
    if (!repeated) {
      expect(lease.fence).toBeGreaterThan(this.#highestFence.get(lease.merchant) ?? 0);
      this.#highestFence.set(lease.merchant, lease.fence);
    }
    this.leases.push(lease);
  }

  async checkGenerations(): Promise<void> {
    for (const { merchant, stored } of await this.store.read(this.reference.merchants())) {
      const generation = stored.kind === 'session' ? stored.session.generation : 0;
      expect(generation).toBeGreaterThanOrEqual(this.#generations.get(merchant) ?? 0);
      expect(generation).toBe(this.reference.generationOf(merchant));
      this.#generations.set(merchant, generation);
    }
  }
}

interface Step {
  readonly name: string;
  readonly act: (run: Run) => Promise<void>;
}

const merchant = fc.constantFrom('shop', 'second');
const shortMs = fc.constantFrom(0, 1, 10, 40);

function comparable(result: ClaimResult): unknown {
  if (result.kind !== 'claimed') return result;
  const { fence: _fence, ...rest } = result.lease;
  return { kind: 'claimed', lease: rest };
}

const claimStep: fc.Arbitrary<Step> = fc
  .record({
    merchant,
    owner: fc.constantFrom('replica-1', 'replica-2', 'replica-3'),
    leaseMs: fc.constantFrom(1, 10, 40),
    mode: fc.constantFrom('when_due', 'now'),
    coolDownMs: fc.constantFrom(0, 0, 25),
    calls: fc.constantFrom(1, 3),
    knows: fc.constantFrom('stored', 'nothing'),
  })
  .map(({ calls, knows, ...drawn }) => ({
    name: `claim ${JSON.stringify({ ...drawn, calls, knows })}`,
    act: async (run) => {
      const newerThan = knows === 'stored' ? run.reference.generationOf(drawn.merchant) : 0;
      const budget = { calls, windowMs: 60 };
      const request: ClaimRequest = aClaim({ ...drawn, newerThan, budget });
      const expected = run.reference.claim(request, run.nowMs);
      const result = await run.store.claim(request);
      expect(comparable(result)).toEqual(expected);
      if (result.kind !== 'claimed') return;
      run.noteGrant(result.lease);
      run.reference.granted(result.lease, request, run.nowMs);
    },
  }));

const publishStep: fc.Arbitrary<Step> = fc.record({ pick: fc.nat(), nextDueInMs: shortMs }).map((drawn) => ({
  name: `publish ${JSON.stringify(drawn)}`,
  act: async (run) => {
    const lease = run.leases[drawn.pick % run.leases.length];
    if (lease === undefined) return;
    const session = aSession({ merchant: lease.merchant, generation: lease.fence });
    const expected = run.reference.publish(lease, drawn.nextDueInMs, run.nowMs);
    expect(await run.store.publish(lease, session, drawn.nextDueInMs)).toBe(expected);
  },
}));

const releaseStep: fc.Arbitrary<Step> = fc
  .record({ pick: fc.nat(), nextDueInMs: shortMs, called: fc.boolean(), failed: fc.boolean() })
  .map(({ pick, failed, ...drawn }) => ({
    name: `release ${JSON.stringify({ pick, failed, ...drawn })}`,
    act: async (run) => {
      const lease = run.leases[pick % run.leases.length];
      if (lease === undefined) return;
      const release = { ...drawn, ...(failed ? { failure: aRecordedFailure() } : {}) };
      const expected = run.reference.release(lease, release, run.nowMs);
      expect(await run.store.release(lease, release)).toBe(expected);
    },
  }));

const enrolStep: fc.Arbitrary<Step> = merchant.map((name) => ({
  name: `enrol ${name}`,
  act: async (run) => {
    run.reference.enrol(name, run.nowMs);
    await run.store.enrol([name]);
  },
}));

const passStep: fc.Arbitrary<Step> = fc.constantFrom(1, 5, 10, 30, 80).map((durationMs) => ({
  name: `let ${durationMs} ms pass`,
  // Nothing in the store waits for a timer, so time can be moved without letting tasks run.
  act: async (run) => run.clock.freeze(durationMs),
}));

const wallJumpStep: fc.Arbitrary<Step> = fc.constantFrom(-3_600_000, 3_600_000).map((byMs) => ({
  name: `wall clock jumps by ${byMs} ms`,
  act: async (run) => run.clock.jumpWall(byMs),
}));

const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: claimStep },
    { weight: 3, arbitrary: publishStep },
    { weight: 3, arbitrary: releaseStep },
    { weight: 3, arbitrary: passStep },
    { weight: 1, arbitrary: enrolStep },
    { weight: 1, arbitrary: wallJumpStep },
  ),
  { maxLength: 60, size: 'max' },
);

describe('MemorySessionStore against a reference that is too simple to be wrong', () => {
  it('agrees with it after any sequence of operations, and loses no merchant', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const run = new Run();
        for (const { act } of sequence) {
          await act(run);
          await run.checkGenerations();
          run.reference.checkBudgets();
          expect(await run.store.due(10)).toEqual(run.reference.due(run.nowMs));
        }
        run.clock.freeze(1_000);
        const { merchants } = await run.store.due(10);
        expect([...merchants].sort()).toEqual([...run.reference.merchants()].sort());
      }),
      { numRuns: 400 },
    );
  });
});
