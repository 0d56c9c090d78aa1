import { plusMs } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { aSession, FakeClock, RecordedEvents, someSettings } from '#libs/testing';
import { EarlyDeaths, type EarlyDeathsContext } from './early-deaths.js';
import { HeldSessions } from './held-sessions.js';
import { MomentWatches } from './moment-watches.js';
import type { Session } from './session.js';

const HOUR = 3_600_000;
/** Short enough for two of them after an early death, before the session ends. */
const PAUSE_MS = 120_000;
/** A quarter of the fifteen minutes that a session lives here. */
const EARLY_MS = 225_000;

/** One replica's view of the deaths of one merchant's sessions, with a store played by the test. */
class Deaths {
  readonly clock = new FakeClock();
  readonly held = new HeldSessions(this.clock);
  readonly events = new RecordedEvents();
  readonly watches = new MomentWatches(this.clock);
  readonly asked: number[] = [];
  answer: () => Promise<boolean> = async () => true;
  graceMs = 0;
  isConfigured = true;
  readonly deaths = new EarlyDeaths({
    clock: this.clock,
    held: this.held,
    events: this.events,
    watches: this.watches,
    grace: { leftMs: () => this.graceMs },
    merchants: {
      settingsOf: () => (this.isConfigured ? someSettings({ foreignAuthorizerPauseMs: PAUSE_MS }) : undefined),
    },
    store: { condemn: (_merchant: string, generation: number) => (this.asked.push(generation), this.answer()) },
  } as unknown as EarlyDeathsContext);

  holding(generation: number, deathsBefore?: number, overrides: Partial<Session> = {}): this {
    const { createdAt } = aSession();
    const now = this.clock.now();
    const moments = { createdAt: now, expiresAt: plusMs(now, 900_000), renewAt: plusMs(now, 720_000) };
    const facts = deathsBefore === undefined ? {} : { deathsBefore };
    this.held.adopt(aSession({ ...(now === createdAt ? {} : moments), generation, ...facts, ...overrides }), 0);
    return this;
  }

  report(generation: number): Promise<void> {
    return this.deaths.report('shop', generation);
  }

  get isForeign(): boolean {
    return this.deaths.areForeign('shop');
  }

  get told(): readonly boolean[] {
    return this.events.of('foreign_authorizer').map(({ isPresent }) => isPresent);
  }

  next(isDoubtful = false): number | undefined {
    return this.deaths.beforeNext('shop', isDoubtful).deathsBefore;
  }
}

describe('a session that is reported dead', () => {
  it('is held against the store once, and counts once', async () => {
    const deaths = new Deaths().holding(4, 0);
    await Promise.all([deaths.report(4), deaths.report(4)]);
    await deaths.report(4);
    expect([deaths.asked, deaths.next(), deaths.isForeign, deaths.told]).toEqual([[4], 1, false, []]);
  });

  it('makes the second of two in a row, and with it somebody else', async () => {
    const deaths = new Deaths().holding(4, 1);
    expect(deaths.isForeign).toBe(false);
    deaths.watches.see('shop', 'cool_down', { mark: 'cool', inMs: 1 });
    await deaths.report(4);
    expect([deaths.isForeign, deaths.deaths.pauseMs('shop', 'b_used_token'), deaths.told]).toEqual([
      true,
      PAUSE_MS,
      [true],
    ]);
    await deaths.clock.advance(1_000);
    // A watch over the short cool-down proves nothing about the long one.
    expect(deaths.watches.over('shop', 'cool_down')).toBeUndefined();
  });

  it('leaves a newer one that counts as the end of it when it has lived long enough, as long as it is not reported', async () => {
    const deaths = new Deaths().holding(4, 1);
    expect(deaths.deaths.overAt('shop')).toBeUndefined();
    await deaths.report(4);
    expect(deaths.deaths.overAt('shop')).toBeUndefined();
    await deaths.clock.advance(1_000);
    deaths.holding(5, 2);
    const overAt = deaths.deaths.overAt('shop');
    expect(overAt).toBe(plusMs(deaths.clock.now(), EARLY_MS));
    await deaths.clock.advance(EARLY_MS - 1);
    expect([deaths.isForeign, deaths.deaths.overAt('shop')]).toEqual([true, overAt]);
    await deaths.clock.advance(1);
    expect([deaths.isForeign, deaths.deaths.overAt('shop')]).toEqual([false, undefined]);
  });

  it('has the sessions after it say since when they go unreported, until one of them is reported, too', async () => {
    const deaths = new Deaths().holding(4, 1);
    const since = (): unknown => deaths.deaths.beforeNext('shop', false).watchedSince;
    expect(since()).toBeUndefined();
    await deaths.report(4);
    expect(since()).toBeUndefined();
    await deaths.clock.advance(1_000);
    const first = deaths.clock.now();
    deaths.holding(5, 2);
    expect(since()).toBe(first);
    await deaths.clock.advance(1_000);
    deaths.holding(6, 2, { watchedSince: first });
    expect(since()).toBe(first);
    deaths.answer = async () => false;
    await deaths.clock.advance(1_000);
    await deaths.report(6);
    expect([deaths.isForeign, since()]).toEqual([true, undefined]);
  });

  it.each<[string, (deaths: Deaths) => void, number]>([
    ['is not the one that is held', (deaths) => deaths.holding(6, 1), 4],
    ['was never held', () => undefined, 8],
    ['may have been ended by a call of ours', (deaths) => deaths.holding(6), 6],
    ['is reported while others may hold newer than the store', (deaths) => (deaths.graceMs = 1), 4],
  ])('says nothing when it %s', async (_name, prepare, generation) => {
    const deaths = new Deaths().holding(4, 1);
    prepare(deaths);
    await deaths.report(generation);
    expect([deaths.asked, deaths.isForeign]).toEqual([[], false]);
  });

  it('has died early within a quarter of its lifetime, and within an hour', async () => {
    for (const [lifetimeMs, earlyMs] of [
      [900_000, EARLY_MS],
      [24 * HOUR, HOUR],
    ] as const) {
      for (const [ageMs, isEarly] of [
        [earlyMs - 1, true],
        [earlyMs, false],
      ] as const) {
        const deaths = new Deaths();
        const { createdAt } = aSession();
        deaths.holding(4, 1, { expiresAt: plusMs(createdAt, lifetimeMs) });
        await deaths.clock.advance(ageMs);
        await deaths.report(4);
        expect([lifetimeMs, ageMs, deaths.asked]).toEqual([lifetimeMs, ageMs, isEarly ? [4] : []]);
      }
    }
  });

  it('is not asked about again when the store knew better, and is when the store did not answer', async () => {
    const deaths = new Deaths().holding(4, 1);
    deaths.answer = () => Promise.reject(new BrokerError('store_unavailable'));
    await deaths.report(4);
    deaths.answer = async () => false;
    await deaths.report(4);
    await deaths.report(4);
    expect([deaths.asked, deaths.isForeign, deaths.next()]).toEqual([[4, 4], false, 1]);
  });

  it('hides no bug', async () => {
    const deaths = new Deaths().holding(4, 1);
    deaths.answer = () => Promise.reject(new TypeError('not a function'));
    await expect(deaths.report(4)).rejects.toThrow(TypeError);
  });
});

describe('the count of early deaths', () => {
  it('begins with the first session, and anew after one that lived', async () => {
    const deaths = new Deaths();
    expect(deaths.next()).toBe(0);
    deaths.holding(4, 1);
    expect(deaths.next()).toBe(1);
    await deaths.clock.advance(EARLY_MS);
    expect(deaths.next()).toBe(0);
  });

  it('goes on with a session that was condemned, whenever that is replaced', async () => {
    const deaths = new Deaths().holding(4, 0);
    deaths.deaths.note('shop', 4);
    await deaths.clock.advance(800_000);
    expect(deaths.next()).toBe(1);
  });

  it('says nothing of a session that a call of ours may end, unless somebody else is known already', () => {
    const deaths = new Deaths().holding(4, 1);
    expect(deaths.next(true)).toBeUndefined();
    deaths.deaths.note('shop', 4);
    expect(deaths.next(true)).toBe(2);
  });

  it('begins anew after a session of which nothing is known', () => {
    expect(new Deaths().holding(4).next()).toBe(0);
  });

  it('is told by the store for one session alone, and an older word of it changes nothing', () => {
    const deaths = new Deaths().holding(6, 1);
    deaths.deaths.note('shop', 6);
    deaths.deaths.note('shop', 4);
    expect(deaths.isForeign).toBe(true);
    deaths.holding(8, 0);
    expect([deaths.isForeign, deaths.told]).toEqual([false, [true, false]]);
  });
});

describe('somebody else', () => {
  it('is known from a session that says so, until it has outlived the others', async () => {
    const deaths = new Deaths().holding(4, 2);
    expect([deaths.isForeign, deaths.told]).toEqual([true, [true]]);
    await deaths.clock.advance(EARLY_MS - 1);
    deaths.deaths.review();
    expect(deaths.told).toEqual([true]);
    await deaths.clock.advance(1);
    deaths.deaths.review();
    expect([deaths.isForeign, deaths.deaths.pauseMs('shop', 'b_used_token'), deaths.told]).toEqual([
      false,
      0,
      [true, false],
    ]);
  });

  it('stays for two pauses more beside a session that is dead, should nobody report anything', async () => {
    const deaths = new Deaths().holding(4, 1);
    deaths.deaths.note('shop', 4);
    await deaths.clock.advance(EARLY_MS + 2 * PAUSE_MS - 1);
    expect(deaths.isForeign).toBe(true);
    await deaths.clock.advance(1);
    expect(deaths.isForeign).toBe(false);
  });

  it('is not told of again with the next session, once it has ended', async () => {
    const deaths = new Deaths().holding(4, 1);
    deaths.deaths.note('shop', 4);
    await deaths.clock.advance(EARLY_MS + 2 * PAUSE_MS);
    deaths.deaths.review();
    deaths.holding(6, deaths.next());
    expect([deaths.isForeign, deaths.told]).toEqual([false, [true, false]]);
  });

  it('is told of once, with the session that it is about', () => {
    const deaths = new Deaths().holding(4, 2);
    deaths.deaths.note('shop', 4);
    deaths.holding(6, 3);
    expect(deaths.events.of('foreign_authorizer')).toEqual([
      { event: 'foreign_authorizer', merchant: 'shop', generation: 4, isPresent: true, quietMs: 0 },
    ]);
  });

  it('is not said to have stopped: the end says for how long nobody has reported the session that is held', async () => {
    const replaced = new Deaths().holding(4, 2);
    await replaced.clock.advance(EARLY_MS);
    replaced.deaths.review();
    const neverReplaced = new Deaths().holding(4, 1);
    await neverReplaced.clock.advance(10_000);
    await neverReplaced.report(4);
    await neverReplaced.clock.advance(50_000);
    await neverReplaced.report(4);
    neverReplaced.deaths.note('shop', 4);
    await neverReplaced.report(3);
    await neverReplaced.clock.advance(EARLY_MS + 2 * PAUSE_MS - 60_000);
    neverReplaced.deaths.review();
    const ends = [replaced, neverReplaced].map(({ events }) => events.of('foreign_authorizer').at(-1));
    expect(ends).toMatchObject([
      { isPresent: false, quietMs: EARLY_MS },
      { isPresent: false, quietMs: EARLY_MS + 2 * PAUSE_MS - 60_000 },
    ]);
  });

  it('stays while consumers go on to report the dead session, however long it is not replaced', async () => {
    const deaths = new Deaths().holding(4, 1);
    await deaths.report(4);
    for (let passedMs = 0; passedMs < 5 * PAUSE_MS; passedMs += PAUSE_MS) {
      await deaths.clock.advance(PAUSE_MS);
      deaths.deaths.review();
      await deaths.report(4);
    }
    expect([deaths.isForeign, deaths.told]).toEqual([true, [true]]);
    await deaths.clock.advance(2 * PAUSE_MS);
    deaths.deaths.review();
    expect(deaths.events.of('foreign_authorizer').at(-1)).toMatchObject({ isPresent: false, quietMs: 2 * PAUSE_MS });
  });

  it('stays after the end of a dead session, until there is another one: without one nobody can report anything', async () => {
    const deaths = new Deaths().holding(4, 1, { expiresAt: plusMs(aSession().createdAt, PAUSE_MS) });
    await deaths.report(4);
    await deaths.clock.advance(24 * HOUR);
    deaths.deaths.review();
    expect([deaths.isForeign, deaths.told]).toEqual([true, [true]]);
    deaths.holding(6, deaths.next());
    await deaths.clock.advance(EARLY_MS);
    expect(deaths.isForeign).toBe(false);
  });

  it('stays while another replica is told of the dead session, as far as the store says when', async () => {
    const deaths = new Deaths().holding(4, 1);
    deaths.deaths.note('shop', 4);
    await deaths.clock.advance(EARLY_MS + 2 * PAUSE_MS);
    deaths.deaths.review();
    deaths.deaths.noteReported('shop', 3, 0);
    deaths.deaths.noteReported('shop', 4, -1);
    deaths.deaths.noteReported('shop', 4, 2 * PAUSE_MS);
    expect([deaths.isForeign, deaths.told]).toEqual([false, [true, false]]);
    deaths.deaths.noteReported('shop', 4, PAUSE_MS);
    expect([deaths.isForeign, deaths.told]).toEqual([true, [true, false, true]]);
    await deaths.clock.advance(PAUSE_MS);
    expect(deaths.isForeign).toBe(false);
  });

  it('is nobody for a replica that learns of it when it is over: who told the store did so while the session was young', async () => {
    const deaths = new Deaths().holding(4, 1);
    await deaths.clock.advance(EARLY_MS + 2 * PAUSE_MS);
    deaths.deaths.note('shop', 4);
    expect([deaths.isForeign, deaths.told]).toEqual([false, []]);
  });

  it('is quiet since the last report of any session, also when the one that is held was never reported', async () => {
    const deaths = new Deaths().holding(4, 1);
    await deaths.report(4);
    await deaths.clock.advance(1_000);
    deaths.holding(6, 0);
    expect(deaths.events.of('foreign_authorizer').at(-1)).toMatchObject({ isPresent: false, quietMs: 1_000 });
  });

  it('is forgotten with its merchant, and not looked for any more in the end', () => {
    const deaths = new Deaths().holding(4, 1);
    deaths.deaths.note('shop', 4);
    deaths.isConfigured = false;
    expect(deaths.deaths.pauseMs('shop', 'b_used_token')).toBe(0);
    deaths.deaths.forget('shop');
    expect(deaths.isForeign).toBe(false);
    deaths.deaths.close();
    deaths.holding(6, 2);
    expect(deaths.told).toEqual([true]);
  });

  it('is nobody where nothing is held', () => {
    expect(new Deaths().isForeign).toBe(false);
  });
});
