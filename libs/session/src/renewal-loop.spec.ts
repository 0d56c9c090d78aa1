import { BrokerError } from '#libs/errors';
import { aRecordedFailure, aSession, FakeClock, someSettings } from '#libs/testing';
import type { RenewalRequest } from './claims.js';
import { FailureBoard } from './failure-board.js';
import { GatewayLoad } from './gateway-load.js';
import { GatewayRecovery } from './gateway-recovery.js';
import { Grace } from './grace.js';
import { HeldSessions } from './held-sessions.js';
import { MomentWatches } from './moment-watches.js';
import type { DueMerchants, SessionStore } from './ports/session-store.js';
import { RenewalLoop, type RenewalLoopContext } from './renewal-loop.js';
import type { RenewalResult } from './renewal-result.js';

const UNTIL_RENEWAL_MS = 720_000;
const silent = new BrokerError('store_unavailable');
const bug = new TypeError('not a function');
const schedule = { trigger: 'startup', coolDownMs: 0, newerThan: 0 } as const;

/** The loop of one replica, with a store, a renewer and a memory played by the test. */
class Looping {
  readonly clock = new FakeClock();
  readonly held = new HeldSessions(this.clock);
  readonly failures = new FailureBoard();
  readonly watches = new MomentWatches(this.clock);
  readonly load = new GatewayLoad();
  readonly grace = new Grace(this.clock, 700);
  /** What it did, in order. */
  readonly done: string[] = [];
  readonly wanted: string[] = [];
  readonly followed: (readonly [string, string])[] = [];
  readonly broken: unknown[] = [];
  readonly renewals: RenewalRequest[] = [];
  readonly limits: number[] = [];
  readonly #endings = new Map<string, { resolve: (result: RenewalResult) => void; reject: (error: Error) => void }>();
  configured: readonly string[] = ['shop', 'kiosk', 'tickets'];
  contests: readonly (readonly [string, number])[] = [];
  due: DueMerchants = { merchants: [] };
  isComplete = true;
  gatewayOf = (_merchant: string): string => 'gateway';
  inFlight = 0;
  whileAsked: () => Promise<unknown> | void = () => undefined;
  random = (): number => 0.5;
  readonly loop: RenewalLoop;

  constructor() {
    const { clock, held, failures, watches, load, grace } = this;
    const parts = { clock, held, failures, watches, load, grace, recovery: new GatewayRecovery() };
    this.loop = new RenewalLoop({
      ...parts,
      merchants: {
        ids: () => this.configured,
        settingsOf: (merchant) => (this.configured.includes(merchant) ? someSettings() : undefined),
        gatewayIdOf: (merchant) => this.gatewayOf(merchant),
      },
      renewer: this.#renewer(),
      sync: this.#sync(),
      unpublished: {
        offerAll: async () => void this.done.push('offer'),
      } as unknown as RenewalLoopContext['unpublished'],
      settlements: { open: () => this.contests } as unknown as RenewalLoopContext['settlements'],
      store: { due: (limit: number) => this.#listDue(limit) } as unknown as SessionStore,
      random: () => this.random(),
    });
  }

  get renewed(): readonly string[] {
    return this.renewals.map(({ merchant }) => merchant);
  }

  holding(merchant: string, ageMs: number): this {
    this.held.adopt(aSession({ merchant, generation: 12 }), ageMs);
    return this;
  }

  /** Fails for the merchants, and every listener hears of it. */
  failing(...merchants: readonly string[]): this {
    for (const merchant of merchants) this.failures.note(merchant, aRecordedFailure({ at: this.clock.now() }));
    return this;
  }

  async end(merchant: string, result: RenewalResult | Error): Promise<void> {
    this.inFlight -= 1;
    const ending = this.#endings.get(merchant);
    if (result instanceof Error) ending?.reject(result);
    else ending?.resolve(result);
    await this.clock.settle();
  }

  #renewer(): RenewalLoopContext['renewer'] {
    const inFlight = (): number => this.inFlight;
    const renewer = {
      get inFlight() {
        return inFlight();
      },
      renew: (request: RenewalRequest) => {
        this.renewals.push(request);
        this.inFlight += 1;
        return new Promise((resolve, reject) => this.#endings.set(request.merchant, { resolve, reject }));
      },
    };
    return renewer as unknown as RenewalLoopContext['renewer'];
  }

  #sync(): RenewalLoopContext['sync'] {
    const isComplete = (): boolean => this.isComplete;
    const sync = {
      get isComplete() {
        return isComplete();
      },
      syncAll: async () => void this.done.push('sync'),
      lookAtOne: () => this.done.push('look'),
      invalidate: () => this.done.push('invalidate'),
      want: (merchants: readonly string[]) => this.wanted.push(...merchants),
      follow: (merchant: string, { kind }: RenewalResult) => this.followed.push([merchant, kind]),
      reportBroken: (activity: string, error: unknown) => this.broken.push([activity, error]),
    };
    return sync as unknown as RenewalLoopContext['sync'];
  }

  async #listDue(limit: number): Promise<DueMerchants> {
    this.done.push('due');
    this.limits.push(limit);
    await this.whileAsked();
    return this.due;
  }
}

const many = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `shop-${index}`);

describe('a tick', () => {
  it('offers what the store has not, looks at one merchant, and renews what is due', async () => {
    const looping = new Looping();
    looping.due = { merchants: ['shop'] };
    await looping.loop.tick();
    expect(looping.done).toEqual(['offer', 'look', 'due']);
    expect(looping.renewals).toEqual([{ merchant: 'shop', ...schedule }]);
    expect(looping.clock.pendingTasks).toBe(0);
  });

  it('reads everything first where the store is not known, and offers what that has shown', async () => {
    const looping = new Looping();
    looping.isComplete = false;
    await looping.loop.tick();
    expect(looping.done).toEqual(['offer', 'sync', 'offer', 'look', 'due']);
  });

  it('names startup until the first session, and what it would replace', async () => {
    const looping = new Looping().holding('shop', UNTIL_RENEWAL_MS);
    looping.due = { merchants: ['shop'] };
    await looping.loop.tick();
    expect(looping.renewals).toEqual([{ merchant: 'shop', ...schedule, trigger: 'schedule', newerThan: 12 }]);
  });

  it('that comes during another one has everything looked at once more, however many come', async () => {
    const looping = new Looping();
    const later: Promise<void>[] = [];
    looping.whileAsked = () => {
      if (later.length === 0) later.push(looping.loop.tick(), looping.loop.tick());
    };
    const first = looping.loop.tick();
    await first;
    expect(looping.limits).toHaveLength(2);
    expect(later).toEqual([first, first]);
    await looping.loop.tick();
    expect(looping.limits).toHaveLength(3);
  });

  it('ends in an outage of the store, and lets the replica look after its merchants itself', async () => {
    const looping = new Looping();
    looping.whileAsked = () => Promise.reject(silent);
    await looping.loop.tick();
    expect([looping.done.at(-1), looping.broken]).toEqual(['invalidate', []]);
  });

  it('that meets a bug reports it, and the next one goes on', async () => {
    const looping = new Looping();
    looping.whileAsked = () => Promise.reject(bug);
    await looping.loop.tick();
    expect(looping.broken).toEqual([['tick', bug]]);
    expect(looping.done).not.toContain('invalidate');
    looping.whileAsked = () => undefined;
    await looping.loop.tick();
    expect(looping.limits).toHaveLength(2);
  });

  it('claims nothing while others may still say what they hold, and wakes when they have', async () => {
    const looping = new Looping();
    looping.due = { merchants: ['shop'] };
    looping.grace.begin();
    await looping.loop.tick();
    await looping.clock.advance(699);
    expect(looping.done).toEqual(['offer', 'look']);
    await looping.clock.advance(1);
    expect(looping.renewed).toEqual(['shop']);
  });

  it('renews at once what two sessions were made of', async () => {
    const looping = new Looping();
    looping.contests = [['shop', 40]];
    await looping.loop.tick();
    expect(looping.renewals).toEqual([
      { merchant: 'shop', ...schedule, newerThan: 40, isOverdue: true, settles: true },
    ]);
  });

  it('that has a bug shown by a renewal goes on', async () => {
    const looping = new Looping();
    looping.due = { merchants: ['shop'] };
    await looping.loop.tick();
    await looping.end('shop', bug);
    expect(looping.broken).toEqual([['renewal', bug]]);
  });
});

describe('a due list', () => {
  it('is asked for as much as there is room for, and not at all without room', async () => {
    const looping = new Looping();
    looping.inFlight = 60;
    await looping.loop.tick();
    looping.inFlight = 64;
    await looping.loop.tick();
    expect(looping.limits).toEqual([4]);
    expect(looping.clock.pendingTasks).toBe(0);
  });

  it('that is longer than asked for does not make more renewals than there is room for', async () => {
    const looping = new Looping();
    looping.configured = many(10);
    looping.due = { merchants: many(10) };
    looping.inFlight = 60;
    await looping.loop.tick();
    expect(looping.renewals).toHaveLength(4);
  });

  it('is no reason to call a gateway that has no room', async () => {
    const looping = new Looping();
    looping.due = { merchants: ['shop'] };
    while (looping.load.hasRoom('gateway')) void looping.load.enter('gateway');
    await looping.loop.tick();
    expect(looping.renewals).toEqual([]);
  });

  it('is worked off in an order of this replica’s own', async () => {
    const looping = new Looping();
    const ranks = [0.9, 0.1, 0.5];
    looping.random = () => ranks.shift() ?? 0;
    looping.due = { merchants: ['shop', 'kiosk', 'tickets'] };
    await looping.loop.tick();
    expect(looping.renewed).toEqual(['kiosk', 'tickets', 'shop']);
  });

  it('may name a merchant that is no longer configured', async () => {
    const looping = new Looping();
    looping.due = { merchants: ['another', 'shop'] };
    await looping.loop.tick();
    expect([looping.renewed, looping.wanted]).toEqual([['shop'], []]);
  });

  it.each([
    [UNTIL_RENEWAL_MS - 252, []],
    [UNTIL_RENEWAL_MS - 251, ['shop']],
  ])('is believed of a session that is %d ms old: %j', async (ageMs, renewed) => {
    const looping = new Looping().holding('shop', ageMs);
    looping.due = { merchants: ['shop'] };
    await looping.loop.tick();
    expect(looping.renewed).toEqual(renewed);
    expect(looping.wanted).toEqual(renewed.length === 0 ? ['shop'] : []);
  });

  it('is believed of any session when its moment has been watched to its end', async () => {
    const looping = new Looping().holding('shop', 0);
    looping.watches.see('shop', 'due', { mark: 'due', inMs: 0 });
    looping.clock.freeze(250);
    looping.due = { merchants: ['shop'] };
    await looping.loop.tick();
    expect(looping.renewed).toEqual(['shop']);
  });

  it('cannot hide what is due behind what is listed in vain, but for ten thousand', async () => {
    const looping = new Looping();
    looping.due = { merchants: [...many(30), 'shop'] };
    await looping.loop.tick();
    looping.due = { merchants: many(20_000) };
    await looping.loop.tick();
    await looping.loop.tick();
    expect(looping.limits).toEqual([64, 63 + 30, 63 + 10_000]);
  });

  it('grows for those who wait for room at a gateway only while they may hide somebody whose gateway has room', async () => {
    const looping = new Looping();
    looping.configured = [...many(100), 'kiosk'];
    looping.gatewayOf = (merchant) => (merchant === 'kiosk' ? 'other' : 'gateway');
    looping.due = { merchants: many(50) };
    while (looping.load.hasRoom('gateway')) void looping.load.enter('gateway');
    await looping.loop.tick();
    await looping.loop.tick();
    looping.holding('kiosk', 0);
    await looping.loop.tick();
    await looping.loop.tick();
    expect(looping.limits).toEqual([64, 64 + 50, 64 + 50, 64]);
  });

  it('is not asked for again while more than half of what its gateway takes at once is under way', async () => {
    const looping = new Looping();
    looping.configured = many(40);
    looping.due = { merchants: many(40) };
    for (let call = 0; call < 10; call += 1) void looping.load.enter('gateway');
    looping.inFlight = 40;
    await looping.loop.tick();
    const [first = '', second = '', ...others] = looping.renewed;
    for (const merchant of others) await looping.end(merchant, { kind: 'renewed' });
    looping.inFlight = 10;
    await looping.end(first, { kind: 'renewed' });
    expect(looping.limits).toHaveLength(1);
    for (let call = 0; call < 2; call += 1) looping.load.leave('gateway', 'refused');
    await looping.end(second, { kind: 'renewed' });
    expect(looping.limits).toHaveLength(2);
  });

  it('is asked for again by itself while a backlog is worked off, once half of the room is free', async () => {
    const looping = new Looping();
    looping.configured = many(100);
    looping.due = { merchants: many(100) };
    while (looping.load.hasRoom('gateway')) {
      // More than the gateway's limit: the room here is what the test is about.
      void looping.load.enter('gateway');
    }
    for (let call = 0; call < 16; call += 1) looping.load.leave('gateway', 'refused');
    await looping.loop.tick();
    expect(looping.renewals).toHaveLength(64);
    for (const merchant of looping.renewed.slice(0, 31)) await looping.end(merchant, { kind: 'renewed' });
    expect(looping.limits).toHaveLength(1);
    await looping.end(looping.renewed[31] ?? '', { kind: 'failed', because: 'transient', retryInMs: 1 });
    expect(looping.limits).toHaveLength(1);
    await looping.end(looping.renewed[32] ?? '', { kind: 'renewed' });
    expect(looping.limits).toHaveLength(2);
  });

  it('is not asked for again without a backlog', async () => {
    const looping = new Looping();
    looping.due = { merchants: ['shop'] };
    await looping.loop.tick();
    await looping.end('shop', { kind: 'renewed' });
    expect(looping.limits).toHaveLength(1);
  });
});

describe('what became of a renewal', () => {
  it.each<RenewalResult>([
    { kind: 'renewed' },
    { kind: 'already_newer' },
    { kind: 'failed', because: 'transient', retryInMs: 1 },
  ])('is followed: %j', async (result) => {
    const looping = new Looping();
    looping.due = { merchants: ['shop'] };
    await looping.loop.tick();
    await looping.end('shop', result);
    expect(looping.followed).toEqual([['shop', result.kind]]);
  });
});

describe('between two ticks', () => {
  it.each<[DueMerchants, number | undefined]>([
    [{ merchants: [], nextDueInMs: 10 }, 10],
    [{ merchants: [], nextDueInMs: 0 }, 100],
    [{ merchants: ['another'], nextDueInMs: 10 }, 100],
    [{ merchants: ['another'], nextDueInMs: 5_000 }, 5_000],
    [{ merchants: ['another'] }, undefined],
  ])('a replica that was told %j looks again after %p ms', async (due, wakesInMs) => {
    const looping = new Looping();
    looping.due = due;
    await looping.loop.tick();
    await looping.clock.advance((wakesInMs ?? 60_000) - 1);
    expect(looping.limits).toHaveLength(1);
    looping.due = { merchants: [] };
    await looping.clock.advance(1);
    expect(looping.limits).toHaveLength(wakesInMs === undefined ? 1 : 2);
    expect(looping.clock.pendingTasks).toBe(0);
  });

  it('the earliest moment counts, whoever named it', async () => {
    const looping = new Looping();
    looping.due = { merchants: [], nextDueInMs: 5_000 };
    await looping.loop.tick();
    looping.due = { merchants: [] };
    looping.holding('shop', UNTIL_RENEWAL_MS - 2_001).holding('kiosk', UNTIL_RENEWAL_MS - 9_001);
    expect(looping.clock.pendingTasks).toBe(1);
    await looping.clock.advance(1_999);
    expect(looping.limits).toHaveLength(1);
    await looping.clock.advance(1);
    expect(looping.limits).toHaveLength(2);
    expect(looping.clock.pendingTasks).toBe(0);
  });

  it('a session that is due already is looked at now, as is everything when somebody asks', async () => {
    const looping = new Looping().holding('shop', UNTIL_RENEWAL_MS + 5_000);
    await looping.clock.advance(0);
    expect(looping.limits).toHaveLength(1);
    looping.loop.wake();
    await looping.clock.advance(0);
    expect(looping.limits).toHaveLength(2);
  });
});

describe('a gateway that failed for everybody', () => {
  it('and makes one session has the back-offs of the others ended at once', async () => {
    const looping = new Looping().failing('shop', 'kiosk', 'tickets');
    await looping.loop.tick();
    looping.holding('shop', 0);
    await looping.clock.advance(0);
    const expected = { ...schedule, isOverdue: true, ignoresBackOff: true };
    expect(looping.renewals).toEqual(
      expect.arrayContaining([
        { merchant: 'kiosk', ...expected },
        { merchant: 'tickets', ...expected },
      ]),
    );
    expect(looping.renewals).toHaveLength(2);
    await looping.clock.advance(60_000);
    expect(looping.renewals).toHaveLength(2);
  });

  it('and makes a session for one of two that failed twice says nothing of the other', async () => {
    const looping = new Looping().failing('shop', 'kiosk').holding('shop', 0);
    await looping.clock.advance(0);
    expect(looping.renewals).toEqual([]);
  });

  it.each<[string, (looping: Looping) => void]>([
    ['has a session of its own', (looping) => looping.holding('kiosk', 0)],
    ['was removed', (looping) => (looping.configured = ['shop', 'tickets'])],
  ])('has nobody renewed for it who %s meanwhile', async (_name, change) => {
    const looping = new Looping().failing('shop', 'kiosk', 'tickets').holding('shop', 0);
    change(looping);
    await looping.clock.advance(0);
    expect(looping.renewed).toEqual(['tickets']);
    looping.configured = ['shop', 'kiosk', 'tickets'];
    await looping.end('tickets', { kind: 'renewed' });
    looping.clock.freeze(UNTIL_RENEWAL_MS);
    await looping.loop.tick();
    expect(looping.renewed).toEqual(['tickets']);
  });

  it('has the others renewed one after the other, as it has room', async () => {
    const looping = new Looping().failing('shop', 'kiosk', 'tickets');
    looping.inFlight = 63;
    looping.holding('shop', 0);
    await looping.clock.advance(0);
    expect(looping.renewals).toHaveLength(1);
    looping.inFlight = 1;
    await looping.end(looping.renewed[0] ?? '', { kind: 'renewed' });
    await looping.clock.advance(0);
    expect([...looping.renewed].sort()).toEqual(['kiosk', 'tickets']);
  });

  it('is not called beyond its limit for them', async () => {
    const looping = new Looping().failing('shop', 'kiosk', 'tickets');
    while (looping.load.hasRoom('gateway')) void looping.load.enter('gateway');
    looping.holding('shop', 0);
    await looping.clock.advance(0);
    expect(looping.renewals).toEqual([]);
    looping.load.leave('gateway');
    await looping.loop.tick();
    expect(looping.renewals).toHaveLength(2);
  });
});

describe('a loop that was stopped', () => {
  it('ends with the tick under way, and claims nothing afterwards', async () => {
    const looping = new Looping();
    let goOn = (): void => undefined;
    looping.whileAsked = () => new Promise<void>((resolve) => (goOn = resolve));
    void looping.loop.tick();
    void looping.loop.tick();
    await looping.clock.settle();
    let isStopped = false;
    const stopped = looping.loop.stop().then(() => (isStopped = true));
    await looping.clock.settle();
    expect(isStopped).toBe(false);
    goOn();
    await stopped;
    await looping.loop.tick();
    expect(looping.done).toEqual(['offer', 'look', 'due']);
  });

  it('wakes for nothing any more', async () => {
    const looping = new Looping().failing('shop', 'kiosk', 'tickets');
    looping.due = { merchants: [], nextDueInMs: 5_000 };
    await looping.loop.tick();
    await looping.loop.stop();
    looping.holding('shop', UNTIL_RENEWAL_MS);
    looping.loop.wake();
    expect(looping.clock.pendingTasks).toBe(0);
  });
});
