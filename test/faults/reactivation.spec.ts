import { aServerPublicKey } from '#libs/testing';
import { Cluster } from './cluster.js';

const MINUTE = 60_000;

/** What the bank may answer after it has restored access: nothing need be as it was. */
const restored = {
  authToken: '00000000-0000-4000-8000-0000000000aa',
  deviceId: '22222222-0000-4000-8000-000000000000',
  refreshToken: '33333333-0000-4000-8000-000000000000',
  serverPublic: { ...aServerPublicKey(), x: aServerPublicKey().y, y: aServerPublicKey().x },
};

describe('an access that the bank has restored', () => {
  it('brings new parameters, all of which every replica takes over, and a replica that starts later as well', async () => {
    const cluster = new Cluster({ replicas: 3, latencyMs: 10 });
    cluster.gateway.answerNext({ refreshToken: '44444444-0000-4000-8000-000000000000' });
    await cluster.clock.advance(MINUTE);
    const before = cluster.session();
    cluster.gateway.answerAlways({ kind: 'revoked', detail: 'revoked', msgCode: 'b_auth_token_expired' });
    await cluster.clock.advance(20 * MINUTE);
    expect(cluster.first.replica.failures.get('shop')).toMatchObject({
      kind: 'revoked',
      msgCode: 'b_auth_token_expired',
    });
    cluster.gateway.answerAlways(restored);
    await cluster.clock.advance(6 * MINUTE);
    cluster.addReplica();
    await cluster.clock.advance(5_000);
    for (const replica of [0, 1, 2, 3]) {
      expect(cluster.session(replica)).toMatchObject(restored);
      expect(cluster.session(replica).generation).toBeGreaterThan(before.generation);
    }
    const adopted = cluster.replicas.flatMap(({ events }) => events.of('session_adopted').slice(-1));
    expect(adopted.slice(0, 3).map(({ serverKeyChanged }) => serverKeyChanged)).toEqual([true, true, true]);
  });

  it('without a refreshToken leaves no replica with the one that was there before', async () => {
    const cluster = new Cluster({ replicas: 2, latencyMs: 10 });
    cluster.gateway.answerNext({ refreshToken: '44444444-0000-4000-8000-000000000000' });
    await cluster.clock.advance(MINUTE);
    expect(cluster.session().refreshToken).toBeDefined();
    await cluster.clock.advance(15 * MINUTE);
    for (const replica of [0, 1]) expect(cluster.session(replica)).not.toHaveProperty('refreshToken');
  });
});
