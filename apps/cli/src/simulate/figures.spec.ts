import { instantFromEpochMs } from '#libs/clock';
import { aSession, someSettings } from '#libs/testing';
import { figuresOf, type ScheduleFigures, sumOfMerchants } from './figures.js';
import type { SimulationSetup } from './played-gateway.js';
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
  ...change,
});

const figuresIn = (change: Partial<SimulationLog>, durationMs: number): ScheduleFigures =>
  figuresOf(log(change), { durationMs, settings });

describe('the figures of a schedule', () => {
  it('count a renewal that the budget holds up once, however often it is tried until the next call', () => {
    const held = { event: 'claim_refused', merchant: 'shop', trigger: 'schedule', reason: 'budget_exhausted' } as const;
    const called = { event: 'renewal_finished', merchant: 'shop', trigger: 'schedule', outcome: 'transient' } as const;
    const events = [held, held, called, held] as unknown as SimulationLog['events'];
    expect(figuresIn({ events }, HOUR_MS)).toMatchObject({ budgetRefusals: 2 });
  });

  it('tell time past the margin from time without a session', () => {
    const sessions = [taken(0), taken(95_000), taken(215_000)];
    expect(figuresIn({ sessions }, 220_000)).toMatchObject({
      worstRemainingMs: -20_000,
      pastMarginMs: 15_000,
      withoutSessionMs: 20_000,
    });
  });

  it('tell what of the time without a session came after the outage, in whichever gap', () => {
    const after = (change: Partial<SimulationLog>): unknown =>
      figuresIn({ sessions: [taken(0), taken(500_000)], outageEndsAtMs: 300_000, ...change }, 550_000).afterOutage;
    expect(after({})).toEqual({ gapMs: 200_000 });
    expect(after({ sessions: [taken(0)] })).toEqual({ gapMs: 250_000 });
    // The session outlived the outage, by 10 s: the whole gap came after it.
    expect(after({ outageEndsAtMs: 90_000 })).toEqual({ gapMs: 400_000 });
    expect(after({ outageEndsAtMs: 600_000 })).toBeUndefined();
    const sessions = [taken(0), taken(150_000), taken(400_000), taken(900_000)];
    expect(figuresIn({ sessions, outageEndsAtMs: 120_000 }, 950_000)).toMatchObject({
      ...{ withoutSessionMs: 600_000, gaps: 3, longestGap: { startsAfterMs: 500_000, gapMs: 400_000 } },
      afterOutage: { gapMs: 580_000 },
    });
  });

  it('are summed up as the gateway sees all merchants', () => {
    const runs = [{}, { callsAtMs: [0, 1_000], sessions: [taken(0)] }].map((change) => ({
      ...{ setup: {} as SimulationSetup, log: log(change) },
      figures: figuresIn(change, 110_000),
    }));
    expect(sumOfMerchants(runs, 110_000)).toMatchObject({
      ...{ merchants: 2, createCalls: 2, mostInAnHour: 2, failures: {}, heldUp: 0, withGap: 2, longestGapMs: 110_000 },
    });
  });
});
