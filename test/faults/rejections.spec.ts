import type { RejectionAnswer, SessionStore } from '#libs/session';
import { Cluster, neverAborted } from './cluster.js';

const MINUTE = 60_000;
/** With it, only the cool-down keeps apart sessions that die one after the other. */
const foreignAuthorizerPauseMs = 10_000;

function report(cluster: Cluster, generation: number, replica = 0): Promise<RejectionAnswer> {
  const { rejections } = cluster.at(replica).replica;
  return rejections.reject({ merchant: 'shop', generation, waitMs: 7_000, signal: neverAborted });
}

/** An answer may also be a rejected promise: either way, it is looked at after time has passed. */
async function after<Answer>(cluster: Cluster, answer: Promise<Answer>, ms = 1_000): Promise<Answer> {
  const settled = Promise.allSettled([answer]);
  await cluster.clock.advance(ms);
  await settled;
  return answer;
}

async function running(options: ConstructorParameters<typeof Cluster>[0] = {}): Promise<Cluster> {
  const cluster = new Cluster(options);
  await cluster.clock.advance(MINUTE);
  return cluster;
}

const generationOf = (answer: RejectionAnswer): number => ('session' in answer ? answer.session.generation : 0);

describe('a rejected session', () => {
  it('costs one create call when a thousand report it at once, and all get the same newer one', async () => {
    const cluster = await running({ latencyMs: 300 });
    const dead = cluster.session().generation;
    const answers = await after(cluster, Promise.all(Array.from({ length: 1_000 }, () => report(cluster, dead))));
    expect(cluster.gateway.calls).toHaveLength(2);
    expect(new Set(answers.map(generationOf))).toEqual(new Set([cluster.session().generation]));
    expect(cluster.session().generation).toBeGreaterThan(dead);
  });

  it('costs one create call when it is reported to every replica at once', async () => {
    const cluster = await running({ replicas: 10, latencyMs: 300 });
    const dead = cluster.session().generation;
    const reports = Array.from({ length: 1_000 }, (_, index) => report(cluster, dead, index % 10));
    const answers = await after(cluster, Promise.all(reports));
    expect(cluster.gateway.calls).toHaveLength(2);
    expect(new Set(answers.map(generationOf)).size).toBe(1);
    expect(Math.min(...answers.map(generationOf))).toBeGreaterThan(dead);
  });

  it('that has been replaced already is answered from memory, without a claim', async () => {
    const cluster = await running();
    const old = cluster.session().generation;
    await after(cluster, report(cluster, old));
    const claims = cluster.first.events.of('lease_granted').length;
    const late = await report(cluster, old);
    expect(late).toEqual({ kind: 'already_newer', session: cluster.session() });
    expect(cluster.first.events.of('lease_granted')).toHaveLength(claims);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('joins the scheduled renewal that is under way', async () => {
    const cluster = await running({ latencyMs: 2_000 });
    const dead = cluster.session().generation;
    await cluster.clock.advance(11 * MINUTE - 10_000);
    while (!cluster.first.replica.isRenewing('shop')) await cluster.clock.advance(500);
    const answer = await after(cluster, report(cluster, dead), 3_000);
    expect(generationOf(answer)).toBeGreaterThan(dead);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('is replaced once per cool-down, however often the newer one is rejected as well', async () => {
    const cluster = await running({ latencyMs: 10, settings: { foreignAuthorizerPauseMs } });
    let answered = 0;
    for (let second = 0; second < 60; second += 1) {
      const answer = await after(cluster, report(cluster, cluster.session().generation));
      if (answer.kind !== 'cooled_down') answered += 1;
      else expect(answer.retryInMs).toBeLessThanOrEqual(10_000);
    }
    expect(answered).toBe(6);
    expect(cluster.gateway.calls).toHaveLength(1 + answered);
  });

  it('never comes back as the newer one', async () => {
    const cluster = await running({ latencyMs: 10 });
    const first = cluster.session().generation;
    const second = generationOf(await after(cluster, report(cluster, first)));
    const answer = await after(cluster, report(cluster, second));
    expect(answer).toMatchObject({ kind: 'cooled_down', retryInMs: expect.any(Number) });
  });

  it('does not clear a back-off', async () => {
    const cluster = await running({ latencyMs: 10 });
    const dead = cluster.session().generation;
    cluster.gateway.answerAlways({ kind: 'refused', detail: 'no such merchant' });
    await expect(after(cluster, report(cluster, dead))).rejects.toMatchObject({ code: 'session_unavailable' });
    const again = Promise.allSettled(Array.from({ length: 100 }, () => report(cluster, dead)));
    await cluster.clock.advance(30_000);
    for (const answer of await again) {
      expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'session_unavailable' } });
    }
    expect(cluster.gateway.calls).toHaveLength(2);
    expect(cluster.session().generation).toBe(dead);
  });

  it('does not clear the budget, and leaves the schedule a share of it', async () => {
    const settings = { foreignAuthorizerPauseMs, budget: [{ calls: 4, perMs: 10 * MINUTE }] };
    const cluster = await running({ latencyMs: 10, settings });
    for (let round = 0; round < 4; round += 1) {
      await Promise.allSettled([after(cluster, report(cluster, cluster.session().generation))]);
      await cluster.clock.advance(15_000);
    }
    expect(cluster.gateway.calls).toHaveLength(3);
    const refused = after(cluster, report(cluster, cluster.session().generation));
    await expect(refused).rejects.toMatchObject({ code: 'session_unavailable', retryAfterMs: expect.any(Number) });
  });

  it('that has expired is replaced without regard to the cool-down', async () => {
    const cluster = new Cluster({ lifetimeMs: 5_000, latencyMs: 10, settings: { gatewayTimeoutMs: 100 } });
    await cluster.clock.advance(1_000);
    const second = generationOf(await after(cluster, report(cluster, cluster.session().generation), 100));
    cluster.clock.freeze(6_000);
    const third = await after(cluster, report(cluster, second), 100);
    expect(third).toMatchObject({ kind: 'renewed' });
    expect(cluster.first.events.of('renewal_finished').at(-1)?.trigger).toBe('rejection');
  });

  it('is answered in time when the gateway is not', async () => {
    const cluster = await running({ settings: { gatewayTimeoutMs: 60_000 } });
    cluster.gateway.latencyMs = 60_000;
    const answer = after(cluster, report(cluster, cluster.session().generation), 7_000);
    await expect(answer).rejects.toMatchObject({ code: 'session_unavailable' });
  });
});

describe('a rejection of a generation that never existed', () => {
  it.each([Number.MAX_SAFE_INTEGER, 9e15, 4_000_000_000_000])('%d creates nothing', async (generation) => {
    const cluster = await running();
    const refused = Promise.allSettled(Array.from({ length: 100 }, () => report(cluster, generation)));
    await cluster.clock.advance(10_000);
    for (const answer of await refused) expect(answer).toMatchObject({ reason: { code: 'invalid_request' } });
    expect(cluster.gateway.calls).toHaveLength(1);
    expect(cluster.first.events.of('session_rejected')).toEqual([]);
  });

  it('gets the session that there is when it is below all that existed', async () => {
    const cluster = await running();
    expect(await report(cluster, 1)).toEqual({ kind: 'already_newer', session: cluster.session() });
  });

  it('costs one look at the store, however many ask', async () => {
    let reads = 0;
    const wrapStore = (store: SessionStore): SessionStore => {
      const read = store.read.bind(store);
      store.read = (merchants) => {
        reads += 1;
        return read(merchants);
      };
      return store;
    };
    const cluster = await running({ wrapStore });
    const before = reads;
    await Promise.allSettled(Array.from({ length: 100 }, () => report(cluster, 9e15)));
    expect(reads - before).toBe(1);
  });
});

describe('a rejection while the store does not answer', () => {
  const cut = (cluster: Cluster): void => cluster.stores.forEach((store) => (store.down = true));

  it('is refused where replicas must not authorize alone', async () => {
    const cluster = await running();
    cut(cluster);
    const refused = after(cluster, report(cluster, cluster.session().generation));
    await expect(refused).rejects.toMatchObject({ code: 'session_unavailable' });
    expect(cluster.gateway.calls).toHaveLength(1);
  });

  it('is answered by a session of the replica itself where they may, with one call for all', async () => {
    const cluster = await running({ settings: { onStoreOutage: 'authorize' }, latencyMs: 200 });
    cut(cluster);
    await cluster.clock.advance(8_000);
    const dead = cluster.session().generation;
    const answers = await after(cluster, Promise.all(Array.from({ length: 100 }, () => report(cluster, dead))));
    expect(Math.min(...answers.map(generationOf))).toBeGreaterThan(dead);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('does not judge a generation that only the store could know', async () => {
    const cluster = await running();
    cut(cluster);
    await expect(after(cluster, report(cluster, 9e15))).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});

describe('a renewal before its time that was given up', () => {
  it('is taken over by another replica at once, although the session has long to go', async () => {
    const cluster = await running({ replicas: 2, latencyMs: 4_000 });
    const dead = cluster.session().generation;
    const reported = Promise.allSettled([report(cluster, dead)]);
    await cluster.clock.advance(100);
    const stopped = cluster.first.stop(500);
    await cluster.clock.advance(8_000);
    await stopped;
    await reported;
    expect(cluster.session(1).generation).toBeGreaterThan(dead);
    expect(cluster.gateway.calls).toHaveLength(3);
  });

  it('or has failed, is tried again when its back-off is over, by any replica that is there', async () => {
    const cluster = await running({ replicas: 2, latencyMs: 10 });
    const dead = cluster.session().generation;
    cluster.gateway.answerNext({ kind: 'transient', detail: 'busy' });
    const reported = Promise.allSettled([report(cluster, dead)]);
    await cluster.clock.advance(100);
    await cluster.first.stop();
    await reported;
    await cluster.clock.advance(4_000);
    expect(cluster.session(1).generation).toBeGreaterThan(dead);
    expect(cluster.gateway.calls).toHaveLength(3);
  });
});

describe('what is reported about a rejection', () => {
  it('names its result, and the first report of a generation apart from its echoes', async () => {
    const cluster = await running({ latencyMs: 10 });
    const dead = cluster.session().generation;
    const { rejections } = cluster.first.replica;
    const told = { merchant: 'shop', generation: dead, waitMs: 1_000, signal: neverAborted };
    await after(cluster, rejections.reject({ ...told, reason: 'b_expired_token', consumer: 'checkout' }));
    await rejections.reject(told);
    expect(cluster.first.events.of('session_rejected')).toEqual([
      {
        event: 'session_rejected',
        merchant: 'shop',
        generation: dead,
        result: 'renewed',
        isFirst: true,
        reason: 'b_expired_token',
        consumer: 'checkout',
      },
      { event: 'session_rejected', merchant: 'shop', generation: dead, result: 'already_newer', isFirst: false },
    ]);
    expect(cluster.first.events.of('renewal_finished').at(-1)?.trigger).toBe('rejection');
  });

  it('leaves no timer and no listener behind', async () => {
    const cluster = await running({ latencyMs: 300 });
    const dead = cluster.session().generation;
    await after(cluster, Promise.all(Array.from({ length: 20 }, () => report(cluster, dead))));
    await cluster.first.stop();
    expect(cluster.clock.pendingTasks).toBe(0);
  });
});
