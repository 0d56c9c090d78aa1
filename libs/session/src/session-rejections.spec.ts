import { BrokerError } from '#libs/errors';
import { aRecordedFailure, aSession, FakeClock, RecordedEvents, someSettings } from '#libs/testing';
import type { RenewalRequest } from './claims.js';
import { FailureBoard } from './failure-board.js';
import { HeldSessions } from './held-sessions.js';
import type { Merchants } from './ports/merchants.js';
import type { RenewalResult } from './renewal-result.js';
import { ReportedDeaths } from './reported-deaths.js';
import { SessionReader } from './session-reader.js';
import { type Rejection, SessionRejections, type SessionRejectionsContext } from './session-rejections.js';

const silent = new BrokerError('store_unavailable');
const bug = new TypeError('not a function');

/** One replica that receives reports of dead sessions, with a renewer and a store played by the test. */
class Rejecting {
  readonly clock = new FakeClock();
  readonly held = new HeldSessions(this.clock);
  readonly failures = new FailureBoard();
  readonly reportedDeaths: ReportedDeaths;
  readonly events = new RecordedEvents();
  readonly renewals: RenewalRequest[] = [];
  readonly aborting = new AbortController();
  /** In turn; after the last one, attempts never end. */
  results: (() => RenewalResult)[] = [];
  refreshes = 0;
  refreshing: () => Promise<void> = async () => undefined;
  retryInMs: number | undefined;
  isForeign = false;
  readonly reported: number[] = [];
  readonly #rejections: SessionRejections;

  constructor() {
    const { clock, held, failures, events } = this;
    const merchants = { settingsOf: () => someSettings() } as unknown as Merchants;
    this.reportedDeaths = new ReportedDeaths({
      ...{ held, clock, merchants, events },
      store: { reportDead: async () => true },
    });
    const parts = {
      clock,
      reportedDeaths: this.reportedDeaths,
      held,
      failures,
      events,
      renewer: { renew: (wish: RenewalRequest) => this.#renew(wish), retryInMs: () => this.retryInMs },
      earlyDeaths: {
        report: async (_merchant: string, generation: number) => void this.reported.push(generation),
        areForeign: () => this.isForeign,
        pauseMs: () => (this.isForeign ? 600_000 : 0),
      },
      sync: { refresh: () => ((this.refreshes += 1), this.refreshing()), want: () => undefined },
      why: () => 'store_silent',
      causeFor: () => ({ code: 'store_silent' }),
    } as unknown as SessionRejectionsContext;
    this.#rejections = new SessionRejections({ ...parts, reader: new SessionReader(parts) });
  }

  holding(generation: number, ageMs = 0): this {
    this.held.adopt(aSession({ generation }), ageMs);
    return this;
  }

  /** The outcome of a report within a second, or that it is still open. */
  async reject(generation: number, wish: Partial<Rejection> = {}): Promise<unknown> {
    const { signal } = this.aborting;
    let outcome: unknown = 'open';
    this.#rejections.reject({ merchant: 'shop', generation, waitMs: 5_000, signal, ...wish }).then(
      (answer) => (outcome = answer),
      (error: unknown) => (outcome = error),
    );
    await this.clock.advance(1_000);
    return outcome;
  }

  generationHeld(named: number): Promise<number> {
    return this.#rejections.generationHeld('shop', named);
  }

  get told(): readonly string[] {
    return this.events.of('session_rejected').map(({ result }) => result);
  }

  #renew(wish: RenewalRequest): Promise<RenewalResult> {
    this.renewals.push(wish);
    const next = this.results.shift();
    return next === undefined ? new Promise(() => undefined) : Promise.resolve().then(next);
  }
}

const generation = (value: number): unknown => expect.objectContaining({ generation: value });

describe('a report of a dead session', () => {
  it('is answered from memory when that has a newer one, and asks nobody', async () => {
    const rejecting = new Rejecting().holding(12);
    expect(await rejecting.reject(11)).toEqual({ kind: 'already_newer', session: generation(12) });
    expect([rejecting.refreshes, rejecting.renewals, rejecting.told]).toEqual([0, [], ['already_newer']]);
  });

  it('of the session in memory has it replaced, without a look at the store', async () => {
    const rejecting = new Rejecting().holding(12);
    rejecting.results = [() => (rejecting.holding(14), { kind: 'renewed' })];
    expect(await rejecting.reject(12)).toEqual({ kind: 'renewed', session: generation(14) });
    expect(rejecting.renewals).toEqual([{ merchant: 'shop', trigger: 'rejection', newerThan: 12, coolDownMs: 10_000 }]);
    expect([rejecting.refreshes, rejecting.told, rejecting.clock.pendingTasks]).toEqual([0, ['renewed'], 0]);
  });

  it('is told to whoever counts early deaths, if the bank said so, before it is known for how long the next one is to wait', async () => {
    const rejecting = new Rejecting().holding(12);
    await rejecting.reject(11, { reason: 'b_used_token' });
    rejecting.results = [() => ({ kind: 'cooled_down', retryInMs: 1_000 })];
    await rejecting.reject(12, { reason: 'http_401' });
    rejecting.renewals.length = 0;
    rejecting.isForeign = true;
    rejecting.results = [() => ({ kind: 'cooled_down', retryInMs: 599_000 })];
    const heldBack = { kind: 'cooled_down', retryInMs: 599_000, because: 'foreign_authorizer' };
    expect(await rejecting.reject(12, { reason: 'b_used_token' })).toEqual(heldBack);
    expect([rejecting.reported, rejecting.told]).toEqual([[12], ['already_newer', 'cooled_down', 'cooled_down']]);
    expect(rejecting.renewals).toMatchObject([{ coolDownMs: 600_000 }]);
  });

  it('keeps no cool-down for a session that is over', async () => {
    const rejecting = new Rejecting().holding(12, 899_999);
    await rejecting.reject(12);
    expect(rejecting.renewals).toMatchObject([{ coolDownMs: 0 }]);
  });

  it('also wants one that is newer than what nobody can open', async () => {
    const rejecting = new Rejecting().holding(12);
    rejecting.held.noteUnusable('shop', 40);
    await rejecting.reject(12);
    expect(rejecting.renewals).toMatchObject([{ newerThan: 40 }]);
  });

  it('of a generation that this replica has not heard of is looked up first', async () => {
    const rejecting = new Rejecting().holding(12);
    rejecting.refreshing = async () => void rejecting.holding(20);
    expect(await rejecting.reject(16)).toEqual({ kind: 'already_newer', session: generation(20) });
    expect([rejecting.refreshes, rejecting.renewals, rejecting.told]).toEqual([1, [], ['already_newer']]);
  });

  it('of a generation that nobody has heard of gets the newest that there is, and creates nothing', async () => {
    const rejecting = new Rejecting().holding(12);
    expect(await rejecting.reject(30)).toEqual({ kind: 'already_newer', session: generation(12) });
    expect([rejecting.refreshes, rejecting.renewals]).toEqual([1, []]);
    rejecting.held.noteUnusable('shop', 30);
    await rejecting.reject(30);
    expect(rejecting.renewals).toMatchObject([{ newerThan: 30 }]);
  });

  it('of an earlier store is answered with the first session of the next one, though its generation is lower', async () => {
    const rejecting = new Rejecting();
    rejecting.results = [() => (rejecting.holding(12), { kind: 'renewed' })];
    expect(await rejecting.reject(30)).toEqual({ kind: 'renewed', session: generation(12) });
    expect(rejecting.renewals).toHaveLength(1);
  });

  it('of the very session that a look has brought has it replaced', async () => {
    const rejecting = new Rejecting().holding(12);
    rejecting.refreshing = async () => void rejecting.holding(20);
    await rejecting.reject(20);
    expect(rejecting.renewals).toMatchObject([{ newerThan: 20 }]);
  });

  it('is as good as any where nothing is known, whether the store answers or not', async () => {
    for (const refreshing of [async () => undefined, () => Promise.reject(silent)]) {
      const rejecting = new Rejecting();
      rejecting.refreshing = refreshing;
      expect(await rejecting.reject(16)).toBe('open');
      expect(rejecting.renewals).toMatchObject([{ newerThan: 16, coolDownMs: 0 }]);
    }
  });

  it('cannot be judged without the store where others are known, and hides no bug', async () => {
    const rejecting = new Rejecting().holding(12);
    rejecting.refreshing = () => Promise.reject(silent);
    expect(await rejecting.reject(16)).toBe(silent);
    const unknowing = new Rejecting();
    unknowing.refreshing = () => Promise.reject(bug);
    expect(await unknowing.reject(16)).toBe(bug);
    expect(unknowing.renewals).toEqual([]);
  });

  it('of a session that was forgotten since is not taken for an invention', async () => {
    const rejecting = new Rejecting().holding(12);
    rejecting.held.drop('shop');
    await rejecting.reject(12);
    expect([rejecting.refreshes, rejecting.renewals]).toMatchObject([1, [{ newerThan: 12 }]]);
  });

  it('shares its look at the store with all who ask meanwhile, and not with those who ask later', async () => {
    const rejecting = new Rejecting().holding(12);
    let answer = (): void => undefined;
    rejecting.refreshing = () => new Promise((resolve) => (answer = resolve));
    await Promise.all([rejecting.reject(16), rejecting.reject(16)]);
    expect(rejecting.refreshes).toBe(1);
    answer();
    await rejecting.clock.settle();
    await rejecting.reject(16);
    expect(rejecting.refreshes).toBe(2);
  });
});

describe('a rejection that is being answered', () => {
  it('counts what comes meanwhile as its renewal, no matter who made it', async () => {
    const rejecting = new Rejecting().holding(12);
    rejecting.results = [() => (rejecting.holding(14), { kind: 'already_newer' })];
    expect(await rejecting.reject(12)).toEqual({ kind: 'renewed', session: generation(14) });
  });

  it.each<RenewalResult>([
    { kind: 'already_newer' },
    { kind: 'renewed' },
    { kind: 'lost', retryInMs: 0 },
    { kind: 'not_due', retryInMs: 0 },
  ])('follows up an attempt that was made for a lesser wish, once: %j', async (result) => {
    const rejecting = new Rejecting().holding(12);
    rejecting.results = [() => result, () => (rejecting.holding(14), { kind: 'renewed' })];
    expect(await rejecting.reject(12)).toEqual({ kind: 'renewed', session: generation(14) });
    const vain = new Rejecting().holding(12);
    vain.results = Array.from({ length: 5 }, () => () => result);
    expect(await vain.reject(12)).toMatchObject({ code: 'session_unavailable' });
    expect(vain.renewals).toHaveLength(2);
  });

  it.each<RenewalResult>([
    { kind: 'failed', because: 'transient', retryInMs: 1_500 },
    { kind: 'backing_off', retryInMs: 1_500 },
    { kind: 'budget_exhausted', retryInMs: 1_500 },
    { kind: 'store_down', retryInMs: 1_500 },
    { kind: 'stopping', retryInMs: 1_500 },
  ])('takes this for the last word, and names its time: %j', async (result) => {
    const rejecting = new Rejecting().holding(12);
    rejecting.results = [() => result, () => result];
    expect(await rejecting.reject(12)).toMatchObject({
      code: 'session_unavailable',
      retryAfterMs: 1_500,
      reason: 'store_silent',
      because: { code: 'store_silent' },
      detail: `merchant shop: none newer than generation 12 (${result.kind})`,
    });
    const told = result.kind === 'budget_exhausted' ? result.kind : 'unavailable';
    expect([rejecting.renewals.length, rejecting.told]).toEqual([1, [told]]);
  });

  it('that comes within the cool-down says so', async () => {
    const rejecting = new Rejecting().holding(12);
    const result = { kind: 'cooled_down', retryInMs: 4_000 } as const;
    rejecting.results = [() => result];
    expect(await rejecting.reject(12)).toEqual(result);
    expect(rejecting.told).toEqual(['cooled_down']);
  });

  it('waits for another replica that is at it, and for its failure', async () => {
    const rejecting = new Rejecting().holding(12);
    const held = { kind: 'held', retryInMs: 9_000 } as const;
    rejecting.results = [() => held, () => held];
    rejecting.clock.schedule(500, () => void rejecting.holding(14));
    expect(await rejecting.reject(12)).toEqual({ kind: 'renewed', session: generation(14) });
    rejecting.clock.schedule(500, () => void rejecting.failures.note('shop', aRecordedFailure()));
    expect(await rejecting.reject(14)).toMatchObject({ code: 'session_unavailable', retryAfterMs: 9_000 });
    expect(rejecting.clock.pendingTasks).toBe(0);
  });

  it('does not wait for another replica that has published already', async () => {
    const rejecting = new Rejecting().holding(12);
    rejecting.results = [() => (rejecting.holding(14), { kind: 'held', retryInMs: 9_000 })];
    expect(await rejecting.reject(12)).toEqual({ kind: 'renewed', session: generation(14) });
  });

  it('ends when its time is up or its reporter has gone, and leaves nothing behind', async () => {
    const rejecting = new Rejecting().holding(12);
    rejecting.retryInMs = 7_000;
    expect(await rejecting.reject(12, { waitMs: 1_000 })).toMatchObject({ retryAfterMs: 7_000 });
    rejecting.retryInMs = undefined;
    rejecting.clock.schedule(500, () => rejecting.aborting.abort());
    expect(await rejecting.reject(12)).toMatchObject({
      retryAfterMs: 1_000,
      detail: 'merchant shop: none newer than generation 12 (no answer in time)',
    });
    expect(rejecting.clock.pendingTasks).toBe(0);
  });

  it('makes no second attempt for a reporter who has gone', async () => {
    const rejecting = new Rejecting().holding(12);
    const gone = (): RenewalResult => (rejecting.aborting.abort(), { kind: 'already_newer' });
    rejecting.results = [gone, gone];
    await rejecting.reject(12);
    expect(rejecting.renewals).toHaveLength(1);
  });
});

describe('what is told of a report', () => {
  it('tells the first of a generation from its echoes, and from late ones of those before', async () => {
    const rejecting = new Rejecting().holding(12);
    rejecting.results = [() => (rejecting.holding(14), { kind: 'renewed' })];
    await rejecting.reject(12, { reason: 'b_expired_token', consumer: 'checkout' });
    await rejecting.reject(11);
    await rejecting.reject(12);
    await rejecting.reject(13);
    const told = { event: 'session_rejected', merchant: 'shop' };
    expect(rejecting.events.all).toStrictEqual([
      { ...told, generation: 12, result: 'renewed', isFirst: true, reason: 'b_expired_token', consumer: 'checkout' },
      { ...told, generation: 11, result: 'already_newer', isFirst: false },
      { ...told, generation: 12, result: 'already_newer', isFirst: false },
      { ...told, generation: 13, result: 'already_newer', isFirst: true },
    ]);
  });
});

describe('the generation that a consumer says it has', () => {
  it('is what it has where it was issued, also by a replica of which this one learns only now', async () => {
    const rejecting = new Rejecting().holding(12);
    expect([await rejecting.generationHeld(12), await rejecting.generationHeld(3)]).toEqual([12, 3]);
    expect(rejecting.refreshes).toBe(0);
    rejecting.refreshing = async () => void rejecting.holding(14);
    expect([await rejecting.generationHeld(14), rejecting.refreshes]).toEqual([14, 1]);
  });

  it('is none where nobody has issued it', async () => {
    expect(await new Rejecting().holding(12).generationHeld(13)).toBe(0);
  });

  it('is believed while the store cannot tell, and hides no bug', async () => {
    const rejecting = new Rejecting().holding(12);
    rejecting.refreshing = () => Promise.reject(silent);
    expect(await rejecting.generationHeld(13)).toBe(13);
    rejecting.refreshing = () => Promise.reject(bug);
    await expect(rejecting.generationHeld(13)).rejects.toBe(bug);
  });
});
