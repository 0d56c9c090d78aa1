import { told } from '#libs/causes';
import { BrokerError } from '#libs/errors';
import type { GatewayFailureFacts, SessionSettings } from '#libs/session';
import { altered, withoutKey } from './altered-store.js';
import { Cluster, type ClusterOptions, HOUR, MINUTE, neverAborted, SECOND } from './cluster.js';

/** Sessions of a quarter of an hour are renewed after twelve minutes: the third call of the hour is refused. */
const settings = { budget: [{ calls: 2, perMs: HOUR }] };
const DUE_MS = 23 * MINUTE;
const SPENT = {
  code: 'budget_exhausted',
  spent: { window: { calls: 2, perMs: HOUR }, freeAt: expect.any(Number) },
};

async function wished(cluster: Cluster, index = 0): Promise<unknown> {
  const wish = { merchant: 'shop', waitMs: SECOND, signal: neverAborted };
  const answer = cluster
    .at(index)
    .replica.wishes.renew(wish)
    .catch((error: unknown) => error);
  await cluster.clock.advance(2 * SECOND);
  return answer;
}

describe('a renewal that is due while the create-call budget is spent', () => {
  it('is told with what is spent and the next attempt, at every replica', async () => {
    const cluster = new Cluster({ replicas: 2, settings });
    await cluster.clock.advance(DUE_MS + MINUTE);
    for (const { replica } of cluster.replicas) {
      expect(replica.conditionOf('shop')).toBe('failing');
      expect(replica.causeFor('shop')).toEqual({ ...SPENT, effect: 'not_renewed' });
      expect(replica.retryInMs('shop')).toBeGreaterThan(35 * MINUTE);
    }
  });

  it('is told before it is due, as soon as no call is free before the session ends', async () => {
    const cluster = await Cluster.running({ settings });
    await wished(cluster);
    const { replica } = cluster.first;
    await cluster.clock.advance(MINUTE);
    expect(replica.conditionOf('shop')).toBe('failing');
    expect(replica.causeFor('shop')).toEqual({ ...SPENT, effect: 'not_renewed' });
    expect(replica.retryInMs('shop')).toBeGreaterThan(57 * MINUTE);
  });

  it('names that moment to who reads when the session has ended, too', async () => {
    const cluster = new Cluster({ settings });
    await cluster.clock.advance(30 * MINUTE);
    const wish = { merchant: 'shop', minRemainingMs: 0, waitMs: SECOND, waitsThroughFailure: false };
    const read = cluster.first.replica.wishes.read({ ...wish, signal: neverAborted });
    const answer = read.catch((error: unknown) => error);
    await cluster.clock.advance(2 * SECOND);
    expect(await answer).toMatchObject({
      reason: 'budget_exhausted',
      because: { ...SPENT, effect: 'payments_fail' },
      retryAfterMs: expect.any(Number),
    });
  });
});

describe('a renewal that a person wants while the create-call budget is spent', () => {
  it.each([1, 2])(
    'is refused with what is spent and when the next call is free, with %d replicas',
    async (replicas) => {
      const cluster = await Cluster.running({ replicas, lifetimeMs: 2 * HOUR, settings });
      const startedAt = cluster.now() - MINUTE;
      await wished(cluster);
      await cluster.clock.advance(MINUTE);
      const refused = await wished(cluster);
      expect(refused).toMatchObject({
        reason: 'budget_exhausted',
        because: { ...SPENT, effect: 'no_call' },
      });
      expect(cluster.first.replica.conditionOf('shop')).toBe('fresh');
      const { retryAfterMs = 0 } = refused as { readonly retryAfterMs?: number };
      expect(cluster.now() - 2 * SECOND + retryAfterMs).toBeLessThanOrEqual(startedAt + HOUR);
      expect(retryAfterMs).toBeGreaterThan(57 * MINUTE);
    },
  );
});

/** Replicas that hold one session, whose consumers all report to the first. */
const reportedToOne = (): Promise<Cluster> =>
  Cluster.running({ replicas: 2, latencyMs: 10, lifetimeMs: 12 * HOUR, settings });

/** @returns the answer, or what refuses one */
async function report(cluster: Cluster): Promise<unknown> {
  const { generation } = cluster.session();
  const dead = { merchant: 'shop', generation, reason: 'b_used_token', waitMs: 500, signal: neverAborted };
  const answer = cluster.first.replica.wishes.reject(dead).catch((error: unknown) => error);
  await cluster.clock.advance(SECOND);
  return answer;
}

describe('a session that is reported dead to one replica, and cannot be replaced', () => {
  it('is reported dead on every replica until a newer one is held, and the one that was told says why', async () => {
    const cluster = await reportedToOne();
    const effect = 'reported_dead';
    const because = { code: 'budget_exhausted', effect };
    expect(await report(cluster)).toMatchObject({ reason: 'budget_exhausted', because });
    expect(cluster.conditions).toEqual(['dead', 'dead']);
    expect(cluster.causes).toEqual([because, { code: 'not_replaced', effect }]);
    await cluster.clock.advance(HOUR);
    await report(cluster);
    expect(cluster.conditions).toEqual(['fresh', 'fresh']);
    expect(cluster.causes).toEqual([undefined, undefined]);
  });

  it('is known although the announcement was lost: whoever looks at the store the next time reads it', async () => {
    const cluster = await reportedToOne();
    const [, other] = cluster.stores;
    if (other !== undefined) other.losesAnnouncements = true;
    await report(cluster);
    await cluster.clock.advance(MINUTE);
    expect(cluster.conditions).toEqual(['dead', 'dead']);
  });

  it('is told to a store that has lost everything, by any replica that knows', async () => {
    const cluster = await reportedToOne();
    await report(cluster);
    await cluster.first.stop();
    cluster.emptyStore();
    await cluster.clock.advance(MINUTE);
    cluster.addReplica();
    await cluster.clock.advance(5 * SECOND);
    expect(cluster.conditions.slice(1)).toEqual(['dead', 'dead']);
  });
});

describe('a session that is reported dead while the store is full', () => {
  it('is told with that reason on every replica, and costs no call', async () => {
    const full = new BrokerError('store_refused', { detail: 'claim: OOM' });
    let isFull = false;
    // What tells of a death is written all the same.
    const wrapStore = altered('claim', (store) => (claim) => (isFull ? Promise.reject(full) : store.claim(claim)));
    const cluster = await Cluster.running({ replicas: 2, latencyMs: 10, wrapStore });
    isFull = true;
    expect(await report(cluster)).toMatchObject({ reason: 'store_refuses' });
    // Each replica's own check of the store finds it out.
    for (const { replica } of cluster.replicas) replica.storeRefuses();
    expect(cluster.conditions).toEqual(['dead', 'dead']);
    const because = { code: 'store_refuses', effect: 'reported_dead' };
    expect(cluster.causes).toEqual([because, because]);
    expect(cluster.gateway.calls).toHaveLength(1);
  });
});

const unopened: GatewayFailureFacts = { kind: 'invalid_response', detail: 'not opened', lostSession: true };
const away: GatewayFailureFacts = { kind: 'transient', detail: 'away', msgCode: 'b_server_is_overloaded' };

/** Replicas whose first renewal yields a session that none of them can open. */
const losing = (options: ClusterOptions = {}): Promise<Cluster> =>
  Cluster.running({ replicas: 2, latencyMs: 10, lifetimeMs: HOUR, ...options });

async function renewalFails(cluster: Cluster, failure: GatewayFailureFacts): Promise<void> {
  cluster.gateway.answerAlways(failure);
  const { length } = cluster.gateway.calls;
  while (cluster.gateway.calls.length === length) await cluster.clock.advance(SECOND);
  await cluster.clock.advance(SECOND);
}

describe('a session of the bank that cannot be used here', () => {
  it('is told on every replica as what has most likely ended ours, whatever ends the next calls', async () => {
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
  });

  it('is made good by the next session', async () => {
    const cluster = await losing();
    await renewalFails(cluster, unopened);
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
});

/** Two replicas; while `lacksKey`, the second lacks the key that the bank seals to. */
class Behind {
  readonly cluster: Cluster;
  lacksKey = false;

  private constructor(settings: Partial<SessionSettings>) {
    this.cluster = new Cluster({
      ...{ replicas: 2, latencyMs: 10, lifetimeMs: HOUR, settings },
      wrapStore: withoutKey((replica) => replica === 1 && this.lacksKey),
    });
  }

  static async running(settings: Partial<SessionSettings> = {}): Promise<Behind> {
    const behind = new Behind(settings);
    await behind.cluster.clock.advance(MINUTE);
    behind.lacksKey = true;
    await behind.renewed();
    return behind;
  }

  /** On request, at the first one. */
  async renewed(): Promise<void> {
    const before = this.cluster.session(0).generation;
    await this.cluster.clock.advance(MINUTE);
    const wish = { merchant: 'shop', waitMs: SECOND, signal: neverAborted };
    const renewed = this.cluster.first.replica.wishes.renew(wish);
    await this.cluster.clock.advance(5 * SECOND);
    await renewed;
    if (this.cluster.session(0).generation === before) throw new Error('there is no newer session');
  }
}

describe('a newer session that one replica cannot open', () => {
  it('is told by that one as what has most likely ended the session that it serves on', async () => {
    const { cluster } = await Behind.running();
    const { generation } = cluster.session(0);
    expect(cluster.session(1).generation).toBeLessThan(generation);
    expect(cluster.conditions).toEqual(['fresh', 'dead']);
    expect(cluster.causes).toEqual([undefined, { code: 'unopened', generation, effect: 'payments_fail' }]);
  });

  it('is told no more once it opens, or once a newer one comes that does', async () => {
    for (const mend of [
      (behind: Behind) => behind.cluster.at(1).replica.merchantsChanged({ added: [], removed: [], changed: ['shop'] }),
      (behind: Behind) => behind.renewed(),
    ]) {
      const behind = await Behind.running();
      behind.lacksKey = false;
      await mend(behind);
      await behind.cluster.clock.advance(5 * SECOND);
      expect(behind.cluster.conditions).toEqual(['fresh', 'fresh']);
      expect(behind.cluster.causes).toEqual([undefined, undefined]);
    }
  });
});

describe('an answer that does not open for a replica with another key', () => {
  it('is told by the others as asked for with a key that is not theirs, which sends nobody to the bank', async () => {
    const keys = ['9e07re6s', 'Kylkplo7'].map((start) => start.padEnd(43, 'k'));
    const cluster = new Cluster({ replicas: 2, lifetimeMs: HOUR, newestKeys: keys });
    await cluster.clock.advance(MINUTE);
    const [, thumbprint = ''] = keys;
    cluster.gateway.answerAlways({ kind: 'invalid_response', detail: 'not opened', lostSession: true, thumbprint });
    const wish = cluster.at(1).replica.wishes.renew({ merchant: 'shop', waitMs: SECOND, signal: neverAborted });
    const refused = expect(wish).rejects.toMatchObject({ code: 'session_unavailable' });
    await cluster.clock.advance(2 * SECOND);
    await refused;
    const texts = cluster.replicas.map(({ replica }) => {
      const cause = replica.causeFor('shop');
      return cause && told(cause, 'shop').text;
    });
    expect(texts).toEqual([
      'Payments fail: another replica asked the bank with another key (Kylkplo7…) than our newest (9e07re6s…)',
      "Payments fail: the bank's new session opens with none of our keys",
    ]);
  });
});
