import { instantFromEpochMs } from '#libs/clock';
import type { CreateCallBudget } from '#libs/session';
import { someSettings } from '#libs/testing';
import type { Judged, Member } from './judged.js';
import { warningsOfAll } from './merchants-alike.js';
import type { Change } from './change.js';
import type { ScheduleFigures } from './figures.js';
import type { SimulationSetup } from './simulation.js';
import type { CalmRun, PlayedRun, Tried } from './trials.js';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;

const figures = (change: Partial<ScheduleFigures> = {}): ScheduleFigures => ({
  ...{ createCalls: 40, sessions: 30, createCallsPerHour: 2, mostInAnHour: 4, failures: {}, budgetRefusals: 0 },
  ...{ pastMarginMs: 30_000, withoutSessionMs: 1_000_000, gaps: 1 },
  budget: [{ calls: 60, perMs: DAY_MS, used: 40, needed: 30 }],
  ...change,
});

const setup = (behaviour: object = {}, durationMs = DAY_MS): SimulationSetup => ({
  ...{ merchant: 'shop', startsAt: instantFromEpochMs(0), settings: someSettings(), replicas: 1, durationMs, seed: 1 },
  behaviour: { lifetimeMs: 60 * MINUTE_MS, latencyMs: 300, failureShare: 0, outageMs: 30 * MINUTE_MS, ...behaviour },
});

const lead = (share: number): Change => ({ of: 'lead', share });
const tried = (change: Change, { lostMs, ...more }: Partial<Tried> & Pick<Tried, 'effect' | 'lostMs'>): Tried => ({
  ...{
    changes: [change],
    figures: figures({ withoutSessionMs: lostMs }),
    lostMs,
    leastLostMs: lostMs,
    wasMs: 1_000_000,
  },
  ...{ own: more.figures ?? figures(), runs: 8, merchants: 1, longerRuns: 0, isSure: true, tight: [] },
  ...more,
});

const never = (): never => {
  throw new Error('there is one');
};

const gapWarning = (judged: Partial<Judged>): string | undefined =>
  warningsOfAll([{ setup: setup(), figures: figures(), tried: [], ...judged }]).find((text) =>
    text.includes('no session'),
  );

describe('the warning of a gap', () => {
  it('says where longer sessions are not believed, and so not tried', () => {
    const settings = { ...setup().settings, longestLifetimeMs: 240 * MINUTE_MS };
    const life = (lifetimeMs: number): Tried =>
      tried({ of: 'lifetime', lifetimeMs }, { effect: 'shortens', lostMs: 800_000 });
    const told = (lifetimeMs: number, results: readonly Tried[]): string | undefined =>
      gapWarning({ setup: { ...setup({ lifetimeMs }), settings }, tried: results });
    expect(told(60 * MINUTE_MS, [life(240 * MINUTE_MS)])).toContain(
      'sessions of 4h from the bank, the most that session.longestLifetime believes, shortened it',
    );
    expect(told(60 * MINUTE_MS, [life(120 * MINUTE_MS)])).not.toContain('longestLifetime');
    expect(told(240 * MINUTE_MS, [])).toContain('longer sessions would need a session.longestLifetime of more than 4h');
  });

  it('says that all of it came after the outage, and what ends it, where the session outlived the outage', () => {
    const whole = figures({ afterOutage: { gapMs: 999_900, inPauseMs: 999_900, byBudgetMs: 0 } });
    expect(gapWarning({ figures: whole })).toMatch(
      /^shop: there was no session for 16m 40s\. All of it came after the outage, in the pause .* `session-broker renew` ends\. /,
    );
    const part = figures({ afterOutage: { gapMs: 600_000, inPauseMs: 0, byBudgetMs: 600_000 } });
    expect(gapWarning({ figures: part })).toMatch(
      /\. Of that, 10m came after the outage because session\.budget was spent\. /,
    );
    const both = figures({ afterOutage: { gapMs: 600_000, inPauseMs: 240_000, byBudgetMs: 360_000 } });
    expect(gapWarning({ figures: both })).toMatch(
      /\. Of that, 10m came after the outage: 4m in the pause .* `session-broker renew` ends, and 6m because session\.budget was spent\. /,
    );
    const byChance = figures({ afterOutage: { gapMs: 600_000, inPauseMs: 0, byBudgetMs: 0 } });
    expect(gapWarning({ figures: byChance })).toMatch(/\. Of that, 10m came after the outage\. /);
  });

  it('names the change that leaves the least, and the one beyond it that would make it longer', () => {
    const results = [
      tried(lead(0.3), { effect: 'shortens', lostMs: 800_000 }),
      tried(lead(0.5), { effect: 'lengthens', lostMs: 1_700_000 }),
    ];
    expect(gapWarning({ tried: results })).toMatch(
      /:\n {2}a session\.renewBefore of 30% shortened it to 13m 20s in the 8 runs that were tried, with about 34 create calls on a day without faults in place of 30\n {2}careful: a session\.renewBefore of 50% alone would make it longer: 28m 20s$/,
    );
  });

  it('tells changes apart as alternatives, what bridges it first, and the whole budget to paste below the one that is of it', () => {
    const windows = [
      { calls: 20, perMs: 600_000 },
      { calls: 124, perMs: DAY_MS },
    ];
    const told = gapWarning({
      tried: [
        tried(lead(0.5), { effect: 'lengthens', lostMs: 1_700_000 }),
        tried(lead(0.3), { effect: 'shortens', lostMs: 800_000 }),
        tried({ of: 'budget', windows }, { effect: 'bridges', lostMs: 0 }),
      ],
    });
    expect(told?.split('\n')).toEqual([
      'shop: there was no session for 16m 40s. Any one of these helps:',
      expect.stringMatching(
        /^ {2}- a session\.budget of .* would bridge it \(ask the bank whether it allows so many\)$/,
      ),
      '    budget: [{ calls: 20, per: 10m }, { calls: 124, per: 1d }] # the whole of session.budget',
      expect.stringMatching(
        /^ {2}- a session\.renewBefore of 30% shortened it to 13m 20s in the 8 runs that were tried/,
      ),
      '  careful: a session.renewBefore of 50% alone would make it longer: 28m 20s',
    ]);
  });

  it('tells what can be set before what the bank alone decides, though that leaves less', () => {
    const told = gapWarning({
      tried: [
        tried({ of: 'lifetime', lifetimeMs: 240 * MINUTE_MS }, { effect: 'bridges', lostMs: 0 }),
        tried(lead(0.3), { effect: 'shortens', lostMs: 800_000 }),
      ],
    });
    expect(told?.split('\n').slice(1)).toEqual([
      expect.stringMatching(/^ {2}- a session\.renewBefore of 30% shortened it/),
      '  - sessions of 4h from the bank would bridge it',
    ]);
  });

  it('names last what was tried besides and did not help, in one line', () => {
    const shortens = tried(lead(0.3), { effect: 'shortens', lostMs: 800_000 });
    expect(
      gapWarning({ tried: [shortens], inVain: ['budget', 'lifetime'] })
        ?.split('\n')
        .slice(2),
    ).toEqual(['  no better, in the few values that were tried: a larger session.budget, longer sessions']);
    expect(gapWarning({ inVain: ['lead', 'leadWithBudget'] })).toMatch(
      /\. No setting was found to bridge it, in the few values that were tried of: another session\.renewBefore, another session\.renewBefore with a larger session\.budget$/,
    );
  });

  it('names first what leaves the least, of those that shorten it alone', () => {
    const shortens = (share: number, lostMs: number): Tried => tried(lead(share), { effect: 'shortens', lostMs });
    const told = gapWarning({ tried: [shortens(0.2, 600_000), shortens(0.3, 900_000), shortens(0.4, 300_000)] });
    expect(told?.match(/renewBefore of \d+%/g)).toEqual(['40%', '20%', '30%'].map((it) => `renewBefore of ${it}`));
  });

  it('says why a longer lead makes it longer, or does not help: it leaves fewer calls to those that fail', () => {
    const spent = { budgetRefusals: 1, budget: [{ calls: 60, perMs: DAY_MS, used: 60, needed: 52 }] };
    const longest = (effect: Tried['effect'], more: Partial<ScheduleFigures>): Tried =>
      tried(lead(0.5), { effect, lostMs: 1_700_000, figures: figures(more) });
    const why =
      'because session.budget is spent then: the schedule needs 52 of 60 in 1d, which leaves 8 for calls that fail';
    expect(gapWarning({ tried: [longest('lengthens', spent)] })).toMatch(
      new RegExp(`careful: a session\\.renewBefore of 50% alone would make it longer: 28m 20s, ${why}$`),
    );
    expect(gapWarning({ tried: [longest('none', spent)] })).toMatch(new RegExp(`would not help, ${why}$`));
    expect(gapWarning({ tried: [longest('none', {})] })).toMatch(/would not help$/);
    expect(gapWarning({ figures: figures(spent), tried: [longest('none', spent)] })).toMatch(
      /would not help, because session\.budget is spent then, too$/,
    );
  });

  it('says of a gap between two looks of a replica that it is less than a second', () => {
    const between = { setup: setup({ outageMs: 0 }), figures: figures({ withoutSessionMs: 300 }) };
    expect(gapWarning(between)).toMatch(
      /^shop: there was no session for less than a second: a read with .* may get one 503, and there is nothing to do$/,
    );
    const each = { gaps: 4, withoutSessionMs: 1_200, longestGap: { startsAfterMs: 0, gapMs: 300 } };
    const bare = { budget: [{ calls: 2, perMs: DAY_MS, used: 2, needed: 2 }] };
    expect(gapWarning({ ...between, figures: figures({ ...each, ...bare }) })).toMatch(
      /^shop: there was no session for less than a second, 4 times: a read with .* may get one 503$/,
    );
    const longer = { setup: setup(), figures: figures({ withoutSessionMs: 60_000 }) };
    expect(gapWarning({ ...between, others: [longer] })).toMatch(
      /^shop: there was no session for less than a second \(1m in 1 other runs\)\. /,
    );
  });

  it('says of a budget with fewer calls at once what they are in place of, and asks nobody for them', () => {
    const before = [
      { calls: 20, perMs: 600_000 },
      { calls: 60, perMs: DAY_MS },
    ];
    const told = (windows: CreateCallBudget): string | undefined =>
      gapWarning({
        setup: { ...setup(), settings: someSettings({ budget: before }) },
        tried: [tried({ of: 'budget', windows, isPaced: true }, { effect: 'bridges', lostMs: 0 })],
      })?.split('\n')[1];
    const [short, day] = [{ calls: 4, perMs: 600_000 }, before[1] ?? never()];
    expect(told([short, day])).toBe(
      '  a session.budget of 4 in 10m in place of 20 would bridge it (fewer at once leave more for later; after a longer outage the next call may wait for 10m)',
    );
    expect(told([...before, { calls: 5, perMs: 3_600_000 }])).toMatch(
      / {2}a new window of 5 in 1h in session\.budget would .*later; after a longer outage the next call may wait for 1h\)$/,
    );
    expect(told([short, day, { calls: 5, perMs: 3_600_000 }])).toMatch(
      / a session\.budget of 4 in 10m in place of 20 and a new window of 5 in 1h would /,
    );
    expect(told([short, { ...day, calls: 70 }])).toMatch(
      / a session\.budget of 4 in 10m in place of 20 and 70 in 1d would bridge it \(ask the bank/,
    );
  });

  it('tells what a lead costs of the whole run where quiet hours decide it, too, counted without faults', () => {
    const told = (was: CalmRun, is: CalmRun): string | undefined =>
      gapWarning({
        figures: figures({ outsideQuietHours: 1 }),
        tried: [tried(lead(0.4), { effect: 'bridges', lostMs: 0, own: figures(), calm: { was, is } })],
      })?.split('\n')[1];
    const few = { createCalls: 11, outsideQuietHours: 0 };
    expect(told(few, { createCalls: 20, outsideQuietHours: 8 })).toMatch(
      / would bridge it, with 20 create calls in place of 11 and 8 renewals outside of the quiet hours in place of 0 in 1d without faults$/,
    );
    expect(told(few, { ...few, createCalls: 20 })).toMatch(
      / would bridge it, with 20 create calls in place of 11 in 1d without faults$/,
    );
    expect(told(few, few)).toMatch(/ would bridge it$/);
  });

  it('says what bridges one of less than a second that an outage has left: it is a near miss', () => {
    const bridging = tried(lead(0.4), { effect: 'bridges', lostMs: 0 });
    expect(gapWarning({ figures: figures({ withoutSessionMs: 300 }), tried: [bridging] })).toMatch(
      /^shop: there was no session for less than a second\. What helps:\n {2}a session\.renewBefore of 40% would bridge it/,
    );
  });

  it('says of advice that was seen to bridge, where calls fail by chance, that a rare run may lose more', () => {
    const told = (behaviour: object, isSure: boolean): string | undefined =>
      gapWarning({ setup: setup(behaviour), tried: [tried(lead(0.4), { effect: 'bridges', lostMs: 0, isSure })] });
    const caution = / \(calls fail by chance: a rare run may lose more, so play further ones with --seed\)$/;
    expect(told({ failureShare: 0.2 }, false)).toMatch(caution);
    expect(told({ failureShare: 0.2 }, true)).not.toMatch(caution);
    expect(told({}, false)).not.toMatch(caution);
  });

  it('says of advice that it leaves no call to spare', () => {
    const bare = figures({ budget: [{ calls: 60, perMs: DAY_MS, used: 59, needed: 60 }] });
    const told = gapWarning({ tried: [tried(lead(0.4), { effect: 'bridges', lostMs: 0, figures: bare })] });
    expect(told).toMatch(/would bridge it.*, which leaves no call to spare of 60 in 1d$/);
  });

  it('says of advice that holds for the run alone that a whole window refutes it', () => {
    const windows = [{ calls: 1_000, perMs: DAY_MS }];
    const bridged = tried(
      { of: 'budget', windows },
      {
        ...{ effect: 'bridges', lostMs: 0 },
        figures: figures({ withoutSessionMs: 0, budget: [{ calls: 1_000, perMs: DAY_MS, used: 150, needed: 1_845 }] }),
      },
    );
    expect(gapWarning({ setup: setup({}, 120 * MINUTE_MS), tried: [bridged] })).toMatch(
      /would bridge it, for these 2h only: a whole 1d takes 1845 calls \(ask the bank/,
    );
    expect(gapWarning({ tried: [bridged] })).toMatch(/would bridge it \(ask the bank/);
  });

  it('promises what the numbers show, and tells of all else what was seen: in how many runs, or from what to what', () => {
    const told = (result: Tried): string | undefined =>
      gapWarning({ tried: [result] })?.replace(/^[^]*renewBefore of 40% |, with about \d+ create calls [^,(]*/g, '');
    const bridging = { effect: 'bridges', lostMs: 0 } as const;
    expect(told(tried(lead(0.4), { ...bridging, isSure: false, runs: 10 }))).toBe(
      'bridged it in all of the 10 runs that were tried',
    );
    expect(told(tried(lead(0.4), bridging))).toBe('would bridge it');
    const shortens = (leastLostMs: number): Tried =>
      tried(lead(0.4), { effect: 'shortens', lostMs: 320_000, leastLostMs, runs: 10 });
    expect(told(shortens(11_000))).toBe('shortened it to between 11s and 5m 20s in the 10 runs that were tried');
    expect(told(shortens(0))).toBe('shortened it to at most 5m 20s in the 10 runs that were tried');
    const [one, two] = [1, 2].map((longerRuns) => told({ ...shortens(11_000), longerRuns }));
    expect(one).toMatch(/ in the 10 runs that were tried, 1 of which was shorter without it$/);
    expect(two).toMatch(/ in the 10 runs that were tried, 2 of which were shorter without it$/);
    expect(told(tried(lead(0.4), { effect: 'may_lengthen', lostMs: 21_060_000 }))).toBe(
      'alone may make it longer, up to 5h 51m',
    );
  });

  it('says how much of a window was used where another run may spend it', () => {
    const tight = [{ calls: 150, perMs: DAY_MS, used: 149, needed: 124 }];
    const told = (more: Partial<Tried>): string | undefined =>
      gapWarning({ tried: [tried(lead(0.4), { effect: 'bridges', lostMs: 0, isSure: false, tight, ...more })] });
    expect(told({})).toMatch(/ in place of 30, and took up to 149 of 150 in 1d$/);
    for (const more of [{ tight: [] }, { isSure: true }, { effect: 'shortens', lostMs: 1_000 } as const]) {
      expect(told(more)).not.toContain('and took');
    }
  });

  it('is told with what other runs lost, also where this one lost nothing', () => {
    const other = (withoutSessionMs: number): PlayedRun => ({
      setup: { ...setup(), seed: 4 },
      figures: figures({ withoutSessionMs }),
    });
    const others = [other(0), other(320_000)];
    const long = setup({}, 2 * DAY_MS);
    expect(gapWarning({ setup: long, others })).toMatch(/ \(at most 5m 20s in 2 other, shorter runs\)/);
    expect(gapWarning({ setup: long, others: [...others, { ...other(0), setup: long }] })).toMatch(
      / in 3 other runs\)/,
    );
    expect(gapWarning({ others })).toMatch(
      /^shop: there was no session for 16m 40s \(at most 5m 20s in 2 other runs\)\. /,
    );
    const clean = figures({ withoutSessionMs: 0, pastMarginMs: 0 });
    expect(warningsOfAll([{ setup: setup(), figures: clean, others, tried: [] }])).toEqual([
      'shop: there was always a session in this run, and in another one (--for 1d --seed 4) there was none for 5m 20s. No setting was found to bridge it',
    ]);
  });

  it('tells of sessions past their margin what other runs had of it, also where this one had none', () => {
    const past = (pastMarginMs: number): ScheduleFigures => figures({ withoutSessionMs: 0, pastMarginMs });
    const others = [past(0), past(6_000)].map((each): PlayedRun => ({ setup: { ...setup(), seed: 4 }, figures: each }));
    const told = (own: ScheduleFigures, runs: readonly PlayedRun[]): readonly string[] =>
      warningsOfAll([{ setup: setup(), figures: own, others: runs, tried: [] }]);
    expect(told(past(1_000), others)).toEqual([
      'shop: sessions were handed out past their margin for 1s (at most 6s in 2 other runs). No setting was found to bridge it',
    ]);
    expect(told(past(0), others)).toEqual([
      'shop: no session was handed out past its margin in this run, and in another one (--for 1d --seed 4) some were for 6s. No setting was found to bridge it',
    ]);
    expect(told(past(0), others.slice(0, 1))).toEqual([]);
  });

  it('has no advice where the run does not hold the outage', () => {
    expect(warningsOfAll([{ setup: setup(), figures: figures(), notPlayed: 'the outage outlasts the run' }])).toEqual([
      'shop: the outage outlasts the run',
      'shop: there was no session for 16m 40s',
    ]);
  });
});

describe('the warning of a short run', () => {
  const told = (sessions: number, durationMs = DAY_MS, notPlayed?: string): readonly string[] =>
    warningsOfAll([
      {
        setup: setup({ lifetimeMs: DAY_MS, outageMs: 0 }, durationMs),
        figures: figures({ sessions, withoutSessionMs: 0, pastMarginMs: 0 }),
        ...(notPlayed !== undefined && { notPlayed }),
      },
    ]);

  it('names one that has renewals enough, where there were fewer than three', () => {
    expect(told(2)).toEqual(['shop: only 1 renewal was played, which says little of later ones: give --for 4d']);
    expect(told(3)[0]).toMatch(/^shop: only 2 renewals were played, /);
    expect(told(1)[0]).toMatch(/^shop: no renewal was played, /);
    expect([told(4), told(3, 3 * DAY_MS)]).toEqual([[], []]);
  });

  it('is left out where the outage alone asks for a longer one', () => {
    expect(told(2, DAY_MS, 'the outage outlasts the run')).toEqual(['shop: the outage outlasts the run']);
  });
});

describe('the warning of a lead time', () => {
  const warnings = (minutes: number): readonly string[] => {
    const settings = someSettings({ renewBefore: { kind: 'duration', durationMs: minutes * MINUTE_MS } });
    const calm = figures({ withoutSessionMs: 0, pastMarginMs: 0 });
    return warningsOfAll([{ setup: { ...setup(), settings }, figures: calm }]);
  };

  it('says that no more than half of the life is kept', () => {
    expect(warnings(31)).toEqual([
      "shop: session.renewBefore is 31m, more than half of the session's life: sessions are renewed 30m before they end",
    ]);
    expect(warnings(30)).toEqual([]);
  });
});

describe('the warning of a budget', () => {
  const budget = (needed: number): ScheduleFigures['budget'] => [{ calls: 60, perMs: DAY_MS, used: 60, needed }];
  const warnings = (change: Partial<ScheduleFigures>, durationMs = DAY_MS): readonly string[] =>
    warningsOfAll([
      {
        setup: setup({ outageMs: 0 }, durationMs),
        figures: figures({ withoutSessionMs: 0, pastMarginMs: 0, ...change }),
      },
    ]);

  it('is none where calls that failed spent it: the figures say so', () => {
    expect(warnings({ budgetRefusals: 3, budget: budget(30) })).toEqual([]);
    expect(warnings({ budgetRefusals: 3, budget: budget(30), pastMarginMs: 4_000 })).toEqual([
      expect.stringMatching(/^shop: sessions were handed out past their margin for 4s/),
    ]);
  });

  it('says what it cost, which is nothing, where a whole window of the run had calls enough', () => {
    const spare = /^shop: session\.budget is 1 call too small: renewing sessions of 1h takes up to 61 calls in 1d/;
    const unheld = warnings({ budget: budget(61) });
    expect(unheld).toEqual([expect.stringMatching(spare)]);
    expect(unheld[0]).toContain('In this run that cost nothing, for no renewal was held up; a call that fails may');
    const held = warnings({ budget: budget(61), budgetRefusals: 185 });
    expect(held).toEqual([expect.stringMatching(spare)]);
    expect(held[0]).toContain('cost nothing, for no session ended before the next one came');
  });

  it('has no call to spare where the schedule may take each of them, whatever became of the run', () => {
    const spare =
      /^shop: session\.budget has no call to spare: renewing sessions of 1h takes up to 60 calls in 1d, and it allows 60 in 1d\. A call that fails may cost a session\. It is enough for sessions of 1h 10m or longer, with a call to spare: ask the bank for these, or whether it allows more$/;
    expect(warnings({ budget: budget(60) })).toEqual([expect.stringMatching(spare)]);
    const spent = warnings({ budget: budget(60), budgetRefusals: 2, withoutSessionMs: 600_000 });
    expect(spent).toEqual([expect.stringMatching(spare), expect.stringMatching(/^shop: there was no session for 10m/)]);
    expect(warnings({ budget: budget(59) })).toEqual([]);
  });

  it('says what the schedule takes without session.renewEvery, where that is why it takes so many', () => {
    const often = { ...setup(), settings: someSettings({ renewEveryMs: 5 * MINUTE_MS }) };
    const told = (run: SimulationSetup): readonly string[] =>
      warningsOfAll([{ setup: run, figures: figures({ budget: budget(307), budgetRefusals: 1 }) }]);
    expect(told(often)[0]).toMatch(
      /allows 60 in 1d\. Without session\.renewEvery \(5m\) it takes up to 3\d\. Ask the bank/,
    );
    expect(told(setup())[0]).toMatch(
      /allows 60 in 1d\. It is enough for sessions of .*: ask the bank for these, or whether it expects so many before you allow them$/,
    );
  });

  it('is not taken back by a run that is shorter than the window', () => {
    expect(warnings({ budget: budget(61) }, DAY_MS / 2)).toEqual([
      expect.stringMatching(
        /^shop: the budget of create calls will not last: renewing sessions of 1h takes up to 61 calls/,
      ),
    ]);
  });
});

describe('the warnings of many merchants', () => {
  const alike = (withoutSessionMs: number, index: number): Judged => ({
    ...{ setup: { ...setup(), merchant: `m${index + 1}` }, tried: [] },
    figures: figures({
      withoutSessionMs,
      afterOutage: { gapMs: withoutSessionMs / 2, inPauseMs: withoutSessionMs / 2, byBudgetMs: 0 },
    }),
  });

  it('are told once where they differ by seconds, with the shortest and the longest', () => {
    expect(warningsOfAll([58_000, 62_000, 60_000].map(alike))).toEqual([
      expect.stringMatching(
        /^m1, m2, m3: there was no session for 58s to 1m 2s\. Of that, 29s to 31s came after the outage, in/,
      ),
    ]);
  });

  const group = (gapsMs: readonly number[], more: Partial<ScheduleFigures> = {}): Judged => {
    const members = gapsMs.map((withoutSessionMs, index): Member => {
      const lost = { withoutSessionMs, pastMarginMs: Math.min(30_000, withoutSessionMs), ...more };
      return { setup: { ...setup(), merchant: `m${index + 1}` }, figures: figures(lost) };
    });
    return { ...(members[0] ?? never()), alike: members, tried: [] };
  };

  it('count and name of merchants alike those that it is true of', () => {
    const subjects = (...gapsMs: readonly number[]): readonly (string | undefined)[] =>
      warningsOfAll([group(gapsMs)]).map((text) => /^(.*) for \d/.exec(text)?.[1]);
    expect(subjects(9_000, 0, 0, 4_000)).toEqual(['2 of 4 (m1, m4): there was no session']);
    expect(subjects(9_000, 0, 1_000, 1_000, 1_000)).toEqual(['4 of 5 (m1, m3, m4 and 1 other): there was no session']);
    expect(subjects(...Array<number>(60).fill(5_000))).toEqual([
      'all 60 (m1, m2, m3 and 57 others): there was no session',
    ]);
    expect(subjects(9_000, 1_000)).toEqual(['m1, m2: there was no session']);
  });

  it('tell of merchants alike the shortest and the longest time past the margin of those that have any', () => {
    const past = group([0, 0, 0]);
    const alike = (past.alike ?? []).map((one, index): Member => ({
      ...one,
      figures: { ...one.figures, pastMarginMs: [12_000, 0, 5_000][index] ?? 0 },
    }));
    expect(warningsOfAll([{ ...past, ...alike[0], alike }])).toEqual([
      expect.stringMatching(/^2 of 3 \(m1, m3\): sessions were handed out past their margin for 5s to 12s\. /),
    ]);
  });

  it('tell of merchants alike what came after the outage for those that it is true of', () => {
    const one = group([60_000, 50_000]);
    const alike = (one.alike ?? []).map((member, index): Member => {
      const afterMs = [20_000, 0][index] ?? 0;
      const afterOutage = { gapMs: afterMs, inPauseMs: afterMs, byBudgetMs: 0 };
      return { ...member, figures: { ...member.figures, afterOutage } };
    });
    expect(warningsOfAll([{ ...one, ...alike[0], alike }])[0]).toMatch(
      /^m1, m2: there was no session for 50s to 1m\. Of that, at most 20s came after the outage, in the pause /,
    );
  });

  it('add up the calls of merchants alike, and name those that they are of', () => {
    const one = group([0, 0, 0], { pastMarginMs: 0 });
    const alike = (one.alike ?? []).map((member, index): Member => ({
      ...member,
      figures: { ...member.figures, failures: index === 1 ? {} : { timeout: 2 } },
    }));
    expect(warningsOfAll([{ ...one, alike }])).toEqual([
      expect.stringMatching(/^2 of 3 \(m1, m3\): 4 of 80 create calls took longer than gateway\.timeout /),
    ]);
  });

  it('say of advice for how many of the merchants alike it was tried', () => {
    const one = group([9_000, 9_000, 9_000]);
    const told = (effect: 'bridges' | 'shortens', merchants: number): string | undefined =>
      warningsOfAll([
        {
          ...one,
          tried: [tried(lead(0.4), { effect, lostMs: effect === 'bridges' ? 0 : 4_000, merchants, isSure: false })],
        },
      ])[0]?.split('\n')[1];
    expect(told('bridges', 3)).toMatch(/ bridged it in all of the 8 runs that were tried, of all 3 merchants, with /);
    expect(told('shortens', 2)).toMatch(/ to 4s in the 8 runs that were tried, of 2 of the 3 merchants, with /);
  });

  it('are told apart where they differ by minutes', () => {
    expect(warningsOfAll([58_000, 62_000, 200_000].map(alike)).map((text) => text.split(':')[0])).toEqual([
      ...['m1, m2', 'm3'],
    ]);
  });

  it('send to one of them where others have the advice', () => {
    const { setup: run, figures: lost } = alike(58_000, 0);
    expect(warningsOfAll([{ setup: run, figures: lost, isOneOfMany: true }])[0]).toMatch(
      /\. Name one with --merchant to see what bridges it$/,
    );
    expect(warningsOfAll([{ setup: run, figures: lost }])[0]).toMatch(
      /\. Give --for \d+d at most to see what bridges it$/,
    );
  });

  it('are told once for those that have the same, with the first of them', () => {
    const of = (merchant: string, withoutSessionMs: number): Judged => ({
      ...{ setup: { ...setup(), merchant }, figures: figures({ withoutSessionMs }), tried: [] },
    });
    const alone = warningsOfAll([of('b', 60_000)]);
    const told = warningsOfAll([of('a', 1_000_000), of('b', 60_000), of('c', 1_000_000)]);
    expect(told).toEqual([expect.stringMatching(/^a, c: there was no session for 16m 40s/), ...alone]);
    expect(alone).toHaveLength(1);
  });
});
