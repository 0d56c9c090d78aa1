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
        for (const [fence, pauseMs] of pauses.entries()) {
          nowMs += pauseMs;
          const inWindow = taken.filter((atMs) => atMs > nowMs - budget.windowMs);
          const mayCall = inWindow.length < budget.calls;
          const waitMs = window.waitMs(nowMs, budget);
          expect(waitMs).toBe(mayCall ? 0 : (inWindow.at(-budget.calls) ?? NaN) + budget.windowMs - nowMs);
          if (!mayCall) continue;
          window.take(fence, nowMs);
          taken.push(nowMs);
        }
      }),
    );
  });

  it('lets nothing through when the budget allows no call at all', () => {
    expect(new CallWindow().waitMs(0, { calls: 0, windowMs: 1_000 })).toBe(1_000);
  });

  it('forgets exactly the call that is given back', () => {
    const window = new CallWindow();
    const budget = { calls: 2, windowMs: 100 };
    window.take(1, 0);
    window.take(2, 40);
    window.giveBack(1);
    expect(window.waitMs(50, budget)).toBe(0);
    window.take(3, 50);
    expect(window.waitMs(50, budget)).toBe(90);
  });
});
