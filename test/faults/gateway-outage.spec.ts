import { told } from '#libs/causes';
import { someSettings } from '#libs/testing';
import type { GatewayFailureFacts } from '#libs/session';
import { Cluster, type ClusterOptions, HOUR, MINUTE, SECOND } from './cluster.js';

const broken = { kind: 'transient', detail: 'HTTP 502' } as const;

describe('a gateway that fails', () => {
  it('is asked again with growing pauses, and never in between', async () => {
    const cluster = new Cluster({ replicas: 3, latencyMs: 0, settings: { budget: [{ calls: 1_000, perMs: HOUR }] } });
    cluster.gateway.answerAlways(broken);
    await cluster.clock.advance(10 * MINUTE);
    const moments = cluster.gateway.calls.map(({ atMs }) => atMs);
    const pauses = moments.slice(1).map((atMs, index) => atMs - (moments[index] ?? 0));
    // With half of the jitter: 1.5, 2.5, 4.5, 8.5, 16.5, then 30.5 s, and up to a tick until the next look.
    [1_500, 2_500, 4_500, 8_500, 16_500, 30_500, 30_500].forEach((expected, index) => {
      expect(pauses[index]).toBeGreaterThanOrEqual(expected);
      expect(pauses[index]).toBeLessThanOrEqual(expected + 1_000);
    });
    expect(cluster.gateway.calls.length).toBeLessThan(26);
    expect(cluster.first.replica.failureOf('shop')).toMatchObject({ kind: 'transient' });
  });

  it('is given the time it asks for', async () => {
    const cluster = new Cluster({ latencyMs: 0 });
    cluster.gateway.answerNext({ kind: 'transient', detail: 'busy', retryAfterMs: 45_000 });
    await cluster.clock.advance(44_000);
    expect(cluster.gateway.calls).toHaveLength(1);
    await cluster.clock.advance(3_000);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('with a session past its expiry replaces nothing', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(SECOND);
    const before = cluster.session();
    cluster.gateway.answerNext({ expiresAt: before.createdAt });
    await cluster.clock.advance(711 * SECOND);
    expect(cluster.session().generation).toBe(before.generation);
    expect(cluster.first.events.of('renewal_finished').at(-1)?.outcome).toBe('invalid_response');
    await cluster.clock.advance(10 * SECOND);
    expect(cluster.session().generation).toBeGreaterThan(before.generation);
  });

  it('is tried for a good session on its schedule, once more in time to replace it, when it ends, and then as seldom as the outage asks for', async () => {
    /** Makes pauses grow to an hour. */
    const settings = { budget: [{ calls: 60, perMs: 24 * HOUR }] };
    const cluster = new Cluster({ replicas: 2, latencyMs: 0, settings });
    await cluster.clock.advance(SECOND);
    const wallAheadMs = cluster.clock.now() - cluster.clock.monotonicMs();
    cluster.gateway.answerAlways(broken);
    for (let wish = 0; wish < 30; wish += 1) await cluster.renew(0);
    const { renewAt, mustRenewAt, expiresAt } = cluster.session();
    await cluster.clock.advance(2 * HOUR);
    const [renewal, last] = [renewAt, mustRenewAt - 2 * someSettings().gatewayTimeoutMs];
    const moments = cluster.gateway.calls.map(({ atMs }) => atMs + wallAheadMs);
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

describe('the end of an outage of the gateway', () => {
  const merchants = Array.from({ length: 200 }, (_, index) => `shop-${index}`);
  let seed = 1;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;

  it('comes for all merchants within three seconds, with few calls at once; until then the store is asked a few questions a second', async () => {
    const cluster = new Cluster({ replicas: 2, merchants, latencyMs: 100, random });
    cluster.gateway.answerAlways(broken);
    await cluster.clock.advance(3 * MINUTE);
    const before = cluster.storeOf(0).asksFor('read');
    await cluster.clock.advance(MINUTE);
    expect(cluster.storeOf(0).asksFor('read') - before).toBeLessThan(60 * 12);
    cluster.gateway.answerAlways(undefined);
    cluster.gateway.mostInFlightInAll = 0;
    await cluster.clock.advance(500);
    expect(cluster.gateway.mostInFlightInAll).toBeLessThanOrEqual(8);
    await cluster.clock.advance(2.5 * SECOND);
    for (const merchant of merchants) {
      expect(cluster.served(merchant).map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh']);
    }
    expect(cluster.gateway.mostInFlightInAll).toBeLessThanOrEqual(2 * 32);
  });

  it('is not seen where only two calls have failed: the other merchant waits as it was told to', async () => {
    const cluster = new Cluster({ merchants: ['shop', 'stall'], latencyMs: 0 });
    cluster.gateway.answerAlways({ ...broken, retryAfterMs: MINUTE });
    await cluster.clock.advance(10 * SECOND);
    cluster.gateway.answerAlways(undefined);
    await cluster.renew();
    await cluster.clock.advance(5 * SECOND);
    expect(cluster.gateway.calls).toHaveLength(3);
  });

  it('comes within a minute if nobody could connect, although one call has failed since', async () => {
    const settings = { budget: [{ calls: 1_000, perMs: 24 * HOUR }] };
    const cluster = new Cluster({ replicas: 2, latencyMs: 0, settings });
    cluster.gateway.answerAlways({ ...broken, wasReached: false });
    await cluster.clock.advance(10 * MINUTE);
    expect(cluster.gateway.calls.length).toBeGreaterThan(100);
    cluster.gateway.answerAlways(broken);
    await cluster.clock.advance(5 * SECOND);
    cluster.gateway.answerAlways(undefined);
    await cluster.clock.advance(MINUTE);
    expect(cluster.served()).not.toContain(undefined);
  });

  it.each([
    ['readers with nothing', false],
    ['consumers that report the session dead', true],
  ])('comes within some ten seconds for %s', async (_who, isReported) => {
    const cluster = new Cluster({ replicas: 3, latencyMs: 10, random: () => 0.99 });
    if (!isReported) cluster.gateway.answerAlways(broken);
    await cluster.clock.advance(SECOND);
    const generation = cluster.first.replica.held.generationOf('shop');
    const isBack = (): boolean => cluster.generations().every((now = 0) => now > generation);
    const once = (): Promise<unknown> => (isReported ? cluster.report({ generation }) : cluster.read());
    cluster.gateway.answerAlways(broken);
    for (let passedMs = 0; passedMs < 2 * MINUTE; passedMs += SECOND) await once();
    cluster.gateway.answerAlways(undefined);
    const endedMs = cluster.clock.monotonicMs();
    while (!isBack()) await once();
    expect(cluster.clock.monotonicMs() - endedMs).toBeLessThanOrEqual(12 * SECOND);
  });
});

describe('a session of the bank that opens with none of our keys', () => {
  const unopened: GatewayFailureFacts = { kind: 'invalid_response', detail: 'not opened', lostSession: true };
  const away: GatewayFailureFacts = { kind: 'transient', detail: 'away', msgCode: 'b_server_is_overloaded' };
  const losing = (options: ClusterOptions = {}): Promise<Cluster> =>
    Cluster.running({ replicas: 2, latencyMs: 10, lifetimeMs: HOUR, ...options });

  async function renewalFails(cluster: Cluster, failure: GatewayFailureFacts): Promise<void> {
    cluster.gateway.answerAlways(failure);
    const { length } = cluster.gateway.calls;
    while (cluster.gateway.calls.length === length) await cluster.clock.advance(SECOND);
    await cluster.clock.advance(SECOND);
  }

  it('has most likely ended ours, as every replica says whatever ends the next calls, until one is made that is of use', async () => {
    const cluster = await losing();
    await renewalFails(cluster, away);
    expect(cluster.conditions).toEqual(['failing', 'failing']);
    await renewalFails(cluster, unopened);
    expect(cluster.conditions).toEqual(['dead', 'dead']);
    const because = { code: 'invalid_response', effect: 'payments_fail' };
    expect(cluster.causes).toMatchObject([because, because]);
    await renewalFails(cluster, away);
    expect(cluster.conditions).toEqual(['dead', 'dead']);
    expect(cluster.causes[1]).toMatchObject({ msgCode: 'b_server_is_overloaded', effect: 'payments_fail' });
    expect(cluster.served().map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh']);
    cluster.gateway.answerAlways(undefined);
    await cluster.clock.advance(2 * MINUTE);
    expect(cluster.conditions).toEqual(['fresh', 'fresh']);
    expect(cluster.causes).toEqual([undefined, undefined]);
  });

  it('is nothing to a merchant whose sessions live beside each other', async () => {
    const cluster = await losing({ settings: { supersedes: false } });
    await renewalFails(cluster, unopened);
    expect(cluster.conditions).toEqual(['failing', 'failing']);
    expect(cluster.causes[0]).toMatchObject({ effect: 'not_renewed' });
  });

  it('was asked for with another key than that of some replica, which says so', async () => {
    const newestKeys = ['9e07re6s', 'Kylkplo7'].map((start) => start.padEnd(43, 'k'));
    const cluster = await losing({ newestKeys });
    cluster.gateway.answerAlways({ ...unopened, thumbprint: newestKeys[1] ?? '' });
    expect(await cluster.renew(SECOND, 2 * SECOND, 1)).toMatchObject({ code: 'session_unavailable' });
    const texts = cluster.causes.map((cause) => cause && told(cause, 'shop').text);
    expect(texts).toEqual([
      'Payments fail: another replica asked the bank with another key (Kylkplo7…) than our newest (9e07re6s…)',
      "Payments fail: the bank's new session opens with none of our keys",
    ]);
  });
});
