import { BrokerError } from '#libs/errors';
import { aDeathReport, aSession, FakeClock, RecordedEvents, someSettings } from '#libs/testing';
import { HeldSessions } from './held-sessions.js';
import type { DeathReport } from './ports/session-store.js';
import { ReportedDeaths } from './reported-deaths.js';

const SPENT = { kind: 'budget_exhausted', retryInMs: 60_000 } as const;

class Reported {
  readonly clock = new FakeClock();
  readonly held = new HeldSessions(this.clock);
  configured = ['shop'];
  /** What the store was told, and how it answers. */
  readonly told: DeathReport[] = [];
  telling: () => Promise<boolean> = async () => true;
  readonly events = new RecordedEvents();
  readonly deaths = new ReportedDeaths({
    store: {
      reportDead: async (_merchant, report) => {
        this.told.push(report);
        return this.telling();
      },
    },
    events: this.events,
    held: this.held,
    clock: this.clock,
    merchants: {
      ids: () => this.configured,
      settingsOf: (id) => (this.configured.includes(id) ? someSettings() : undefined),
      gatewayIdOf: () => 'gateway',
    },
  });

  constructor() {
    this.held.adopt(aSession({ generation: 7 }), 0);
  }
}

describe('a session that a consumer has reported dead', () => {
  it('is known as that while nothing newer is held, and says until when the share of the budget is spent', async () => {
    const { clock, deaths, held } = new Reported();
    deaths.note('shop', 7, SPENT);
    expect(deaths.of('shop')?.shareSpentUntil).toBeGreaterThan(clock.now());
    await clock.advance(60_000);
    expect(deaths.of('shop')).toEqual({ generation: 7 });
    held.adopt(aSession({ generation: 8 }), 0);
    expect(deaths.of('shop')).toBeUndefined();
  });

  it.each(['backing_off', 'store_down'] as const)(
    'is known as that when the wish for a newer one ends as %s',
    (kind) => {
      const { deaths } = new Reported();
      deaths.note('shop', 7, { kind, retryInMs: 1 });
      expect(deaths.of('shop')).toEqual({ generation: 7 });
    },
  );

  it('is none while somebody is at it, or has just been', () => {
    const { deaths } = new Reported();
    deaths.note('shop', 7, undefined);
    for (const kind of ['held', 'lost', 'stopping'] as const) deaths.note('shop', 7, { kind, retryInMs: 1 });
    expect(deaths.of('shop')).toBeUndefined();
  });

  it('is known as that for some minutes after the cool-down in which it was reported, and then as a slip', async () => {
    const { clock, deaths } = new Reported();
    deaths.note('shop', 7, { kind: 'cooled_down', retryInMs: 9_000 });
    expect(deaths.of('shop')?.coolsDownUntil).toBeGreaterThan(clock.now());
    await clock.advance(9_000);
    expect(deaths.of('shop')).toEqual({ generation: 7 });
    await clock.advance(300_000);
    expect(deaths.of('shop')).toBeUndefined();
  });

  it('is none any more once it has expired: then nothing of the budget is kept back', async () => {
    const { clock, deaths, held } = new Reported();
    deaths.note('shop', 7, { ...SPENT, retryInMs: 1e9 });
    await clock.advance(held.facts('shop').leftMs);
    expect(deaths.of('shop')).toBeUndefined();
  });

  it('is remembered of configured merchants alone', () => {
    const reported = new Reported();
    reported.deaths.note('shop', 7, SPENT);
    reported.deaths.forget('shop');
    reported.configured = [];
    reported.deaths.note('shop', 7, SPENT);
    expect(reported.deaths.of('shop')).toBeUndefined();
  });
});

const COOLED = { kind: 'cooled_down', retryInMs: 10_000 } as const;

describe('what replicas tell each other of it', () => {
  it('is told to the store once, with what holds up a newer one and for how long', async () => {
    const { clock, deaths, told } = new Reported();
    for (let report = 0; report < 3; report += 1) {
      deaths.note('shop', 7, { ...COOLED, retryInMs: 10_000 - report * 1_000 });
      await clock.advance(1_000);
    }
    expect(told).toEqual([aDeathReport({ generation: 7 })]);
    deaths.note('shop', 7, SPENT);
    await clock.advance(0);
    expect(told.slice(1)).toEqual([{ generation: 7, ageMs: 0, heldUp: { by: 'budget', forMs: 60_000 } }]);
  });

  it('is told anew when the end is a later one, and not for an earlier one: two that count for themselves come to an end', async () => {
    const { clock, deaths, told } = new Reported();
    for (const retryInMs of [60_000, 90_000, 60_000, 90_000, 60_000]) deaths.note('shop', 7, { ...SPENT, retryInMs });
    await clock.advance(0);
    expect(told.map(({ heldUp }) => heldUp?.forMs)).toEqual([60_000, 90_000]);
  });

  it('is told once where one replica is refused by a pause and the other by the budget it counts itself: the later end counts', async () => {
    const { clock, deaths, told } = new Reported();
    for (let report = 0; report < 3; report += 1) {
      deaths.note('shop', 7, { kind: 'cooled_down', retryInMs: 600_000 });
      deaths.note('shop', 7, SPENT);
    }
    await clock.advance(0);
    expect(told.map(({ heldUp }) => heldUp?.by)).toEqual(['cool_down']);
  });

  it('is told again after half a pause in which it was reported, so that the others know that it goes on', async () => {
    const { clock, deaths, told } = new Reported();
    const untilMs = 3_600_000;
    for (let passedMs = 0; passedMs < 900_000; passedMs += 60_000) {
      deaths.note('shop', 7, { ...SPENT, retryInMs: untilMs - passedMs });
      await clock.advance(60_000);
    }
    const forMs = [untilMs, untilMs - 300_000, untilMs - 600_000];
    expect(told).toEqual(forMs.map((ms) => ({ generation: 7, ageMs: 0, heldUp: { by: 'budget', forMs: ms } })));
  });

  it('is told again with the later end, whoever counts to an earlier one', async () => {
    const { clock, deaths, told } = new Reported();
    deaths.note('shop', 7, { ...SPENT, retryInMs: 600_000 });
    await clock.advance(300_000);
    deaths.note('shop', 7, SPENT);
    await clock.advance(0);
    expect(told.map(({ heldUp }) => heldUp?.forMs)).toEqual([600_000, 300_000]);
  });

  it('makes it known here as it is known there, and is not told back', async () => {
    const { clock, deaths, told } = new Reported();
    deaths.see('shop', aDeathReport({ generation: 7, ageMs: 4_000 }));
    expect(deaths.of('shop')).toEqual({ generation: 7, coolsDownUntil: clock.now() + 6_000 });
    deaths.see('shop', { generation: 7, ageMs: 1_000, heldUp: { by: 'budget', forMs: 60_000 } });
    expect(deaths.of('shop')).toEqual({ generation: 7, shareSpentUntil: clock.now() + 59_000 });
    deaths.see('shop', { generation: 7, ageMs: 0 });
    expect(deaths.of('shop')).toEqual({ generation: 7 });
    await clock.advance(0);
    expect(told).toEqual([]);
  });

  it('ends everywhere at one time, also for a replica that starts long after the report', async () => {
    const { clock, deaths } = new Reported();
    deaths.see('shop', aDeathReport({ generation: 7, ageMs: 309_999 }));
    expect(deaths.of('shop')).toEqual({ generation: 7 });
    await clock.advance(1);
    expect(deaths.of('shop')).toBeUndefined();
  });

  it('never lasts longer than was said because the clock of the store was set back', () => {
    const { clock, deaths } = new Reported();
    deaths.see('shop', aDeathReport({ generation: 7, ageMs: -3_600_000 }));
    expect(deaths.of('shop')?.coolsDownUntil).toBe(clock.now() + 10_000);
  });

  it('is of the session that is held alone', () => {
    const { deaths, held } = new Reported();
    deaths.see('shop', aDeathReport({ generation: 6 }));
    expect(deaths.of('shop')).toBeUndefined();
    deaths.see('shop', aDeathReport({ generation: 7 }));
    deaths.see('shop', aDeathReport({ generation: 6 }));
    expect(deaths.of('shop')).toMatchObject({ generation: 7 });
    held.adopt(aSession({ generation: 8 }), 0);
    expect(deaths.of('shop')).toBeUndefined();
  });

  it('is told with the next look when the store did not answer, and again when it has lost it', async () => {
    const reported = new Reported();
    const { clock, deaths, told, events } = reported;
    reported.telling = async () => {
      throw new BrokerError('store_unavailable');
    };
    deaths.note('shop', 7, { kind: 'store_down', retryInMs: 1_000 });
    await clock.advance(5_000);
    expect(told).toHaveLength(1);
    reported.telling = async () => true;
    deaths.see('shop', undefined);
    await clock.advance(0);
    expect(told.slice(1)).toEqual([{ generation: 7, ageMs: 5_000 }]);
    deaths.see('shop', { generation: 7, ageMs: 5_000 });
    await clock.advance(0);
    expect(told).toHaveLength(2);
    deaths.see('shop', undefined);
    await clock.advance(0);
    expect([told.length, events.of('broken')]).toEqual([3, []]);
  });

  it('does not overwrite what the store is still to be told', async () => {
    const reported = new Reported();
    const { clock, deaths, told } = reported;
    let answer = (_isKept: boolean): void => undefined;
    reported.telling = () => new Promise((resolve) => (answer = resolve));
    deaths.note('shop', 7, COOLED);
    deaths.note('shop', 7, SPENT);
    deaths.see('shop', aDeathReport({ generation: 7 }));
    expect(deaths.of('shop')).toHaveProperty('shareSpentUntil');
    reported.telling = async () => true;
    answer(true);
    await clock.advance(0);
    expect(told.map(({ heldUp }) => heldUp?.by)).toEqual(['cool_down', 'budget']);
  });

  it('is told once the store has the session, where that has another one', async () => {
    const reported = new Reported();
    const { clock, deaths, told } = reported;
    reported.telling = async () => false;
    deaths.note('shop', 7, COOLED);
    await clock.advance(0);
    deaths.see('shop', undefined);
    await clock.advance(0);
    expect(told).toHaveLength(2);
  });

  it('is not told of a report that is forgotten, and shows a mistake of ours', async () => {
    const reported = new Reported();
    const { clock, deaths, told, events } = reported;
    const mistake = new TypeError('a bug of ours');
    reported.telling = async () => {
      throw mistake;
    };
    deaths.note('shop', 7, COOLED);
    deaths.forget('shop');
    await clock.advance(0);
    deaths.see('shop', undefined);
    await clock.advance(0);
    expect([told.length, events.of('broken')]).toEqual([1, [expect.objectContaining({ error: mistake })]]);
  });
});
