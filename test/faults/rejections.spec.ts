import { BrokerError } from '#libs/errors';
import type { RejectionAnswer } from '#libs/session';
import { altered } from './altered-store.js';
import { Cluster, neverAborted } from './cluster.js';
import type { FaultyStore } from './faulty-store.js';

function report(cluster: Cluster, generation: number, replica = 0): Promise<RejectionAnswer> {
  const { wishes } = cluster.at(replica).replica;
  return wishes.reject({
    merchant: 'shop',
    generation,
    reason: 'b_used_token',
    waitMs: 7_000,
    signal: neverAborted,
  });
}

/** An answer may also be a rejected promise: either way, it is looked at after time has passed. */
async function after<Answer>(cluster: Cluster, answer: Promise<Answer>, ms = 1_000): Promise<Answer> {
  const settled = Promise.allSettled([answer]);
  await cluster.clock.advance(ms);
  await settled;
  return answer;
}

const generationOf = (answer: RejectionAnswer): number => ('session' in answer ? answer.session.generation : 0);

const REFUSED = { kind: 'refused', detail: 'no such merchant', msgCode: 'b_merchant_not_found' } as const;

describe('a rejected session', () => {
  it('costs one create call when it is reported to every replica at once', async () => {
    const cluster = await Cluster.running({ replicas: 10, latencyMs: 300 });
    const dead = cluster.session().generation;
    const reports = Array.from({ length: 1_000 }, (_, index) => report(cluster, dead, index % 10));
    const answers = await after(cluster, Promise.all(reports));
    expect(cluster.gateway.calls).toHaveLength(2);
    expect(new Set(answers.map(generationOf)).size).toBe(1);
    expect(Math.min(...answers.map(generationOf))).toBeGreaterThan(dead);
  });

  it('is told of with what the consumer said, and as the first of its generation', async () => {
    const cluster = await Cluster.running();
    const { generation } = cluster.session();
    const { wishes } = cluster.first.replica;
    const named = { merchant: 'shop', generation, reason: 'b_used_token', consumer: 'checkout' };
    await after(cluster, wishes.reject({ ...named, waitMs: 7_000, signal: neverAborted }));
    const anonymous = { merchant: 'shop', generation, waitMs: 7_000, signal: neverAborted };
    await after(cluster, wishes.reject(anonymous));
    const told = { event: 'session_rejected', merchant: 'shop', generation };
    expect(cluster.first.events.of('session_rejected')).toEqual([
      { ...told, reason: 'b_used_token', consumer: 'checkout', result: 'renewed', isFirst: true },
      { ...told, result: 'already_newer', isFirst: false },
    ]);
  });

  it('is replaced by what another replica has made meanwhile, once the store has been read', async () => {
    const cluster = await Cluster.running({ replicas: 2 });
    const [, store] = cluster.stores as [FaultyStore, FaultyStore];
    const dead = cluster.session().generation;
    store.losesAnnouncements = true;
    await after(cluster, report(cluster, dead), 100);
    const release = store.holdNextAnswerOf('read');
    const answer = await after(cluster, report(cluster, dead, 1));
    release();
    expect(answer).toMatchObject({ kind: 'renewed', session: { generation: cluster.session().generation } });
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('is not replaced by it while the store does not say what it has, and is asked about again in a second', async () => {
    let isSilent = false;
    const silent = new BrokerError('store_unavailable');
    const wrapStore = altered('read', (store) => (known) => (isSilent ? Promise.reject(silent) : store.read(known)));
    const cluster = await Cluster.running({ replicas: 2, wrapStore });
    const [, store] = cluster.stores as [FaultyStore, FaultyStore];
    const dead = cluster.session().generation;
    store.losesAnnouncements = true;
    await after(cluster, report(cluster, dead), 100);
    isSilent = true;
    const answer = after(cluster, report(cluster, dead, 1), 10);
    await expect(answer).rejects.toMatchObject({ reason: 'store_silent', retryAfterMs: 1_000 });
  });

  it('does not clear a back-off', async () => {
    const cluster = await Cluster.running({ latencyMs: 10 });
    const dead = cluster.session().generation;
    cluster.gateway.answerAlways({ kind: 'refused', detail: 'no such merchant' });
    await expect(after(cluster, report(cluster, dead))).rejects.toMatchObject({ code: 'session_unavailable' });
    const again = Promise.allSettled(Array.from({ length: 100 }, () => report(cluster, dead)));
    await cluster.clock.advance(30_000);
    for (const answer of await again) {
      expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'session_unavailable' } });
    }
    // The first refusals are repeated after 2, 5 and 15 seconds, however many ask.
    expect(cluster.gateway.calls).toHaveLength(2 + 3);
    expect(cluster.session().generation).toBe(dead);
  });
});

describe('a session that is being replaced because it is dead', () => {
  it('is given to nobody who waits, on the replica that knows, until the newer one is there', async () => {
    const cluster = await Cluster.running({ latencyMs: 3_000 });
    const dead = cluster.session().generation;
    const reported = report(cluster, dead);
    await cluster.clock.advance(1_000);
    const wish = { merchant: 'shop', minRemainingMs: 0, waitMs: 10_000, signal: neverAborted };
    const { wishes } = cluster.first.replica;
    const [waiting, plain] = [true, false].map((waitsThroughFailure) => wishes.read({ ...wish, waitsThroughFailure }));
    await cluster.clock.advance(5_000);
    await reported;
    expect((await plain)?.session.generation).toBe(dead);
    expect((await waiting)?.session.generation).toBeGreaterThan(dead);
  });
});

describe('one refusal of the bank while the session is dead', () => {
  it.each([
    [1, 5_000],
    [3, 30_000],
  ])('takes a merchant out for seconds, and a few more for some minutes: %d for %d ms', async (refusals, withinMs) => {
    const cluster = await Cluster.running({ replicas: 3, latencyMs: 10 });
    const dead = cluster.session().generation;
    cluster.gateway.revoke('shop');
    cluster.gateway.answerNext(...Array.from({ length: refusals }, () => REFUSED));
    const reported = Promise.allSettled([report(cluster, dead)]);
    await cluster.clock.advance(withinMs);
    await reported;
    expect(cluster.served().map((served) => (served?.session.generation ?? 0) > dead)).not.toContain(false);
    expect(cluster.gateway.calls).toHaveLength(2 + refusals);
  });
});

describe('a renewal before its time that was given up', () => {
  it('is taken over by another replica at once, although the session has long to go', async () => {
    const cluster = await Cluster.running({ replicas: 2, latencyMs: 4_000 });
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
    const cluster = await Cluster.running({ replicas: 2, latencyMs: 10 });
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

describe('a generation that nobody here knows', () => {
  it('was never issued where the store has none: a report gets the session there is, and costs no call', async () => {
    const cluster = await Cluster.running();
    const { generation } = cluster.session();
    expect(await after(cluster, report(cluster, generation + 1))).toMatchObject({
      kind: 'already_newer',
      session: { generation },
    });
    expect(cluster.gateway.calls).toHaveLength(1);
    const { wishes } = cluster.first.replica;
    expect(await after(cluster, wishes.generationHeld('shop', generation + 1))).toBe(0);
    expect(await wishes.generationHeld('shop', generation)).toBe(generation);
  });

  it('and was issued is as dead as any other: it is not given back', async () => {
    // With this chance, it is the second merchant that is looked at meanwhile.
    const cluster = await Cluster.running({ replicas: 2, merchants: ['shop', 'stall'] });
    const [, store] = cluster.stores as [FaultyStore, FaultyStore];
    store.losesAnnouncements = true;
    await after(cluster, report(cluster, cluster.session().generation), 20_000);
    const { generation } = cluster.session();
    expect(cluster.session(1).generation).toBeLessThan(generation);
    const answer = await after(cluster, report(cluster, generation, 1));
    // Of two that died early in a row, somebody else made the second.
    expect(answer).toMatchObject({ kind: 'cooled_down', because: 'foreign_authorizer' });
  });

  it('may have been issued before a replica that knows of none at all began', async () => {
    const cluster = new Cluster();
    const { wishes } = cluster.first.replica;
    expect(await after(cluster, wishes.generationHeld('nobody', 7))).toBe(7);
  });

  it('may have been issued while only the store could tell: it is believed, and a report is told so', async () => {
    const cluster = await Cluster.running();
    const { generation } = cluster.session();
    for (const store of cluster.stores) store.down = true;
    const { wishes } = cluster.first.replica;
    expect(await after(cluster, wishes.generationHeld('shop', generation + 1))).toBe(generation + 1);
    const reported = after(cluster, report(cluster, generation + 1));
    await expect(reported).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(cluster.gateway.calls).toHaveLength(1);
  });
});
