import { instantFromEpochMs, plusMs } from '#libs/clock';
import { aSession, someSettings } from '#libs/testing';
import { figuresOf } from './figures.js';
import type { SimulationLog, TakenSession } from './simulation.js';

const HOUR_MS = 3_600_000;
const budget = [{ calls: 5, perMs: 60_000 }];
const settings = someSettings({ budget });

/** A session of 100 s with a margin of 10 s. */
const taken = (atMs: number): TakenSession => ({
  atMs,
  session: aSession({
    mustRenewAt: instantFromEpochMs(atMs + 90_000),
    expiresAt: instantFromEpochMs(atMs + 100_000),
  }),
});

const log = (change: Partial<SimulationLog>): SimulationLog => ({
  startsAt: instantFromEpochMs(0),
  callsAtMs: [],
  sessions: [],
  events: [],
  heldUpAtMs: [],
  ...change,
});

describe('the figures of a schedule', () => {
  it('count calls in the fullest hour and window', () => {
    const callsAtMs = [0, 30_000, 59_999, 60_000, HOUR_MS + 1];
    expect(figuresOf(log({ callsAtMs }), 2 * HOUR_MS, settings)).toMatchObject({
      createCalls: 5,
      createCallsPerHour: 2.5,
      mostInAnHour: 4,
      budget: [{ calls: 5, perMs: 60_000, used: 3, needed: 0 }],
    });
  });

  it('compare each window of the budget with what was called in it, and with what the schedule alone would call', () => {
    const windows = [...budget, { calls: 60, perMs: 24 * HOUR_MS }];
    const session = aSession({ expiresAt: plusMs(aSession().createdAt, HOUR_MS) });
    const late = someSettings({ budget: windows, renewBefore: { kind: 'duration', durationMs: 0 } });
    const made = log({ callsAtMs: [0, HOUR_MS], sessions: [{ atMs: 0, session }] });
    expect(figuresOf(made, 2 * HOUR_MS, late).budget).toEqual([
      { calls: 5, perMs: 60_000, used: 1, needed: 1 },
      { calls: 60, perMs: 24 * HOUR_MS, used: 2, needed: 24 },
    ]);
  });

  it('count a renewal that the budget holds up once, however often it is tried until the next call', () => {
    const held = { event: 'claim_refused', merchant: 'shop', trigger: 'schedule', reason: 'budget_exhausted' } as const;
    const called = { event: 'renewal_finished', merchant: 'shop', trigger: 'schedule', outcome: 'transient' } as const;
    const events = [held, held, called, held] as unknown as SimulationLog['events'];
    expect(figuresOf(log({ events }), HOUR_MS, settings)).toMatchObject({ budgetRefusals: 2 });
  });

  it('take the least that was left when a session was replaced', () => {
    const sessions = [taken(0), taken(60_000), taken(130_000)];
    expect(figuresOf(log({ sessions }), 140_000, settings)).toMatchObject({
      worstRemainingMs: 30_000,
      pastMarginMs: 0,
      withoutSessionMs: 0,
    });
  });

  it('tell time past the margin from time without a session', () => {
    const sessions = [taken(0), taken(95_000), taken(215_000)];
    expect(figuresOf(log({ sessions }), 220_000, settings)).toMatchObject({
      worstRemainingMs: -20_000,
      pastMarginMs: 15_000,
      withoutSessionMs: 20_000,
    });
  });

  it('tell what of the time without a session came after the outage, and what it came of', () => {
    const inOutage = {
      sessions: [taken(0), taken(500_000)],
      callsAtMs: [0, 290_000, 499_700],
      outageEndsAtMs: 300_000,
    };
    const after = (change: Partial<SimulationLog>): unknown =>
      figuresOf(log({ ...inOutage, ...change }), 550_000, settings).afterOutage;
    const inPause = (gapMs: number): object => ({ gapMs, inPauseMs: gapMs, byBudgetMs: 0 });
    const byBudget = (gapMs: number): object => ({ gapMs, inPauseMs: 0, byBudgetMs: gapMs });
    expect(after({})).toEqual(inPause(200_000));
    // A refusal that was followed by a call held up nothing that was left.
    expect(after({ heldUpAtMs: [289_000] })).toEqual(inPause(200_000));
    expect(after({ heldUpAtMs: [291_000] })).toEqual(byBudget(200_000));
    expect(after({ sessions: [taken(0)], callsAtMs: [0, 290_000] })).toEqual(inPause(250_000));
    // The session outlived the outage, by 10 s: the whole gap came after it.
    expect(after({ outageEndsAtMs: 90_000 })).toEqual(inPause(400_000));
    expect(after({ outageEndsAtMs: 90_000, heldUpAtMs: [295_000] })).toEqual(byBudget(400_000));
    // This gap has nothing to do with the outage: a session came after it.
    const later = after({ outageEndsAtMs: 20_000, sessions: [taken(0), taken(90_000)] });
    expect(later).toEqual({ gapMs: 360_000, inPauseMs: 0, byBudgetMs: 0 });
    expect(after({ outageEndsAtMs: 600_000 })).toBeUndefined();
  });

  it('count among what came after the outage a later gap of the budget that it has spent', () => {
    const sessions = [taken(0), taken(150_000), taken(400_000), taken(900_000)];
    const later = { sessions, callsAtMs: [0, 90_000, 149_000, 399_000, 899_000], outageEndsAtMs: 120_000 };
    const figures = (heldUpAtMs: readonly number[]): unknown =>
      figuresOf(log({ ...later, heldUpAtMs }), 950_000, settings);
    expect(figures([240_000])).toMatchObject({
      ...{ withoutSessionMs: 600_000, gaps: 3, longestGap: { startsAfterMs: 500_000, gapMs: 400_000 } },
      afterOutage: { gapMs: 580_000, inPauseMs: 30_000, byBudgetMs: 150_000 },
    });
    expect(figures([240_000, 490_000])).toMatchObject({
      afterOutage: { gapMs: 580_000, inPauseMs: 30_000, byBudgetMs: 550_000 },
    });
  });

  it('compare the last session with the end', () => {
    expect(figuresOf(log({ sessions: [taken(0)] }), 250_000, settings).withoutSessionMs).toBe(150_000);
    expect(figuresOf(log({ sessions: [taken(0)] }), 50_000, settings)).not.toHaveProperty('worstRemainingMs');
    expect(figuresOf(log({}), 50_000, settings).withoutSessionMs).toBe(50_000);
  });
});
