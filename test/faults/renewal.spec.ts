import { DailyWindow, msBetween, plusMs } from '#libs/clock';
import type { ClaimRequest } from '#libs/session';
import { someSettings } from '#libs/testing';
import { Cluster, HOUR, MINUTE, neverAborted, SECOND } from './cluster.js';

const DAY = 24 * HOUR;

describe('renewal', () => {
  it('makes one create call when fifty replicas start on an empty store', async () => {
    const cluster = new Cluster({ replicas: 50 });
    await cluster.clock.advance(5_000);
    expect(cluster.gateway.calls).toHaveLength(1);
    expect(new Set(cluster.served().map((served) => served?.session.generation)).size).toBe(1);
  });

  it('renews with one call each over two days, and never serves anything but a fresh session', async () => {
    // Sessions as short as these take more than 60 calls a day.
    const budget = [{ calls: 1_000, perMs: DAY }];
    const cluster = new Cluster({ replicas: 3, tickMs: 10 * MINUTE, settings: { budget } });
    await cluster.clock.advance(1_000);
    const seen: (string | undefined)[] = [];
    for (let moment = 0; moment < 2 * DAY; moment += 10 * MINUTE) {
      await cluster.clock.advance(10 * MINUTE);
      seen.push(...cluster.served().map((served) => served?.verdict.result));
    }
    // 900 s less 20 % and half of the 10 % jitter is 711 s, and the call itself takes 50 ms of each round.
    expect(cluster.gateway.calls.length).toBe(1 + Math.floor((2 * DAY + 1_000) / 711_050));
    expect(new Set(seen)).toEqual(new Set(['fresh']));
    expect(cluster.gateway.mostInFlight).toBe(1);
  });

  it('renews exactly when a session falls due, even if nobody ticks in between', async () => {
    const settings = { gatewayTimeoutMs: 100, budget: [{ calls: 1_000, perMs: HOUR }] };
    const cluster = new Cluster({ replicas: 3, lifetimeMs: 1_000, latencyMs: 0, tickMs: HOUR, settings });
    await cluster.clock.advance(20_000);
    const pauses = cluster.gateway.calls
      .slice(1)
      .map(({ atMs }, index) => atMs - (cluster.gateway.calls[index]?.atMs ?? 0));
    // 20 % of a second is less than two timeouts and half of the jitter: 210 ms before the end.
    expect(new Set(pauses)).toEqual(new Set([790]));
  });

  it('shares the work of many merchants among the replicas', async () => {
    const merchants = Array.from({ length: 300 }, (_, index) => `shop-${index}`);
    let seed = 1;
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    const cluster = new Cluster({ replicas: 3, merchants, random });
    await cluster.clock.advance(10_000);
    expect(cluster.gateway.calls).toHaveLength(300);
    expect(cluster.gateway.mostInFlight).toBe(1);
    const shares = cluster.replicas.map(({ events }) => events.of('renewal_finished').length);
    expect(Math.min(...shares)).toBeGreaterThan(30);
  });

  it('names startup as the trigger of the first renewal and schedule afterwards', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(20 * MINUTE);
    const triggers = cluster.first.events.of('renewal_finished').map(({ trigger }) => trigger);
    expect(triggers).toEqual(['startup', 'schedule']);
  });

  it('tells who listens of each newer session, and what is left of it; of one that it replaced, nothing is', async () => {
    const cluster = new Cluster();
    const { held } = cluster.first.replica;
    const heard: number[] = [];
    const stop = held.onAnyNewer(({ generation }) => heard.push(generation));
    await cluster.clock.advance(MINUTE);
    const first = cluster.session();
    // Its moments are whole milliseconds: one less counts.
    const leftTo = (at: typeof first.renewAt): number => msBetween(cluster.clock.now(), at) - 1;
    const [expiresInMs, renewInMs] = [leftTo(first.expiresAt), leftTo(first.renewAt)];
    expect(held.leftOf(first)).toEqual({ expiresInMs, renewInMs });
    await cluster.clock.advance(12 * MINUTE);
    expect(held.leftOf(first)).toEqual({ expiresInMs: 0, renewInMs: 0 });
    expect(heard).toEqual([first.generation, cluster.session().generation]);
    stop();
    await cluster.clock.advance(12 * MINUTE);
    expect(heard).toHaveLength(2);
  });

  it('warns of a gateway whose clock is an hour ahead', async () => {
    const cluster = new Cluster();
    const now = cluster.clock.now();
    cluster.gateway.answerNext({ gatewayDate: plusMs(now, HOUR), expiresAt: plusMs(now, HOUR + 900_000) });
    await cluster.clock.advance(1_000);
    const [skewed] = cluster.first.events.of('clock_skew');
    expect(skewed).toMatchObject({ merchant: 'shop', beyondTolerance: true });
    expect(Math.abs((skewed?.skewMs ?? 0) - HOUR)).toBeLessThan(1_000);
  });

  it('warns with the numbers when no second attempt fits before expiry', async () => {
    const cluster = new Cluster({ lifetimeMs: 20_000 });
    await cluster.clock.advance(1_000);
    expect(cluster.first.events.of('lead_time_short')).toEqual([
      expect.objectContaining({ merchant: 'shop', leadMs: expect.any(Number), neededMs: 11_000 }),
    ]);
  });
});

const wish = { merchant: 'shop', minRemainingMs: 0, waitMs: 10_000, waitsThroughFailure: false, signal: neverAborted };

describe('reads', () => {
  it('renew first when less is left than wanted, unless a new one could not fulfil the wish for long', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(5 * MINUTE);
    const before = cluster.session().generation;
    const demanding = { ...wish, minRemainingMs: 11 * MINUTE };
    const read = cluster.first.replica.wishes.read(demanding);
    await cluster.clock.advance(1_000);
    expect((await read).session.generation).toBeGreaterThan(before);
    const impossible = cluster.first.replica.wishes.read({ ...wish, minRemainingMs: HOUR });
    await cluster.clock.advance(1_000);
    expect((await impossible).session.generation).toBe(cluster.session().generation);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('cost at most one call in a quarter of a lifetime, however much is wanted', async () => {
    const cluster = await Cluster.running({ lifetimeMs: 24 * HOUR, settings: { fallbackLifetimeMs: 8 * HOUR } });
    for (const minRemainingMs of [HOUR, 17 * HOUR, 23.9 * HOUR, 48 * HOUR]) {
      for (let count = 0; count < 360; count += 1) {
        const settled = Promise.allSettled([
          cluster.first.replica.wishes.read({ ...wish, waitMs: SECOND, minRemainingMs }),
        ]);
        await cluster.clock.advance(10 * SECOND);
        await settled;
      }
    }
    expect(cluster.gateway.calls).toHaveLength(1);
  });

  it('announced before they wait start a renewal where there is nothing to serve, and none where there is', async () => {
    const cluster = new Cluster();
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'overloaded' });
    await cluster.clock.advance(2 * MINUTE);
    cluster.gateway.answerAlways(undefined);
    const { replica, events } = cluster.first;
    for (let second = 0; second < 12; second += 1) {
      replica.wishes.demand('shop');
      await cluster.clock.advance(SECOND);
    }
    expect(events.of('renewal_finished').at(-1)).toMatchObject({ trigger: 'demand', outcome: 'success' });
    const calls = cluster.gateway.calls.length;
    replica.wishes.demand('shop');
    await cluster.clock.advance(MINUTE);
    expect(cluster.gateway.calls).toHaveLength(calls);
  });

  it('for a newer session than one that is held get it when it is there, or nothing in their time', async () => {
    const cluster = await Cluster.running();
    const { generation } = cluster.session();
    const { wishes } = cluster.first.replica;
    const wanted = { merchant: 'shop', signal: neverAborted };
    const [soon, later] = [
      wishes.newerThan(generation, { ...wanted, waitMs: MINUTE }),
      wishes.newerThan(generation, { ...wanted, waitMs: HOUR }),
    ];
    await cluster.clock.advance(13 * MINUTE);
    expect(await soon).toBeUndefined();
    expect((await later)?.generation).toBe(cluster.session().generation);
    expect(cluster.session().generation).toBeGreaterThan(generation);
  });

  it('are served at once past the margin while the gateway fails, and refused only after expiry', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(1_000);
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'overloaded' });
    await cluster.clock.advance(890_000);
    const served = await cluster.first.replica.wishes.read(wish);
    expect(served.verdict).toEqual({ result: 'stale', reason: 'past_margin' });
    await cluster.clock.advance(10_000);
    const refused = cluster.first.replica.wishes.read(wish);
    await expect(refused).rejects.toMatchObject({
      code: 'session_unavailable',
      reason: 'transient',
      retryAfterMs: expect.any(Number),
    });
  });
});

describe('a claim', () => {
  it('ignores neither due moment nor back-off for a lease that was seen once and ended in a session', async () => {
    const cluster = new Cluster({ replicas: 3, latencyMs: 400 });
    const reading = Promise.all(
      cluster.replicas.map(({ replica }) => replica.wishes.read({ ...wish, waitMs: SECOND })),
    );
    await cluster.clock.advance(MINUTE);
    await reading;
    const refused = cluster.replicas.flatMap(({ events }) => events.of('claim_refused'));
    expect(refused.map(({ reason }) => reason)).toContain('held');
    await cluster.first.stop();
    for (const store of cluster.stores) store.asked.length = 0;
    await cluster.clock.advance(2 * HOUR);
    const claims = cluster.stores.flatMap(({ asked }) => asked.filter(({ operation }) => operation === 'claim'));
    const wishes = claims.map(({ arguments: [claim] }) => claim as ClaimRequest);
    expect(wishes.length).toBeGreaterThan(5);
    expect(wishes.filter(({ mode, ignoresBackOff }) => mode === 'when_wanted' || ignoresBackOff === true)).toEqual([]);
  });
});

const quietHours = { from: '03:00', to: '05:00', timeZone: 'Europe/Kyiv' };
const daily = new DailyWindow(quietHours);

const aCluster = (settings: object): Cluster =>
  new Cluster({ replicas: 3, tickMs: 10 * MINUTE, lifetimeMs: DAY, settings });

describe('renewals in quiet hours', () => {
  it('come at the one moment that all replicas, a later one and the store know', async () => {
    const cluster = aCluster({ quietHours });
    await cluster.clock.advance(1_000);
    cluster.addReplica();
    await cluster.clock.advance(1_000);
    const { renewAt } = cluster.session(0);
    expect(daily.contains(renewAt)).toBe(true);
    expect(cluster.replicas.map((_, index) => cluster.session(index).renewAt)).toEqual(new Array(4).fill(renewAt));
    const { states } = await cluster.store.read([{ merchant: 'shop', known: 0 }]);
    const dueAt = plusMs(cluster.now(), states[0]?.dueInMs ?? 0);
    expect(Math.abs(msBetween(renewAt, dueAt))).toBeLessThan(1_000);
  });

  it('count from the next session on when they are set or taken away while replicas run', async () => {
    const cluster = aCluster({});
    await cluster.clock.advance(1_000);
    const before = cluster.session(0);
    cluster.settings = someSettings({ quietHours });
    await cluster.clock.advance(HOUR);
    expect(cluster.session(0).renewAt).toBe(before.renewAt);
    await cluster.clock.advance(20 * HOUR);
    expect(cluster.session(0).generation).toBeGreaterThan(before.generation);
    expect(daily.contains(cluster.session(0).renewAt)).toBe(true);
  });
});
