import { FakeClock, ModelRun, sessionStoreSteps } from '#libs/testing';
import fc from 'fast-check';
import { MemorySessionStore } from './memory-session-store.js';

const durations = {
  leaseMs: [1, 10, 40],
  nextDueInMs: [0, 1, 10, 40],
  coolDownMs: [0, 0, 25],
  windowMs: 60,
  passMs: [1, 5, 10, 30, 80],
};

function newRun(): ModelRun {
  const clock = new FakeClock();
  return new ModelRun({
    store: new MemorySessionStore({ clock }),
    nowMs: () => clock.monotonicMs(),
    // Nothing in the store waits for a timer, so time can be moved without letting tasks run.
    pass: (durationMs) => clock.freeze(durationMs),
    jumpWall: (byMs) => clock.jumpWall(byMs),
    unitMs: 1,
  });
}

describe('MemorySessionStore against a reference that is too simple to be wrong', () => {
  it('agrees with it after any sequence of operations, and loses no merchant', async () => {
    await fc.assert(
      fc.asyncProperty(sessionStoreSteps(durations), async (steps) => {
        const run = newRun();
        for (const { act } of steps) {
          await act(run);
          await run.check();
        }
        run.bench.pass(1_000);
        const { merchants } = await run.bench.store.due(10);
        expect([...merchants].sort()).toEqual([...run.reference.merchants()].sort());
      }),
      { numRuns: 250 },
    );
  });
});
