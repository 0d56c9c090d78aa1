import { plusMs } from '#libs/clock';
import { aNow, aSession, Play, someSettings } from '#libs/testing';
import { areForeign, beforeNext, isReportedDead, overAt, quietMs } from './deaths.js';
import type { Effect, Input } from './life.js';
import { heldFrom, type Now } from './merchant.js';
import type { DeathReport, StoredReport } from './ports/session-store.js';
import type { Session } from './session.js';

const HOUR = 3_600_000;
/** Short enough for two of them after an early death, before the session ends. */
const PAUSE_MS = 120_000;
/** A quarter of the fifteen minutes that a session lives here. */
const EARLY_MS = 225_000;
const START = aNow().wall;

/** One replica's view of the deaths of one merchant's sessions. */
class Deaths extends Play {
  override now = aNow({ settings: someSettings({ foreignAuthorizerPauseMs: PAUSE_MS }) });

  /** Whether somebody else was said to create, in order. */
  get said(): readonly boolean[] {
    return this.told.flatMap((told) => (told.event === 'foreign_authorizer' ? [told.isPresent] : []));
  }

  holding(generation: number, deathsBefore?: number, overrides: Partial<Session> = {}): this {
    const { wall, ms } = this.now;
    const moments = { createdAt: wall, renewAt: plusMs(wall, 720_000), expiresAt: plusMs(wall, 900_000) };
    const facts = deathsBefore === undefined ? {} : { deathsBefore };
    this.merchant = {
      ...this.merchant,
      held: heldFrom(aSession({ generation, ...moments, ...facts, ...overrides }), ms),
    };
    this.feed({ on: 'wake' });
    return this;
  }

  within(now: Partial<Now>): this {
    this.now = { ...this.now, ...now };
    return this;
  }

  override pass(ms: number): this {
    super.pass(ms).feed({ on: 'wake' });
    return this;
  }

  /** @returns whether the store was asked what the death proves */
  reject(generation: number, reason = 'b_expired_token'): boolean {
    return this.feed({ on: 'rejected', generation, reason }).some((effect) => effect.do === 'report');
  }

  judge(generation: number, diedEarly = true): this {
    const report = { generation, ageMs: 0, mayProve: true };
    this.feed({ on: 'reported', report, answer: { isKept: true, diedEarly } });
    return this;
  }

  taken(isKept: boolean): void {
    const report = { generation: 10, ageMs: 0, mayProve: false };
    this.feed({ on: 'reported', report, answer: { isKept, diedEarly: false } });
  }

  readsOf(stored: Omit<StoredReport, 'diedEarly'> | undefined): readonly Effect[] {
    const diedEarly = this.merchant.held?.verdict === 'died_early';
    const report = stored === undefined ? {} : { reportedDead: { ...stored, diedEarly } };
    return this.read({ stored: { kind: 'unchanged', ageMs: 0 }, dueInMs: 1, ...report });
  }

  get isForeign(): boolean {
    return areForeign(this.merchant, this.now);
  }

  next(isDoubtful = false): number | undefined {
    return beforeNext(this.merchant, isDoubtful, this.now).deathsBefore;
  }

  get isReported(): boolean {
    return isReportedDead(this.merchant, this.now);
  }
}

describe('a session that is reported dead', () => {
  it('is held against the store once, if its death proves something', () => {
    expect(new Deaths().holding(10, 0).reject(10)).toBe(true);
    const judged = new Deaths().holding(10, 0).judge(10);
    expect([judged.reject(10), judged.merchant.report]).toEqual([false, undefined]);
    const cleared = new Deaths().holding(10, 0).judge(10, false);
    expect([cleared.reject(10), cleared.merchant.held?.verdict]).toEqual([false, 'proves_nothing']);
  });

  it.each<[string, (deaths: Deaths) => Deaths]>([
    ['it is not the one that is held', (deaths) => deaths.holding(11, 0)],
    ['a call of ours may have ended it', (deaths) => deaths.holding(10)],
    ['it has lived long enough', (deaths) => deaths.holding(10, 0).pass(EARLY_MS)],
    ['others may still offer what the store has lost', (deaths) => deaths.within({ graceMs: 1 }).holding(10, 0)],
  ])('proves nothing when %s', (_why, prepare) => {
    expect(prepare(new Deaths()).reject(10)).toBe(false);
  });

  it('proves nothing when the bank has not said that it is dead', () => {
    expect(new Deaths().holding(10, 0).reject(10, 'http_401')).toBe(false);
  });

  it('has died early within a quarter of its lifetime, and within an hour', () => {
    const day = { expiresAt: plusMs(START, 24 * HOUR), renewAt: plusMs(START, 20 * HOUR) };
    expect(
      new Deaths()
        .holding(10, 0, day)
        .pass(HOUR - 1)
        .reject(10),
    ).toBe(true);
    expect(new Deaths().holding(10, 0, day).pass(HOUR).reject(10)).toBe(false);
  });
});

describe('the count of early deaths', () => {
  it('goes on from a session that died early or is young, and begins anew after one that lived', () => {
    expect(new Deaths().next()).toBe(0);
    expect(new Deaths().holding(10, 1).next()).toBe(1);
    expect(
      new Deaths()
        .holding(10, 0)
        .judge(10)
        .pass(EARLY_MS * 2)
        .next(),
    ).toBe(1);
    expect(new Deaths().holding(10, 1).pass(EARLY_MS).next()).toBe(0);
  });

  it('begins anew once somebody else has been quiet for two pauses, as it would otherwise go on for ever', () => {
    const deaths = new Deaths()
      .holding(10, 1)
      .judge(10)
      .pass(EARLY_MS + 2 * PAUSE_MS);
    expect([deaths.isForeign, deaths.next()]).toEqual([false, 0]);
  });

  it('says nothing of a session that a call of ours may end, unless somebody else is known already', () => {
    expect(new Deaths().holding(10, 0).next(true)).toBeUndefined();
    expect(new Deaths().holding(10, 2).next(true)).toBe(2);
  });
});

describe('somebody else', () => {
  it('is there after two early deaths in a row, and is told of once', () => {
    const deaths = new Deaths().holding(10, 1);
    expect([deaths.isForeign, overAt(deaths.merchant, deaths.now)]).toEqual([false, undefined]);
    deaths.judge(10).pass(1_000);
    expect([deaths.isForeign, deaths.said]).toEqual([true, [true]]);
    // Nobody knows when somebody stops who has just ended a session.
    expect(overAt(deaths.merchant, deaths.now)).toBeUndefined();
  });

  it('is said to be quiet since the last report, or since the session was made', () => {
    const deaths = new Deaths().holding(11, 2).pass(5_000);
    expect(quietMs(deaths.merchant, deaths.now)).toBe(5_000);
    deaths.reject(11);
    expect(quietMs(deaths.pass(3_000).merchant, deaths.now)).toBe(3_000);
  });

  it('is there until a newer session has outlived an early death, and that is known beforehand', () => {
    const deaths = new Deaths().holding(11, 2);
    expect(overAt(deaths.merchant, deaths.now)).toBe(plusMs(START, EARLY_MS));
    deaths.pass(EARLY_MS - 1);
    expect(deaths.isForeign).toBe(true);
    deaths.pass(1);
    expect([deaths.isForeign, deaths.said]).toEqual([false, [true, false]]);
  });

  it('stays for two pauses beside a dead session, from its last report on, whoever reported it', () => {
    const quiet = new Deaths().holding(10, 1).judge(10);
    expect(quiet.pass(EARLY_MS + 2 * PAUSE_MS - 1).isForeign).toBe(true);
    expect(quiet.pass(1).isForeign).toBe(false);
    const reported = new Deaths().holding(10, 1).judge(10).pass(EARLY_MS);
    reported.readsOf({ generation: 10, ageMs: 0 });
    expect(reported.pass(2 * PAUSE_MS - 1).isForeign).toBe(true);
    expect(reported.pass(1).isForeign).toBe(false);
  });

  it('stays after the end of a dead session: without one nobody can report anything', () => {
    const deaths = new Deaths().holding(10, 1).judge(10).pass(800_000);
    deaths.reject(10);
    expect(deaths.pass(HOUR).isForeign).toBe(true);
  });

  it('is nobody by the word of a store whose clock was set back', () => {
    const deaths = new Deaths()
      .holding(10, 1)
      .judge(10)
      .pass(EARLY_MS + PAUSE_MS);
    deaths.readsOf({ generation: 10, ageMs: -1 });
    expect(deaths.pass(PAUSE_MS).isForeign).toBe(false);
  });
});

describe('a report that something lasting kept from being acted on', () => {
  const spent = { kind: 'budget_exhausted', retryInMs: 60_000 } as const;
  const silent = { kind: 'store_down', retryInMs: 1_000 } as const;
  const unreplaced = (deaths: Deaths, result: Extract<Input, { on: 'unreplaced' }>['result']): DeathReport[] =>
    deaths
      .feed({ on: 'unreplaced', generation: 10, result })
      .flatMap((effect) => (effect.do === 'report' ? [effect.report] : []));

  it.each([spent, { kind: 'backing_off', retryInMs: 1 }, { kind: 'cooled_down', retryInMs: 1 }, silent] as const)(
    'is told to the store, and to people for a pause: $kind',
    (result) => {
      const deaths = new Deaths().holding(10, 0).pass(10_000);
      expect(unreplaced(deaths, result)).toEqual([{ generation: 10, ageMs: 0, mayProve: false }]);
      expect(deaths.pass(PAUSE_MS - 1).isReported).toBe(true);
      expect(deaths.pass(1).isReported).toBe(false);
    },
  );

  it('is told to nobody after the end of the session, which is then replaced like any other', () => {
    const deaths = new Deaths().holding(10, 0).pass(890_000);
    unreplaced(deaths, spent);
    expect([deaths.isReported, deaths.pass(10_000).isReported]).toEqual([true, false]);
  });

  it('is none while somebody is at it', () => {
    expect(unreplaced(new Deaths().holding(10, 0), { kind: 'held', retryInMs: 5_000 })).toEqual([]);
  });

  it('is told again when half a pause has passed, whatever holds it up', () => {
    const deaths = new Deaths().holding(10, 0);
    expect([unreplaced(deaths, spent), unreplaced(deaths, silent)]).toMatchObject([[{ ageMs: 0 }], []]);
    expect(unreplaced(deaths.pass(PAUSE_MS / 2 - 1), spent)).toEqual([]);
    expect(unreplaced(deaths.pass(1), silent)).toMatchObject([{ ageMs: 0 }]);
  });

  it('is told again when the store did not answer, or has lost it', () => {
    const deaths = new Deaths().holding(10, 0);
    unreplaced(deaths, spent);
    const told = (): number => deaths.readsOf(undefined).filter((effect) => effect.do === 'report').length;
    expect(told()).toBe(0);
    deaths.taken(false);
    expect(told()).toBe(1);
    // What it has is an older one.
    deaths.taken(false);
    expect(deaths.readsOf({ generation: 10, ageMs: PAUSE_MS })).toMatchObject([{ do: 'report', report: { ageMs: 0 } }]);
    deaths.taken(true);
    expect(told()).toBe(1);
    const report = { generation: 10, ageMs: 0, mayProve: false };
    deaths.feed({ on: 'reported', report, answer: 'outage' });
    expect(told()).toBe(1);
  });

  it('is not forgotten for an older one that the store has, before the store has taken it', () => {
    const deaths = new Deaths().holding(10, 0);
    unreplaced(deaths, spent);
    deaths.readsOf({ generation: 10, ageMs: PAUSE_MS });
    expect(deaths.isReported).toBe(true);
    deaths.taken(true);
    deaths.readsOf({ generation: 10, ageMs: PAUSE_MS });
    expect(deaths.isReported).toBe(false);
  });

  it('is known from the store as it is known there, and is not told back', () => {
    const deaths = new Deaths().holding(10, 0).pass(10_000);
    const effects = deaths.readsOf({ generation: 10, ageMs: 4_000 });
    expect(effects.filter((effect) => effect.do === 'report')).toEqual([]);
    expect([deaths.isReported, deaths.merchant.held?.isReported]).toEqual([true, true]);
    expect(quietMs(deaths.merchant, deaths.now)).toBe(10_000);
    expect(deaths.pass(PAUSE_MS - 4_001).isReported).toBe(true);
    expect(deaths.pass(1).isReported).toBe(false);
  });

  it('is none of the future by the word of a store whose clock was set back', () => {
    const deaths = new Deaths().holding(10, 0);
    deaths.readsOf({ generation: 10, ageMs: -PAUSE_MS });
    expect(deaths.pass(PAUSE_MS).isReported).toBe(false);
  });

  it('says nothing of any other session', () => {
    const deaths = new Deaths().holding(11, 0);
    expect(unreplaced(deaths, spent)).toEqual([]);
    deaths.readsOf({ generation: 10, ageMs: 0 });
    expect(deaths.isReported).toBe(false);
  });
});
