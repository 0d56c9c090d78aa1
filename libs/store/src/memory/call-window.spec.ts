import fc from 'fast-check';
import { CallWindow } from './call-window.js';

describe('CallWindow', () => {
  it('never lets more calls into any window than the budget allows, and never makes one wait longer than needed', () => {
    const budgets = fc.record({ calls: fc.integer({ min: 1, max: 4 }), windowMs: fc.integer({ min: 1, max: 50 }) });
    fc.assert(
      fc.property(budgets, fc.array(fc.nat(20), { maxLength: 60 }), (budget, pauses) => {
        const window = new CallWindow();
        const taken: number[] = [];
        let nowMs = 0;
        for (const pauseMs of pauses) {
          nowMs += pauseMs;
          const inWindow = taken.filter((atMs) => atMs > nowMs - budget.windowMs);
          const mayCall = inWindow.length < budget.calls;
          const wait = window.wait(nowMs, budget)?.retryInMs ?? 0;
          expect(wait).toBe(mayCall ? 0 : (inWindow.at(-budget.calls) ?? NaN) + budget.windowMs - nowMs);
          if (!mayCall) continue;
          window.take(nowMs);
          taken.push(nowMs);
        }
      }),
    );
  });

  it('lets nothing through when the budget allows no call at all', () => {
    expect(new CallWindow().wait(0, { calls: 0, windowMs: 1_000 })?.retryInMs).toBe(1_000);
  });

  it('forgets exactly the call that is given back, and that only once', () => {
    const window = new CallWindow();
    const budget = { calls: 2, windowMs: 100 };
    const first = window.take(40);
    window.take(40);
    window.giveBack(first);
    window.giveBack(first);
    expect(window.wait(50, budget)).toBeUndefined();
    window.take(50);
    expect(window.wait(50, budget)?.retryInMs).toBe(90);
  });

  it('lets a call of the future count from now, once, and forgets it when it is given back', () => {
    const window = new CallWindow();
    const budget = { calls: 1, windowMs: 100 };
    const taken = window.take(5_000);
    expect(window.wait(40, budget)?.retryInMs).toBe(100);
    expect(window.wait(90, budget)?.retryInMs).toBe(50);
    window.giveBack(taken);
    expect(window.wait(90, budget)).toBeUndefined();
  });

  it('names what is waited for by another mark once another call has to leave first', () => {
    const window = new CallWindow();
    const budget = { calls: 1, windowMs: 100 };
    window.take(0);
    const first = window.wait(10, budget)?.mark;
    expect(window.wait(99, budget)?.mark).toBe(first);
    window.take(100);
    expect(window.wait(110, budget)?.mark).not.toBe(first);
  });
});
