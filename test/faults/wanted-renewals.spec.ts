import { msBetween } from '#libs/clock';
import type { WantedRenewalAnswer } from '#libs/session';
import { Cluster, MINUTE, neverAborted } from './cluster.js';

const refusal = { kind: 'refused', detail: 'no such merchant', msgCode: 'b_merchant_not_found' } as const;

type Outcome = PromiseSettledResult<WantedRenewalAnswer>;

function wished(cluster: Cluster, ...replicas: readonly number[]): Promise<readonly Outcome[]> {
  return Promise.allSettled(
    replicas.map((index) =>
      cluster.at(index).replica.wishes.renew({ merchant: 'shop', waitMs: 7_000, signal: neverAborted }),
    ),
  );
}

/** What comes, within two seconds, of a renewal that is requested from each of these replicas at once. */
async function wanted(cluster: Cluster, ...replicas: readonly number[]): Promise<readonly Outcome[]> {
  const answers = wished(cluster, ...replicas);
  await cluster.clock.advance(2_000);
  return answers;
}

const answered = (kind: WantedRenewalAnswer['kind'], generation: number): unknown => ({
  status: 'fulfilled',
  value: expect.objectContaining({ kind, session: expect.objectContaining({ generation }) }),
});
const unavailable = (reason: string): unknown => ({
  status: 'rejected',
  reason: expect.objectContaining({ code: 'session_unavailable', reason }),
});

describe('a renewal that a person wants', () => {
  it('costs one create call, whatever back-off ran, when every replica is asked at once, and all answer with the same session', async () => {
    const cluster = await Cluster.running({ replicas: 3, latencyMs: 300 });
    cluster.gateway.answerAlways(refusal);
    await cluster.clock.advance(30 * MINUTE);
    expect(cluster.served()).toEqual([undefined, undefined, undefined]);
    cluster.gateway.answerAlways(undefined);
    const calls = cluster.gateway.calls.length;
    const answers = await wanted(cluster, 0, 0, 1, 1, 2, 2);
    expect(answers).toEqual(answers.map(() => answered('renewed', cluster.session().generation)));
    expect(cluster.gateway.calls).toHaveLength(calls + 1);
    const renewals = cluster.replicas.flatMap(({ events }) => events.of('renewal_finished'));
    expect(renewals).toContainEqual(expect.objectContaining({ trigger: 'operator', outcome: 'success' }));
  });

  it('replaces a session that is good, and one that was created within ten seconds is answered instead', async () => {
    const cluster = await Cluster.running({ replicas: 2, latencyMs: 10 });
    const first = cluster.session().generation;
    const [answer] = await wanted(cluster, 0);
    const { generation } = cluster.session();
    expect(generation).toBeGreaterThan(first);
    expect(answer).toEqual(answered('renewed', generation));
    const { createdAt } = cluster.session();
    const retryInMs = 10_000 - msBetween(createdAt, cluster.now());
    const again = await wanted(cluster, 0, 1);
    expect(again).toEqual([answered('just_renewed', generation), answered('just_renewed', generation)]);
    expect(retryInMs).toBeLessThan(10_000);
    for (const one of again) expect(one).toMatchObject({ value: { retryInMs } });
    await cluster.clock.advance(10_000);
    await wanted(cluster, 1);
    expect(cluster.session().generation).toBeGreaterThan(generation);
    expect(cluster.gateway.calls).toHaveLength(3);
  });

  it('costs one create call when it is refused as well, however many replicas are asked', async () => {
    const cluster = await Cluster.running({ replicas: 3, latencyMs: 300 });
    cluster.gateway.answerAlways(refusal);
    expect(await wanted(cluster, 0, 1, 2)).toEqual([
      unavailable('refused'),
      unavailable('refused'),
      unavailable('refused'),
    ]);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('leaves the back-off after a further refusal as it would have been', async () => {
    const cluster = await Cluster.running({ latencyMs: 10 });
    cluster.gateway.answerAlways(refusal);
    await wanted(cluster, 0);
    await cluster.clock.advance(4 * MINUTE);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('follows with a call of its own when the attempt that it joined fails', async () => {
    const cluster = await Cluster.running({ latencyMs: 1_000 });
    cluster.gateway.answerAlways(refusal);
    while (!cluster.first.replica.isRenewing('shop')) await cluster.clock.advance(500);
    cluster.gateway.answerAlways(undefined);
    cluster.gateway.answerNext(refusal);
    expect(await wanted(cluster, 0)).toEqual([answered('renewed', cluster.session().generation)]);
  });

  it('leaves what is served alone while the store does not answer, and says why', async () => {
    const cluster = await Cluster.running({ latencyMs: 10 });
    cluster.stores.forEach((store) => (store.down = true));
    await cluster.clock.advance(MINUTE);
    expect(await wanted(cluster, 0)).toEqual([unavailable('store_silent')]);
    expect(cluster.gateway.calls).toHaveLength(1);
  });

  it('is answered in time when the gateway is not', async () => {
    const cluster = await Cluster.running({ settings: { gatewayTimeoutMs: 60_000 } });
    cluster.gateway.latencyMs = 60_000;
    const answer = Promise.allSettled([
      cluster.first.replica.wishes.renew({ merchant: 'shop', waitMs: 7_000, signal: neverAborted }),
    ]);
    await cluster.clock.advance(7_000);
    expect(await answer).toEqual([unavailable('renewing')]);
    expect(cluster.first.replica.isRenewing('shop')).toBe(true);
  });
});
