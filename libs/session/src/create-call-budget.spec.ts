import { longestWindowMs, waitForBudget } from './create-call-budget.js';
import type { CreateCallBudget } from './ports/session-store.js';

const storm = { calls: 2, perMs: 10 };
const day = { calls: 3, perMs: 100 };

describe('a budget of several windows', () => {
  const table: Readonly<Record<string, readonly [CreateCallBudget, readonly number[], number | undefined]>> = {
    'lets a call through where each of its windows does': [[storm, day], [50, 85], undefined],
    'refuses as long as the short one does': [[storm, day], [91, 95], 1],
    'refuses as long as the long one does, though the short one has forgotten': [[storm, day], [10, 20, 30], 10],
    'refuses until the last of those that refuse lets a call through': [[storm, day], [5, 95, 98], 5],
    'is the same in whatever order its windows stand': [[day, storm], [5, 95, 98], 5],
    'waits for as many calls to leave as a lowered window wants gone': [[{ calls: 1, perMs: 100 }], [20, 60], 60],
    'lets a call through in the very millisecond in which one leaves': [[{ calls: 1, perMs: 100 }], [0], undefined],
    'refuses for a whole window where one allows no call at all': [[storm, { calls: 0, perMs: 70 }], [], 70],
  };

  it.each(Object.entries(table))('%s', (_name, [budget, callsAtMs, retryInMs]) => {
    expect(waitForBudget(callsAtMs, budget, 100)?.retryInMs).toBe(retryInMs);
  });

  it('names the window that refuses for longest, and the call that has to leave it', () => {
    expect(waitForBudget([5, 95, 98], [storm, day], 100)).toEqual({ retryInMs: 5, window: storm, callAtMs: 95 });
    expect(waitForBudget([8, 95, 98], [storm, day], 100)).toEqual({ retryInMs: 8, window: day, callAtMs: 8 });
  });

  it('looks back as far as its longest window', () => {
    expect(longestWindowMs([day, storm])).toBe(100);
  });
});
