import fc from 'fast-check';
import { CallLog } from './call-log.js';

describe('the log of create calls', () => {
  it('never lets more calls into any window than it allows, and never makes one wait longer than needed', () => {
    const window = fc.record({ calls: fc.integer({ min: 1, max: 4 }), perMs: fc.integer({ min: 1, max: 50 }) });
    const budgets = fc.array(window, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(budgets, fc.array(fc.nat(20), { maxLength: 60 }), (budget, pauses) => {
        const log = new CallLog();
        const taken: number[] = [];
        let nowMs = 0;
        for (const pauseMs of pauses) {
          nowMs += pauseMs;
          const waits = budget.map(({ calls, perMs }) => {
            const inWindow = taken.filter((atMs) => atMs > nowMs - perMs);
            return inWindow.length < calls ? 0 : (inWindow.at(-calls) ?? NaN) + perMs - nowMs;
          });
          expect(log.wait(nowMs, budget)?.retryInMs ?? 0).toBe(Math.max(...waits));
          if (Math.max(...waits) > 0) continue;
          log.take(nowMs);
          taken.push(nowMs);
        }
      }),
    );
  });

  it('lets nothing through when the budget allows no call at all', () => {
    expect(new CallLog().wait(0, [{ calls: 0, perMs: 1_000 }])?.retryInMs).toBe(1_000);
  });

  it('forgets exactly the call that is given back, and only once', () => {
    const log = new CallLog();
    const budget = [{ calls: 2, perMs: 100 }];
    const first = log.take(40);
    log.take(40);
    log.giveBack(first);
    log.giveBack(first);
    expect(log.wait(50, budget)).toBeUndefined();
    log.take(50);
    expect(log.wait(50, budget)?.retryInMs).toBe(90);
  });

  it('lets a call of the future count from now, once, and forgets it when it is given back', () => {
    const log = new CallLog();
    const budget = [{ calls: 1, perMs: 100 }];
    const taken = log.take(5_000);
    expect(log.wait(40, budget)?.retryInMs).toBe(100);
    expect(log.wait(90, budget)?.retryInMs).toBe(50);
    log.giveBack(taken);
    expect(log.wait(90, budget)).toBeUndefined();
  });

  it('names what is waited for by another mark once another call has to leave first', () => {
    const log = new CallLog();
    const budget = [{ calls: 1, perMs: 100 }];
    log.take(0);
    const first = log.wait(10, budget)?.mark;
    expect(log.wait(99, budget)?.mark).toBe(first);
    expect(log.wait(99, [{ calls: 1, perMs: 200 }])?.mark).not.toBe(first);
    log.take(100);
    expect(log.wait(110, budget)?.mark).not.toBe(first);
  });
});
