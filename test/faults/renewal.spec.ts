import { DailyWindow, msBetween, plusMs } from '#libs/clock';
import { someSettings } from '#libs/testing';
import { Cluster, HOUR, MINUTE, SECOND } from './cluster.js';
import { altered } from './faulty-store.js';

const DAY = 24 * HOUR;

describe('a fleet that starts on an empty store', () => {
  it('makes one create call however many replicas it has, and each serves what comes of it', async () => {
    const cluster = new Cluster({ replicas: 50 });
    await cluster.clock.advance(5 * SECOND);
    expect(cluster.gateway.calls).toHaveLength(1);
    expect(cluster.generations()).toEqual(new Array(50).fill(cluster.session().generation));
  });

  it('reads what the store has in questions of five hundred merchants at most', async () => {
    const merchants = Array.from({ length: 1_001 }, (_, index) => `shop-${index}`);
    const cluster = new Cluster({ merchants });
    await cluster.clock.advance(0);
    const reads = cluster.storeOf(0).asked.filter(({ operation }) => operation === 'read');
    expect(reads.map(({ arguments: [asked] }) => (asked as readonly unknown[]).length).slice(0, 3)).toEqual([
      500, 500, 1,
    ]);
  });

  it('creates nothing before others have had the time to tell the store what they hold', async () => {
    const cluster = new Cluster({ graceMs: 1_500 });
    await cluster.clock.advance(1_499);
    expect(cluster.gateway.calls).toEqual([]);
    await cluster.clock.advance(SECOND);
    expect(cluster.gateway.calls).toHaveLength(1);
  });

  it('shares the work of many merchants, with room for so many calls of one gateway, and of one replica', async () => {
    const merchants = Array.from({ length: 300 }, (_, index) => `shop-${index}`);
    let seed = 1;
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    const cluster = new Cluster({ replicas: 3, merchants, random });
    const goOn = cluster.stores.map((store) => store.holdNextAnswerOf('due'));
    await cluster.clock.advance(10);
    for (const release of goOn) release();
    await cluster.clock.advance(30);
    const { replica } = cluster.first;
    expect(merchants.filter((id) => replica.isRenewing(id))).toHaveLength(16);
    // All see the same list, and few begin with the same merchants.
    expect(cluster.replicas.flatMap(({ events }) => events.of('claim_refused')).length).toBeLessThan(10);
    await cluster.clock.advance(10 * SECOND);
    expect([cluster.gateway.calls.length, cluster.gateway.mostInFlight]).toEqual([300, 1]);
    const shares = cluster.replicas.map(({ events }) => events.of('renewal_finished').length);
    expect(Math.min(...shares)).toBeGreaterThan(30);
    const some = merchants.slice(0, 100);
    const alone = new Cluster({ merchants: some, gatewayIdOf: (id) => id, latencyMs: 500 });
    await alone.clock.advance(MINUTE);
    expect([alone.gateway.calls.length, alone.gateway.mostInFlightInAll]).toEqual([100, 64]);
  });
});

describe('a fleet that renews on its schedule', () => {
  it('makes one call each for two days, and serves nothing but fresh sessions', async () => {
    // Sessions as short as these take more than 60 calls a day.
    const budget = [{ calls: 1_000, perMs: DAY }];
    const cluster = new Cluster({ replicas: 3, tickMs: 10 * MINUTE, settings: { budget } });
    await cluster.clock.advance(SECOND);
    const seen: (string | undefined)[] = [];
    for (let moment = 0; moment < 2 * DAY; moment += 10 * MINUTE) {
      await cluster.clock.advance(10 * MINUTE);
      seen.push(...cluster.served().map((served) => served?.verdict.result));
    }
    // 900 s less 20 % and half of the 10 % jitter is 711 s, and the call itself takes 50 ms of each round.
    expect(cluster.gateway.calls.length).toBe(1 + Math.floor((2 * DAY + SECOND) / 711_050));
    expect(new Set(seen)).toEqual(new Set(['fresh']));
    expect(cluster.gateway.mostInFlight).toBe(1);
    const renewals = cluster.replicas.flatMap(({ events }) => events.of('renewal_finished'));
    const triggered = (by: string): number => renewals.filter(({ trigger }) => trigger === by).length;
    expect([triggered('startup'), triggered('schedule')]).toEqual([1, renewals.length - 1]);
  });

  it('renews to the millisecond when a session falls due, even if nobody ticks in between', async () => {
    const settings = { gatewayTimeoutMs: 100, budget: [{ calls: 1_000, perMs: HOUR }] };
    const cluster = new Cluster({ replicas: 3, lifetimeMs: SECOND, latencyMs: 0, tickMs: HOUR, settings });
    await cluster.clock.advance(20 * SECOND);
    const moments = cluster.gateway.calls.map(({ atMs }) => atMs);
    // 20 % of a second is less than two timeouts and half of the jitter: 210 ms before the end.
    expect(new Set(moments.slice(1).map((atMs, index) => atMs - (moments[index] ?? 0)))).toEqual(new Set([790]));
  });

  it('renews in quiet hours from the session on that follows their setting, at the one moment that all know', async () => {
    const quietHours = { from: '03:00', to: '05:00', timeZone: 'Europe/Kyiv' };
    const cluster = new Cluster({ replicas: 3, tickMs: 10 * MINUTE, lifetimeMs: DAY });
    await cluster.clock.advance(SECOND);
    const before = cluster.session();
    cluster.settings = someSettings({ quietHours });
    await cluster.clock.advance(HOUR);
    expect(cluster.session().renewAt).toBe(before.renewAt);
    await cluster.clock.advance(20 * HOUR);
    cluster.addReplica();
    await cluster.clock.advance(SECOND);
    const { renewAt, generation } = cluster.session();
    expect(generation).toBeGreaterThan(before.generation);
    expect(new DailyWindow(quietHours).contains(renewAt)).toBe(true);
    expect(cluster.replicas.map((_, index) => cluster.session(index).renewAt)).toEqual(new Array(4).fill(renewAt));
    const { states } = await cluster.store.read([{ merchant: 'shop', known: 0 }]);
    const dueAt = plusMs(cluster.now(), states[0]?.dueInMs ?? 0);
    expect(Math.abs(msBetween(renewAt, dueAt))).toBeLessThan(SECOND);
  });

  it('looks once more when it is asked to while it looks', async () => {
    const cluster = await Cluster.running({ tickMs: HOUR });
    const store = cluster.storeOf(0);
    const before = store.asksFor('due');
    const goOn = store.holdNextAnswerOf('due');
    for (const _tick of [1, 2]) {
      void cluster.first.replica.tick();
      await cluster.clock.settle();
    }
    goOn();
    await cluster.clock.settle();
    expect(store.asksFor('due') - before).toBe(2);
  });

  it('reads again, and neither claims nor renews, what is listed as due long before it is', async () => {
    // With this chance, it is the second that is looked at otherwise.
    const cluster = await Cluster.running({ merchants: ['shop', 'stall'] });
    const store = cluster.storeOf(0);
    store.attach(altered('due', () => async () => ({ merchants: ['shop'] }))(cluster.store));
    const [claims, reads] = [store.asksFor('claim'), store.readsOf('shop')];
    await cluster.clock.advance(MINUTE);
    expect(store.asksFor('claim')).toBe(claims);
    expect(store.readsOf('shop')).toBeGreaterThan(reads + 5);
    expect(cluster.gateway.calls).toHaveLength(2);
  });
});

describe('what a replica tells', () => {
  it('is each newer session to who listens, and what is left of it; of one that it replaced, nothing is', async () => {
    const cluster = new Cluster();
    const { held } = cluster.first.replica;
    const heard: number[] = [];
    const stop = held.onAnyNewer(({ generation }) => heard.push(generation));
    await cluster.clock.advance(MINUTE);
    const first = cluster.session();
    // Its moments are whole milliseconds: one less counts.
    const leftTo = (at: typeof first.renewAt): number => msBetween(cluster.clock.now(), at) - 1;
    expect(held.leftOf(first)).toEqual({ expiresInMs: leftTo(first.expiresAt), renewInMs: leftTo(first.renewAt) });
    await cluster.clock.advance(12 * MINUTE);
    expect(held.leftOf(first)).toEqual({ expiresInMs: 0, renewInMs: 0 });
    expect(heard).toEqual([first.generation, cluster.session().generation]);
    stop();
    await cluster.clock.advance(12 * MINUTE);
    expect(heard).toHaveLength(2);
  });

  it('is a gateway whose clock is an hour ahead, and a session too short for a second attempt, with the numbers', async () => {
    const cluster = new Cluster();
    const now = cluster.clock.now();
    cluster.gateway.answerNext({ gatewayDate: plusMs(now, HOUR), expiresAt: plusMs(now, HOUR + 20_000) });
    await cluster.clock.advance(SECOND);
    const [skewed] = cluster.first.events.of('clock_skew');
    expect(skewed).toMatchObject({ merchant: 'shop', beyondTolerance: true });
    expect(Math.abs((skewed?.skewMs ?? 0) - HOUR)).toBeLessThan(SECOND);
    const short = { merchant: 'shop', leadMs: expect.any(Number), neededMs: 11_000 };
    expect(cluster.first.events.of('lead_time_short')).toEqual([expect.objectContaining(short)]);
  });

  it('is a bug of ours in what follows from a question to the store or the gateway, and the replica goes on', async () => {
    const cluster = new Cluster({ replicas: 2 });
    const bug = new TypeError('not a function');
    const { gateway } = cluster;
    const createSession = gateway.createSession.bind(gateway);
    gateway.createSession = () => Promise.reject(bug);
    await cluster.clock.advance(SECOND);
    gateway.createSession = createSession;
    await cluster.clock.advance(MINUTE);
    expect(cluster.generations()).toEqual([cluster.session().generation, cluster.session().generation]);
    const { replica, events } = cluster.first;
    cluster.storeOf(0).failures = { due: bug, read: bug };
    await cluster.renewedBy(1);
    cluster.merchants = ['shop', 'kiosk'];
    await replica.merchantsChanged({ added: ['kiosk'], removed: [], changed: [] });
    expect(events.of('broken').length).toBeGreaterThan(30);
    const activities = new Set(events.of('broken').map(({ activity, error }) => error === bug && activity));
    expect(activities).toEqual(new Set(['renewal', 'tick', 'refresh', 'change of merchants']));
    cluster.storeOf(0).failures = {};
    await cluster.clock.advance(SECOND);
    expect(cluster.session(0)).toEqual(cluster.session(1));
  });
});
