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
    const sessions = [taken(0), taken(500_000)];
    const inOutage = { sessions, outageEndsAtMs: 300_000 };
    const after = (change: Partial<SimulationLog>): unknown =>
      figuresOf(log({ ...inOutage, ...change }), 550_000, settings).afterOutage;
    expect(after({})).toEqual({ gapMs: 200_000, by: 'back_off' });
    expect(after({ heldUpAtMs: [299_000] })).toEqual({ gapMs: 200_000, by: 'back_off' });
    expect(after({ heldUpAtMs: [301_000] })).toEqual({ gapMs: 200_000, by: 'budget' });
    expect(after({ sessions: [taken(0)] })).toEqual({ gapMs: 250_000, by: 'back_off' });
    // The session outlived the outage, by 10 s: the whole gap came after it.
    expect(after({ outageEndsAtMs: 90_000 })).toEqual({ gapMs: 400_000, by: 'back_off' });
    expect(after({ outageEndsAtMs: 90_000, heldUpAtMs: [95_000] })).toEqual({ gapMs: 400_000, by: 'budget' });
    expect(after({ outageEndsAtMs: 20_000, sessions: [taken(0), taken(90_000)] })).toBeUndefined();
    expect(after({ outageEndsAtMs: 600_000 })).toBeUndefined();
  });

  it('compare the last session with the end', () => {
    expect(figuresOf(log({ sessions: [taken(0)] }), 250_000, settings).withoutSessionMs).toBe(150_000);
    expect(figuresOf(log({ sessions: [taken(0)] }), 50_000, settings)).not.toHaveProperty('worstRemainingMs');
    expect(figuresOf(log({}), 50_000, settings).withoutSessionMs).toBe(50_000);
  });
});
