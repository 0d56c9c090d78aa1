import { MemorySessionStore } from '#libs/store';
import { FakeClock } from '#libs/testing';
import fc from 'fast-check';
import { type Durations, SequenceRun, sessionStoreSteps } from './store-sequences.js';

const durations: Durations = {
  leaseMs: [1, 10, 40],
  nextDueInMs: [0, 1, 10, 40],
  coolDownMs: [0, 0, 25],
  windowsMs: [25, 60],
  passMs: [1, 5, 10, 30, 80],
};

function newRun(): SequenceRun {
  const clock = new FakeClock();
  return new SequenceRun({
    store: new MemorySessionStore({ clock }),
    nowMs: () => clock.monotonicMs(),
    wallMs: () => clock.now(),
    // Nothing in the store waits for a timer, so time can be moved without letting tasks run.
    pass: (durationMs) => clock.freeze(durationMs),
    jumpWall: (byMs) => clock.jumpWall(byMs),
    unitMs: 1,
  });
}

describe('MemorySessionStore held to the specification', () => {
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
        expect([...merchants].sort()).toEqual([...run.specified.enrolled()].sort());
      }),
      { numRuns: 80 },
    );
  });
});
