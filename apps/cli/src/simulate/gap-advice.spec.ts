import { instantFromEpochMs } from '#libs/clock';
import { someSettings } from '#libs/testing';
import type { Change } from './change.js';
import type { ScheduleFigures } from './figures.js';
import { remedies } from './gap-advice.js';
import type { Judged } from './judged.js';
import type { Tried } from './trials.js';
import { textOf } from './wording.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const before = [{ calls: 6, perMs: DAY_MS }];

const figures: ScheduleFigures = {
  ...{ createCalls: 6, sessions: 4, createCallsPerHour: 0.25, mostInAnHour: 1, failures: {}, budgetRefusals: 0 },
  ...{ pastMarginMs: 30_000, withoutSessionMs: HOUR_MS, gaps: 1 },
  budget: [{ calls: 6, perMs: DAY_MS, used: 6, needed: 4 }],
};

const tried = (changes: readonly Change[], more: Partial<Tried> = {}): Tried => ({
  ...{ changes, effect: 'bridges', figures, own: figures, runs: 10, merchants: 1, longerRuns: 0 },
  ...{ lostMs: 0, leastLostMs: 0, wasMs: HOUR_MS, isSure: false, tight: [] },
  ...more,
});

const told = (judged: Partial<Judged>): readonly string[] => {
  const setup: Judged['setup'] = {
    ...{ merchant: 'shop', startsAt: instantFromEpochMs(0), replicas: 3, durationMs: DAY_MS, seed: 1 },
    settings: someSettings({ budget: before }),
    behaviour: { lifetimeMs: 8 * HOUR_MS, latencyMs: 300, failureShare: 0, outageMs: 20 * MINUTE_MS },
  };
  return textOf(remedies({ setup, figures, ...judged }))
    .split('\n')
    .slice(1);
};

const lead: Change = { of: 'lead', share: 0.3 };
const more: Change = { of: 'budget', windows: [{ calls: 13, perMs: DAY_MS }] };
const single: Change = {
  of: 'budget',
  windows: [...before, { calls: 1, perMs: 30 * MINUTE_MS }],
  isPaced: true,
};

describe('the advice about a gap', () => {
  it('tells the least that was left, of what is certain in how many runs', () => {
    const [seen] = told({ tried: [tried([lead], { leastLeftMs: 40_000 })] });
    expect(seen).toMatch(/ bridged it in all of the 10 runs that were tried, leaving at least 40s, with about /);
    const [certain] = told({ tried: [tried([lead], { leastLeftMs: 40_000, isSure: true })] });
    expect(certain).toMatch(/ would bridge it, leaving at least 40s in the 10 runs that were tried, with about /);
    const [single] = told({ tried: [tried([lead], { leastLeftMs: 40_000, isSure: true, runs: 1 })] });
    expect(single).toMatch(/ would bridge it, with about /);
  });

  it('tells a call more where there are few', () => {
    expect(told({ tried: [tried([lead])] })[0]).toMatch(
      /, with about 4\.3 create calls on a day without faults in place of 3\.8$/,
    );
  });

  it('tells what did as well for more calls apart from what did not, and a part of other advice as that alone', () => {
    const last = (one: Tried): string | undefined =>
      told({ tried: [one], outdone: ['leadWithBudget'], inVain: ['lead', 'budget'] })
        .slice(-2)
        .join('\n');
    expect(last(tried([single]))).toBe(
      '  bridged it too, with more calls that the bank has to allow: another session.renewBefore with a larger session.budget\n' +
        '  no better, in the few values that were tried: another session.renewBefore, a larger session.budget',
    );
    expect(last(tried([lead, more]))).toMatch(/: another session\.renewBefore alone, a larger session\.budget alone$/);
  });

  it('says of a single call in a window that the next one waits as long, also if a session is reported dead', () => {
    expect(told({ tried: [tried([lead, single])] })).toEqual([
      expect.stringMatching(
        /^ {2}a session\.renewBefore of 30% with a new window of 1 in 30m in session\.budget bridged it .* \(fewer at once leave more for later; the next call may wait for 30m, also if a session is reported dead\)$/,
      ),
      '    budget: [{ calls: 6, per: 1d }, { calls: 1, per: 30m }] # the whole of session.budget',
    ]);
  });
});
