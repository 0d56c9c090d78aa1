import { plusMs } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { aRecordedFailure, aServerPublicKey, aSession, FakeClock, RecordedEvents, someSettings } from '#libs/testing';
import type { RenewalRequest } from './claims.js';
import { FailureBoard } from './failure-board.js';
import { HeldSessions } from './held-sessions.js';
import { MomentWatches } from './moment-watches.js';
import type { Announcement, ReplicaSignal, SessionStore, StoredState, WantedState } from './ports/session-store.js';
import type { RenewalResult } from './renewal-result.js';
import { SessionSync, type SessionSyncContext } from './session-sync.js';
import type { UnpublishedSession } from './unpublished-sessions.js';

const silent = new BrokerError('store_unavailable');
const bug = new TypeError('not a function');

type State = Partial<Omit<StoredState, 'merchant'>>;

/** One replica's knowledge of the store, with a store and a renewer played by the test. */
class Syncing {
  readonly clock = new FakeClock();
  readonly held = new HeldSessions(this.clock);
  readonly failures = new FailureBoard();
  readonly watches = new MomentWatches(this.clock);
  readonly events = new RecordedEvents();
  configured: readonly string[] = ['shop'];
  /** What the store has for each merchant; absent and due in an hour if nothing is set. */
  readonly states = new Map<string, State>();
  /** What was asked and reported, in order. */
  readonly done: string[] = [];
  readonly reads: { readonly atMs: number; readonly wanted: readonly WantedState[] }[] = [];
  readonly renewals: RenewalRequest[] = [];
  readonly kept: UnpublishedSession[] = [];
  readonly backOffs: number[] = [];
  whileReading: () => Promise<void> | void = () => undefined;
  renewed: RenewalResult | Error = { kind: 'failed', because: 'transient', retryInMs: 1 };
  renewing = false;
  retryInMs: number | undefined;
  mayGoAlone = false;
  random = 0;
  #hear: (announcement: Announcement) => void = () => undefined;
  readonly sync: SessionSync;

  constructor() {
    const { clock, held, failures, watches, events } = this;
    this.sync = new SessionSync({
      ...{ clock, held, failures, watches, events, owner: 'replica-1' },
      merchants: {
        ids: () => this.configured,
        settingsOf: (merchant) => (this.configured.includes(merchant) ? someSettings() : undefined),
        gatewayIdOf: () => 'gateway',
      },
      renewer: this.#renewer(),
      handovers: { hear: () => this.done.push('hand-over') } as unknown as SessionSyncContext['handovers'],
      earlyDeaths: {
        note: (merchant: string, generation: number) => this.done.push(`condemned ${merchant} ${generation}`),
        noteReported: (id: string, of: number, agoMs: number) => this.done.push(`reported ${id} ${of} ${agoMs} ms ago`),
      } as unknown as SessionSyncContext['earlyDeaths'],
      reportedDeaths: { see: (id, dead) => dead && this.done.push(`dead ${id} ${held.generationOf(id)}`) },
      unpublished: { keep: (made: UnpublishedSession) => this.kept.push(made) } as never,
      store: this.#store(),
      random: () => this.random,
    });
  }

  /** A session that was answered this long ago. */
  holding(generation: number, ageMs = 0): this {
    this.held.adopt(aSession({ generation }), ageMs);
    return this;
  }

  stored(state: State, merchant = 'shop'): this {
    this.states.set(merchant, state);
    return this;
  }

  hear(announcement: Announcement): Promise<void> {
    this.#hear(announcement);
    return this.clock.settle();
  }

  /** When the merchant was read within this time, in milliseconds from now. */
  async readsWithin(ms: number): Promise<readonly number[]> {
    const fromMs = this.clock.monotonicMs();
    const before = this.reads.length;
    await this.clock.advance(ms);
    return this.reads.slice(before).map(({ atMs }) => atMs - fromMs);
  }

  get asked(): readonly string[] {
    return this.reads.flatMap(({ wanted }) => wanted.map(({ merchant }) => merchant));
  }

  #renewer(): SessionSyncContext['renewer'] {
    const renewer = {
      takeSeat: (seat: number) => this.done.push(`seat ${seat}`),
      letOthersOffer: () => this.done.push('others'),
      isRenewing: () => this.renewing,
      retryInMs: () => this.retryInMs,
      mayGoAlone: () => this.mayGoAlone,
      noteBackOff: (_merchant: string, retryInMs: number) => this.backOffs.push(retryInMs),
      forgetHoldOff: (merchant: string) => this.done.push(`forget ${merchant}`),
      renew: async (request: RenewalRequest) => {
        this.renewals.push(request);
        if (this.renewed instanceof Error) throw this.renewed;
        return this.renewed;
      },
    };
    return renewer as unknown as SessionSyncContext['renewer'];
  }

  #store(): SessionStore {
    const store = {
      seat: async () => 7,
      enrol: async (merchants: readonly string[]) => void this.done.push(`enrol ${merchants.length}: ${merchants[0]}`),
      announce: async ({ kind, merchant, generation }: ReplicaSignal) => {
        this.done.push(`${kind} ${merchant} ${generation}`);
        return undefined;
      },
      read: async (wanted: readonly WantedState[]) => {
        this.reads.push({ atMs: this.clock.monotonicMs(), wanted });
        await this.whileReading();
        const hour = { stored: { kind: 'absent' }, dueInMs: 3_600_000 } as const;
        const states = wanted.map(({ merchant }) => ({ merchant, ...hour, ...this.states.get(merchant) }));
        return { states, now: this.clock.now() };
      },
      onAnnouncement: (listener: (announcement: Announcement) => void) => {
        this.#hear = listener;
        return () => (this.#hear = () => undefined);
      },
    };
    return store as unknown as SessionStore;
  }
}

const many = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `shop-${index}`);
const session = (generation: number, ageMs = 0): State => ({
  stored: { kind: 'session', session: aSession({ generation }), ageMs },
});

describe('a replica that comes to the store', () => {
  it('takes its seat, enrols and reads all in pages, and lets others speak', async () => {
    const syncing = new Syncing();
    syncing.configured = many(1_001);
    expect(syncing.sync.isComplete).toBe(false);
    await syncing.sync.syncAll();
    expect(syncing.done).toEqual([
      'seat 7',
      'enrol 500: shop-0',
      'enrol 500: shop-500',
      'enrol 1: shop-1000',
      'others',
    ]);
    expect(syncing.reads.map(({ wanted }) => wanted.length)).toEqual([500, 500, 1]);
    expect(syncing.sync.isComplete).toBe(true);
  });

  it('knows nothing for sure where an outage began meanwhile', async () => {
    const syncing = new Syncing();
    syncing.whileReading = () => syncing.sync.invalidate();
    await syncing.sync.syncAll();
    expect(syncing.sync.isComplete).toBe(false);
  });

  it('passes on that a session was condemned, or is reported dead, once that session is held', async () => {
    const syncing = new Syncing().stored({ ...session(12), condemned: 12, reportedDead: { generation: 12, ageMs: 7 } });
    await syncing.sync.refresh('shop');
    expect(syncing.done).toEqual(['forget shop', 'condemned shop 12', 'reported shop 12 7 ms ago', 'dead shop 12']);
  });

  it('names what it has already, and what it cannot open', async () => {
    const syncing = new Syncing().holding(12);
    await syncing.sync.refresh('shop');
    syncing.held.noteUnusable('shop', 40);
    await syncing.sync.refresh('shop');
    expect(syncing.reads.flatMap(({ wanted }) => wanted.map(({ known }) => known))).toEqual([12, 40]);
  });

  it('looks at one merchant at a time, at random, should there be any', async () => {
    const syncing = new Syncing();
    syncing.configured = ['shop', 'kiosk'];
    syncing.random = 0.5;
    syncing.sync.lookAtOne();
    await syncing.clock.settle();
    expect(syncing.asked).toEqual(['kiosk']);
    syncing.configured = [];
    syncing.sync.lookAtOne();
    await syncing.clock.settle();
    expect(syncing.reads).toHaveLength(1);
  });

  it('enrols merchants that are new, or all of them once an outage is over', async () => {
    const syncing = new Syncing();
    await syncing.sync.syncAll();
    await syncing.sync.add(['shop']);
    expect([syncing.done.at(-1), syncing.sync.isComplete]).toEqual(['enrol 1: shop', true]);
    syncing.whileReading = () => Promise.reject(silent);
    await syncing.sync.add(['shop']);
    expect(syncing.sync.isComplete).toBe(false);
    syncing.whileReading = () => Promise.reject(bug);
    await expect(syncing.sync.add(['shop'])).rejects.toBe(bug);
  });

  it('enrols again what the store has lost, as long as it is configured', async () => {
    const syncing = new Syncing();
    syncing.whileReading = () => {
      syncing.states.set('shop', {}).set('another', {});
      for (const state of syncing.states.values()) Object.assign(state, { dueInMs: undefined });
    };
    await syncing.sync.refresh('another');
    expect(syncing.done).toEqual([]);
    await syncing.sync.refresh('shop');
    expect(syncing.done).toEqual(['enrol 1: shop']);
  });
});

describe('a session that is read', () => {
  it('is adopted, with the age that the answer’s way here may have added, and reported', async () => {
    const syncing = new Syncing().holding(12).stored(session(14, 60_000));
    syncing.clock.freeze(5_000);
    syncing.whileReading = () => syncing.clock.freeze(300);
    await syncing.sync.refresh('shop');
    expect(syncing.held.ageMs('shop')).toBe(60_300);
    const told = { event: 'session_adopted', merchant: 'shop', source: 'store' };
    expect(syncing.events.all).toEqual([{ ...told, generation: 14, ageMs: 60_300, serverKeyChanged: false }]);
    const another = aSession({ generation: 16, serverPublic: { ...aServerPublicKey(), x: 'another' } });
    await syncing.stored({ stored: { kind: 'session', session: another, ageMs: 0 } }).sync.refresh('shop');
    expect(syncing.events.all.slice(1)).toEqual([{ ...told, generation: 16, ageMs: 300, serverKeyChanged: true }]);
    await syncing.sync.refresh('shop');
    expect(syncing.events.all).toHaveLength(2);
  });

  it('ends what was said and watched of the one before it', async () => {
    const syncing = new Syncing().stored(session(14));
    syncing.failures.note('shop', aRecordedFailure());
    syncing.watches.see('shop', 'lease', { mark: 'lease', inMs: 0 });
    syncing.whileReading = () => syncing.clock.freeze(1_000);
    await syncing.sync.refresh('shop');
    expect(syncing.failures.get('shop')).toBeUndefined();
    expect(syncing.done).toEqual(['forget shop']);
    expect(syncing.watches.over('shop', 'lease')).toBeUndefined();
  });

  it('of a merchant that is no longer configured is left alone', async () => {
    const syncing = new Syncing().stored(session(14), 'another');
    await syncing.sync.refresh('another');
    expect([syncing.held.get('another'), syncing.clock.pendingTasks]).toEqual([undefined, 0]);
  });

  it('has its due moment watched from its beginning', async () => {
    const syncing = new Syncing().stored({ ...session(14), dueInMs: 1_000, dueMark: 'due' });
    await syncing.sync.refresh('shop');
    syncing.clock.freeze(1_249);
    expect(syncing.watches.over('shop', 'due')).toBeUndefined();
    syncing.clock.freeze(1);
    expect(syncing.watches.over('shop', 'due')).toBe('due');
  });

  it('and cannot be opened is reported once, and not asked for again', async () => {
    const syncing = new Syncing().stored({ stored: { kind: 'unopenable', generation: 14 } });
    await syncing.sync.refresh('shop');
    await syncing.sync.refresh('shop');
    expect(syncing.events.all).toEqual([{ event: 'record_unopenable', merchant: 'shop', generation: 14 }]);
    expect(syncing.held.known('shop')).toBe(14);
  });
});

describe('a stored session that does not open', () => {
  const unopenable: State = { stored: { kind: 'unopenable', generation: 12 } };

  it('is told to the others once, and read in full when it is looked at again, a second later', async () => {
    const syncing = new Syncing().stored(unopenable);
    await syncing.sync.refresh('shop');
    await syncing.clock.advance(1_250);
    expect(syncing.done).toEqual(['unopenable shop 12']);
    expect(syncing.reads.map(({ wanted }) => wanted[0]?.known)).toEqual([0, 0]);
    await syncing.sync.refresh('shop');
    expect(syncing.reads.at(-1)?.wanted[0]?.known).toBe(12);
    expect(syncing.done).toEqual(['unopenable shop 12']);
  });

  it('is read in full by a replica that hears of it and holds it, and is written again if it does not open there', async () => {
    const syncing = new Syncing().holding(12).stored(unopenable);
    await syncing.hear({ kind: 'unopenable', merchant: 'shop', generation: 12 });
    expect(await syncing.readsWithin(1_000)).toEqual([250]);
    expect(syncing.reads[0]?.wanted).toEqual([{ merchant: 'shop', known: 0 }]);
    expect(syncing.kept.map(({ session: { generation }, known }) => [generation, known])).toEqual([[12, 12]]);
    await syncing.stored({ stored: { kind: 'unchanged', ageMs: 0 } }).sync.refresh('shop');
    expect(syncing.reads.at(-1)?.wanted[0]?.known).toBe(12);
  });

  it('is left alone where it opens, where it is not held, and once the merchant is not looked after', async () => {
    const opens = new Syncing().holding(12).stored(session(12));
    await opens.hear({ kind: 'unopenable', merchant: 'shop', generation: 12 });
    await opens.readsWithin(1_000);
    const other = new Syncing().holding(13).stored(unopenable);
    await other.hear({ kind: 'unopenable', merchant: 'shop', generation: 12 });
    expect([opens.kept, other.kept, await other.readsWithin(1_000)]).toEqual([[], [], []]);
    const forgotten = new Syncing().holding(12).stored(unopenable);
    await forgotten.hear({ kind: 'unopenable', merchant: 'shop', generation: 12 });
    forgotten.sync.forget('shop');
    await forgotten.sync.refresh('shop');
    expect(forgotten.reads[0]?.wanted[0]?.known).toBe(12);
  });
});

describe('a failure that is read', () => {
  it('is shown, and its back-off kept from when it is news, but for no longer than any lasts', async () => {
    const syncing = new Syncing().stored({ failure: aRecordedFailure(), dueInMs: 5_000 });
    syncing.watches.see('shop', 'lease', { mark: 'lease', inMs: 0 });
    syncing.clock.freeze(250);
    await syncing.sync.refresh('shop');
    await syncing.sync.refresh('shop');
    expect([syncing.failures.get('shop'), syncing.backOffs]).toEqual([aRecordedFailure(), [5_000]]);
    expect(syncing.watches.over('shop', 'lease')).toBeUndefined();
    const later = aRecordedFailure({ at: plusMs(syncing.clock.now(), 1) });
    await syncing.stored({ failure: later, dueInMs: 28_800_000 }).sync.refresh('shop');
    const last = aRecordedFailure({ at: plusMs(syncing.clock.now(), 2) });
    await syncing.stored({ failure: last, dueInMs: 0 }).sync.refresh('shop');
    expect(syncing.backOffs).toEqual([5_000, 14_400_000]);
  });

  it('is over when the store has none, unless it came meanwhile, and with a session that came meanwhile', async () => {
    const syncing = new Syncing();
    syncing.failures.note('shop', aRecordedFailure());
    await syncing.sync.refresh('shop');
    expect(syncing.failures.get('shop')).toBeUndefined();
    syncing.whileReading = () => void syncing.failures.note('shop', aRecordedFailure());
    await syncing.sync.refresh('shop');
    expect(syncing.failures.get('shop')).toBeDefined();
    syncing.stored({ failure: aRecordedFailure() }).whileReading = () => void syncing.holding(12);
    await syncing.sync.refresh('shop');
    expect([syncing.failures.get('shop'), syncing.backOffs]).toEqual([undefined, []]);
  });
});

describe('a store that has less than this replica', () => {
  it.each<[string, State['stored'] & object, boolean]>([
    ['nothing', { kind: 'absent' }, true],
    ['an older session', { kind: 'session', session: aSession({ generation: 10 }), ageMs: 0 }, true],
    ['an older one that does not open', { kind: 'unopenable', generation: 10 }, true],
    ['the same', { kind: 'unchanged', ageMs: 0 }, false],
    ['a newer one that does not open', { kind: 'unopenable', generation: 14 }, false],
  ])('is offered what this one holds where it has %s: %#', async (_name, stored, isOffered) => {
    const syncing = new Syncing().holding(12, 60_000).stored({ stored });
    syncing.clock.freeze(100_000);
    await syncing.sync.refresh('shop');
    const offered = { session: expect.objectContaining({ generation: 12 }), answeredAtMs: -60_000, known: 12 };
    expect(syncing.kept).toEqual(isOffered ? [offered] : []);
  });

  it('is read anew as a whole where it has lost one, and not before', async () => {
    const syncing = new Syncing().holding(12).stored(session(12));
    await syncing.sync.syncAll();
    await syncing.stored(session(10)).sync.refresh('shop');
    expect(syncing.sync.isComplete).toBe(true);
    await syncing.stored({ stored: { kind: 'absent' } }).sync.refresh('shop');
    expect(syncing.sync.isComplete).toBe(false);
  });

  it('is offered nothing that has expired, and nothing by a replica that is about to publish', async () => {
    const syncing = new Syncing().holding(12, 900_000);
    await syncing.sync.refresh('shop');
    const renewing = new Syncing().holding(12);
    renewing.renewing = true;
    await renewing.sync.refresh('shop');
    expect([syncing.kept, renewing.kept]).toEqual([[], []]);
  });
});

describe('an announcement', () => {
  it.each<[string, Announcement, readonly string[]]>([
    ['of a newer session', { kind: 'changed', merchant: 'shop', generation: 13 }, ['shop']],
    ['of the one in memory', { kind: 'changed', merchant: 'shop', generation: 12 }, []],
    ['of somebody unknown', { kind: 'changed', merchant: 'another', generation: 13 }, []],
    ['that some were lost', { kind: 'gap' }, ['shop', 'kiosk']],
  ])('%s has this read at once: %j', async (_name, announcement, read) => {
    const syncing = new Syncing().holding(12);
    syncing.configured = ['shop', 'kiosk'];
    await syncing.hear(announcement);
    expect(syncing.asked).toEqual(read);
  });

  it('of a failure is read with others that come within a quarter of a second', async () => {
    const syncing = new Syncing();
    await syncing.hear({ kind: 'changed', merchant: 'shop' });
    expect(await syncing.readsWithin(1_000)).toEqual([250]);
  });
});

describe('a renewal that a look at the store has set going', () => {
  it('is that of a due session which nobody has renewed, overdue only from its margin on', async () => {
    const syncing = new Syncing().holding(12, 719_000).stored({ stored: { kind: 'unchanged', ageMs: 0 } });
    await syncing.clock.advance(3_250);
    const due = { merchant: 'shop', trigger: 'schedule', newerThan: 12, coolDownMs: 0, isOverdue: false };
    expect(syncing.renewals).toEqual([due]);
    const late = new Syncing().holding(12, 869_998).stored({ stored: { kind: 'unchanged', ageMs: 0 } });
    await late.clock.advance(2_000);
    expect(late.renewals).toEqual([{ ...due, isOverdue: true }]);
  });

  it('is not that of a session which somebody has renewed, nor of one read for another reason', async () => {
    const syncing = new Syncing().holding(12, 719_000).stored(session(14));
    await syncing.clock.advance(3_250);
    const other = new Syncing().holding(12, 800_000);
    await other.sync.refresh('shop');
    expect([syncing.renewals, other.renewals]).toEqual([[], []]);
  });

  it('is also wanted without a session, although nothing is overdue then', async () => {
    const syncing = new Syncing().stored({ dueInMs: 0 });
    await syncing.sync.refresh('shop');
    await syncing.clock.advance(2_000);
    expect(syncing.renewals).toMatchObject([{ newerThan: 0, isOverdue: false }]);
  });

  it('waits for the end of a back-off, and is not begun on the way out', async () => {
    const syncing = new Syncing().holding(12, 860_000);
    syncing.retryInMs = 5_000;
    syncing.sync.renewNow('shop');
    syncing.retryInMs = undefined;
    syncing.sync.close();
    syncing.sync.renewNow('shop');
    expect(syncing.renewals).toEqual([]);
  });

  it('asks for no back-off when the reason for it is gone, and is read back, not at once if it is our own', async () => {
    const syncing = new Syncing();
    syncing.renewed = { kind: 'renewed' };
    syncing.sync.renewNow('shop');
    await syncing.clock.settle();
    expect(syncing.renewals).toMatchObject([{ isOverdue: true, ignoresBackOff: true }]);
    expect(await syncing.readsWithin(250)).toEqual([250]);
    expect(syncing.asked).toEqual(['shop']);
    syncing.renewed = bug;
    syncing.sync.renewNow('shop');
    await syncing.clock.settle();
    expect(syncing.events.all).toEqual([{ event: 'broken', activity: 'renewal', error: bug }]);
    // Another replica's session is read at once.
    syncing.sync.follow('kiosk', { kind: 'already_newer' });
    await syncing.clock.settle();
    expect(syncing.asked).toEqual(['shop', 'kiosk']);
  });
});

describe('a store that does not answer', () => {
  async function unanswered(ageMs: number, change: (syncing: Syncing) => void = () => undefined): Promise<Syncing> {
    const syncing = new Syncing().holding(12, ageMs);
    syncing.mayGoAlone = true;
    syncing.whileReading = () => Promise.reject(silent);
    change(syncing);
    syncing.sync.want(['shop']);
    await syncing.clock.settle();
    return syncing;
  }

  it('has a session renewed without it, past the margin and where that is allowed', async () => {
    const { renewals, events } = await unanswered(869_999);
    expect(renewals).toMatchObject([{ isOverdue: true }]);
    expect(events.of('broken')).toEqual([]);
    expect((await unanswered(869_998)).renewals).toEqual([]);
    expect((await unanswered(869_999, (syncing) => (syncing.mayGoAlone = false))).renewals).toEqual([]);
    expect((await unanswered(869_999, (syncing) => (syncing.configured = []))).renewals).toEqual([]);
  });

  it('is asked again, at once when it is back', async () => {
    const syncing = await unanswered(0);
    expect(await syncing.readsWithin(1_000)).toEqual([1_000]);
    syncing.whileReading = () => undefined;
    syncing.sync.retryNow();
    await syncing.clock.settle();
    expect(syncing.reads).toHaveLength(3);
  });

  it('has every merchant looked after from here, in a second, but for those whose moment is planned', async () => {
    const syncing = new Syncing().holding(12);
    syncing.configured = ['shop', 'kiosk'];
    syncing.sync.invalidate();
    await syncing.clock.advance(1_000);
    expect(syncing.asked).toEqual(['kiosk']);
  });

  it('is not a bug, which is reported with what it happened in', async () => {
    const syncing = await unanswered(0, (one) => (one.whileReading = () => Promise.reject(bug)));
    expect(syncing.events.all).toEqual([{ event: 'broken', activity: 'refresh', error: bug }]);
  });
});

describe('a merchant is looked at again', () => {
  it.each([
    ['shortly after its session falls due', 0, 722_000],
    ['two seconds later, once that is over', 725_000, 2_000],
    ['at its margin, where that comes first', 868_750, 1_250],
    ['at its margin, as long as there is time for another look before', 869_748, 500],
    ['two seconds later, where the margin is as good as here', 869_749, 2_000],
  ])('%s', async (_name, ageMs, expectedMs) => {
    const syncing = new Syncing().holding(12, ageMs);
    expect(await syncing.readsWithin(expectedMs)).toEqual([expectedMs]);
  });

  it('less and less often while nothing comes', async () => {
    const syncing = new Syncing().holding(12, 721_000).stored({ stored: { kind: 'unchanged', ageMs: 0 } });
    expect(await syncing.readsWithin(60_000)).toEqual([2_000, 6_000, 14_000, 29_000, 44_000, 59_000]);
    const another = new Syncing();
    another.random = 0.5;
    another.holding(12, 721_000).stored({ stored: { kind: 'unchanged', ageMs: 0 } });
    expect(await another.readsWithin(30_000)).toEqual([2_000, 5_750, 13_000, 26_500]);
  });

  it('sooner where the lead is short, and from the beginning with the next session', async () => {
    const short = (generation: number, leadMs: number): ReturnType<typeof aSession> => {
      const { expiresAt } = aSession();
      const moments = { renewAt: plusMs(expiresAt, -leadMs), mustRenewAt: plusMs(expiresAt, -leadMs / 4) };
      return aSession({ generation, ...moments });
    };
    const syncing = new Syncing().stored({ stored: { kind: 'unchanged', ageMs: 0 } });
    syncing.held.adopt(short(12, 4_000), 896_500);
    expect(await syncing.readsWithin(1_000)).toEqual([1_000]);
    syncing.held.adopt(short(14, 4_000), 896_500);
    expect(await syncing.readsWithin(1_000)).toEqual([1_000]);
    syncing.held.adopt(short(16, 400), 899_650);
    expect(await syncing.readsWithin(250)).toEqual([250]);
  });

  it.each([
    [60_000, 15_000],
    [5_000, 7_000],
  ])('without a session when a lease or a back-off of %d ms may be over: after %d ms', async (dueInMs, expectedMs) => {
    const syncing = new Syncing().stored({ dueInMs });
    await syncing.sync.refresh('shop');
    expect(await syncing.readsWithin(expectedMs)).toEqual([expectedMs]);
    const expired = new Syncing().stored({ dueInMs }).holding(12, 900_000);
    expired.sync.forget('shop');
    await expired.sync.refresh('shop');
    expect(await expired.readsWithin(expectedMs)).toEqual([expectedMs]);
  });

  it('not at all once it is forgotten, or nobody looks any more', async () => {
    const syncing = new Syncing().holding(12);
    syncing.sync.forget('shop');
    await syncing.clock.advance(800_000);
    const closed = new Syncing().holding(12);
    closed.sync.want(['shop']);
    closed.sync.close();
    closed.holding(14);
    closed.sync.want(['shop']);
    await closed.hear({ kind: 'gap' });
    await closed.clock.advance(800_000);
    expect([syncing.reads, closed.reads.length, closed.clock.pendingTasks]).toEqual([[], 1, 0]);
  });
});
