import { someSettings } from '#libs/testing';
import { Cluster, neverAborted } from './cluster.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const manyCalls = { budget: [{ calls: 1_000, perMs: 24 * HOUR }] };
/** Makes pauses grow to an hour. */
const dayOfSixty = { budget: [{ calls: 60, perMs: 24 * HOUR }] };
const away = { kind: 'transient', detail: 'nothing listens there', wasReached: false } as const;
const broken = { kind: 'transient', detail: 'HTTP 502' } as const;

const attemptsOf = (cluster: Cluster): readonly number[] => cluster.gateway.calls.map(({ atMs }) => atMs);

describe('a gateway that nobody could connect to', () => {
  it('is asked within a minute of its return, although one call has failed since it could be reached', async () => {
    const cluster = new Cluster({ replicas: 2, latencyMs: 0, settings: manyCalls });
    cluster.gateway.answerAlways(away);
    await cluster.clock.advance(10 * MINUTE);
    expect(cluster.gateway.calls.length).toBeGreaterThan(100);
    cluster.gateway.answerAlways(broken);
    await cluster.clock.advance(5 * SECOND);
    cluster.gateway.answerAlways(undefined);
    await cluster.clock.advance(MINUTE);
    for (const served of cluster.served()) expect(served).toBeDefined();
  });
});

describe('a gateway that answers again', () => {
  /** How long readers, or consumers that report the dead session, wait for a session after an outage. */
  async function waitAfter(outageMs: number, isReported: boolean): Promise<number> {
    const cluster = new Cluster({ replicas: 3, latencyMs: 10, random: () => 0.99 });
    if (!isReported) cluster.gateway.answerAlways(broken);
    await cluster.clock.advance(SECOND);
    const generation = cluster.served()[0]?.session.generation ?? 0;
    const isBack = (): boolean => cluster.served().every((served) => (served?.session.generation ?? 0) > generation);
    const { wishes } = cluster.first.replica;
    const wish = { merchant: 'shop', waitMs: SECOND, signal: neverAborted };
    const once = async (): Promise<void> => {
      const asked: Promise<unknown> = isReported
        ? wishes.reject({ ...wish, generation })
        : wishes.read({ ...wish, minRemainingMs: 0, waitsThroughFailure: false });
      await Promise.all([asked.catch(() => undefined), cluster.clock.advance(SECOND)]);
    };
    cluster.gateway.answerAlways(broken);
    for (let passedMs = 0; passedMs < outageMs; passedMs += SECOND) await once();
    cluster.gateway.answerAlways(undefined);
    const endedMs = cluster.clock.monotonicMs();
    while (!isBack()) await once();
    return cluster.clock.monotonicMs() - endedMs;
  }

  it.each([
    ['readers with nothing', false],
    ['consumers that report the session dead', true],
  ])('after two minutes is asked within some ten seconds where there are %s', async (_who, isReported) => {
    expect(await waitAfter(2 * MINUTE, isReported)).toBeLessThanOrEqual(12 * SECOND);
  });
});

describe('a session that is good in a long outage', () => {
  /** A session of fifteen minutes whose renewal was requested again and again while the gateway was broken. */
  async function wishedTooEarly(): Promise<{ readonly cluster: Cluster; readonly wallAheadMs: number }> {
    const cluster = new Cluster({ replicas: 2, latencyMs: 0, settings: dayOfSixty });
    await cluster.clock.advance(SECOND);
    const wallAheadMs = cluster.clock.now() - cluster.clock.monotonicMs();
    cluster.gateway.answerAlways(broken);
    for (let wish = 0; wish < 30; wish += 1) {
      const asked = cluster.first.replica.wishes.renew({ merchant: 'shop', waitMs: 0, signal: neverAborted });
      await Promise.all([asked.catch(() => undefined), cluster.clock.advance(SECOND)]);
    }
    return { cluster, wallAheadMs };
  }

  it('is tried for on its schedule, once more while it can still be replaced in time, and when it ends, and then as seldom as the outage asks for', async () => {
    const { cluster, wallAheadMs } = await wishedTooEarly();
    const { renewAt, mustRenewAt, expiresAt } = cluster.session();
    await cluster.clock.advance(2 * HOUR);
    const [renewal, last] = [renewAt, mustRenewAt - 2 * someSettings().gatewayTimeoutMs];
    const moments = attemptsOf(cluster).map((atMs) => atMs + wallAheadMs);
    const from = moments.findIndex((moment) => moment >= renewal - 2);
    expect(moments[from]).toBeLessThanOrEqual(renewal + 2);
    const since = moments.slice(from + 1);
    expect(since.some((moment) => moment <= last)).toBe(true);
    const atTheEnd = since.findIndex((moment) => moment >= expiresAt - 2);
    expect(since[atTheEnd]).toBeLessThanOrEqual(expiresAt + 10 * SECOND);
    expect(since[atTheEnd + 1]).toBeGreaterThan(expiresAt + 5 * MINUTE);
    expect(moments.length - from).toBeLessThanOrEqual(9);
  });
});

describe('a merchant whose session has ended in a long outage', () => {
  /** How long it waits after an outage that began when its session of an hour was due and lasted for `forMs`. */
  async function waitAfter(forMs: number, calls: number): Promise<number> {
    const settings = {
      budget: [
        { calls: 60, perMs: 10 * MINUTE },
        { calls, perMs: 24 * HOUR },
      ],
    };
    const cluster = new Cluster({ replicas: 2, latencyMs: 0, lifetimeMs: HOUR, settings });
    await cluster.clock.advance(SECOND);
    cluster.gateway.answerAlways(broken);
    await cluster.clock.advance(cluster.session().renewAt - cluster.clock.now() + forMs);
    cluster.gateway.answerAlways(undefined);
    const endedMs = cluster.clock.monotonicMs();
    while (cluster.served().some((session) => session === undefined)) await cluster.clock.advance(SECOND);
    return cluster.clock.monotonicMs() - endedMs;
  }

  it('has one within the pause that its budget asks for', async () => {
    expect(await waitAfter(40 * MINUTE, 200)).toBeLessThanOrEqual(12 * MINUTE);
  });
});
