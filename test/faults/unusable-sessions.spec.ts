import { conditionOf, type GatewayFailureFacts, type SessionSettings, type SessionStore } from '#libs/session';
import { altered } from './altered-store.js';
import { Cluster, type ClusterOptions, neverAborted } from './cluster.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const unopened: GatewayFailureFacts = { kind: 'invalid_response', detail: 'not opened', lostSession: true };
const away: GatewayFailureFacts = { kind: 'transient', detail: 'away', msgCode: 'b_server_is_overloaded' };
const LOST = /^the bank has made a session that we cannot use, and it ends ours; /;

/** Replicas whose first renewal yields a session that none of them can open. */
class Lost {
  readonly cluster: Cluster;

  private constructor(options: ClusterOptions) {
    this.cluster = new Cluster({ replicas: 2, latencyMs: 10, lifetimeMs: HOUR, ...options });
  }

  static async running(options: ClusterOptions = {}): Promise<Lost> {
    const lost = new Lost(options);
    await lost.cluster.clock.advance(MINUTE);
    return lost;
  }

  get conditions(): readonly string[] {
    return this.cluster.replicas.map(({ replica }) => conditionOf(replica, 'shop'));
  }

  get causes(): readonly (string | undefined)[] {
    return this.cluster.replicas.map(({ replica }) => replica.causeFor('shop')?.text);
  }

  async renewalFails(failure: GatewayFailureFacts): Promise<void> {
    this.cluster.gateway.answerAlways(failure);
    const { length } = this.cluster.gateway.calls;
    while (this.cluster.gateway.calls.length === length) await this.cluster.clock.advance(SECOND);
    await this.cluster.clock.advance(SECOND);
  }
}

describe('a session of the bank that cannot be used here', () => {
  it('is told on every replica as what has most likely ended ours, whatever ends the next calls', async () => {
    const lost = await Lost.running();
    await lost.renewalFails(away);
    expect(lost.conditions).toEqual(['failing', 'failing']);
    await lost.renewalFails(unopened);
    expect(lost.conditions).toEqual(['likely_dead', 'likely_dead']);
    expect(lost.causes).toEqual([expect.stringMatching(LOST), expect.stringMatching(LOST)]);
    await lost.renewalFails(away);
    expect(lost.conditions).toEqual(['likely_dead', 'likely_dead']);
    expect(lost.causes[1]).toMatch(/ours; the bank reports a fault of its own: b_server_is_overloaded$/);
    expect(lost.cluster.served().map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh']);
  });

  it('is made good by the next session', async () => {
    const lost = await Lost.running();
    await lost.renewalFails(unopened);
    lost.cluster.gateway.answerAlways(undefined);
    await lost.cluster.clock.advance(2 * MINUTE);
    expect(lost.conditions).toEqual(['fresh', 'fresh']);
    expect(lost.causes).toEqual([undefined, undefined]);
  });

  it('is nothing to a merchant whose sessions live beside each other', async () => {
    const lost = await Lost.running({ settings: { supersedes: false } });
    await lost.renewalFails(unopened);
    expect(lost.conditions).toEqual(['failing', 'failing']);
    expect(lost.causes.filter((cause) => cause === undefined || LOST.test(cause))).toEqual([]);
  });
});

/** Two replicas; while `lacksKey`, the second lacks the key that the bank seals to. */
class Behind {
  readonly cluster: Cluster;
  lacksKey = false;

  private constructor(settings: Partial<SessionSettings>) {
    const wrapStore = (store: SessionStore, replica: number): SessionStore =>
      replica === 1 ? this.#withoutKey(store) : store;
    this.cluster = new Cluster({ replicas: 2, latencyMs: 10, lifetimeMs: HOUR, settings, wrapStore });
  }

  static async running(settings: Partial<SessionSettings> = {}): Promise<Behind> {
    const behind = new Behind(settings);
    await behind.cluster.clock.advance(MINUTE);
    behind.lacksKey = true;
    await behind.renewed();
    return behind;
  }

  get conditions(): readonly string[] {
    return this.cluster.replicas.map(({ replica }) => conditionOf(replica, 'shop'));
  }

  get causes(): readonly (object | undefined)[] {
    return this.cluster.replicas.map(({ replica }) => replica.causeFor('shop'));
  }

  /** On request, at the first one. */
  async renewed(): Promise<void> {
    const before = this.cluster.session(0).generation;
    await this.cluster.clock.advance(MINUTE);
    const wish = { merchant: 'shop', waitMs: SECOND, signal: neverAborted };
    const renewed = this.cluster.first.replica.wanted.renew(wish);
    await this.cluster.clock.advance(5 * SECOND);
    await renewed;
    if (this.cluster.session(0).generation === before) throw new Error('there is no newer session');
  }

  #withoutKey(store: SessionStore): SessionStore {
    return altered('read', (inner) => async (wanted) => {
      const read = await inner.read(wanted);
      if (!this.lacksKey) return read;
      const states = read.states.map((state) => {
        if (state.stored.kind !== 'session') return state;
        return { ...state, stored: { kind: 'unopenable', generation: state.stored.session.generation } as const };
      });
      return { ...read, states };
    })(store);
  }
}

describe('a newer session that one replica cannot open', () => {
  it('is told by that one as what has most likely ended the session that it serves on', async () => {
    const { cluster, conditions, causes } = await Behind.running();
    const { generation } = cluster.session(0);
    expect(cluster.session(1).generation).toBeLessThan(generation);
    expect(conditions).toEqual(['fresh', 'likely_dead']);
    const text = `a newer session (generation ${generation}) opens with none of the keys that this replica has: give it the key file of the others (clientKeyFiles), or stop it before its next attempt, which ends that session`;
    expect(causes).toEqual([undefined, { text, runbook: 'unopenable-records' }]);
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
      expect(behind.conditions).toEqual(['fresh', 'fresh']);
      expect(behind.causes).toEqual([undefined, undefined]);
    }
  });

  it('leaves the older one good where the sessions of a merchant live beside each other, and is told all the same', async () => {
    const { conditions, causes } = await Behind.running({ supersedes: false });
    expect(conditions).toEqual(['fresh', 'failing']);
    expect(causes[1]).toMatchObject({ runbook: 'unopenable-records' });
  });
});

/** The second replica has asked with its own key, and the first one has made up for the loss. */
async function mendedAfterOtherKey(
  settings: Partial<SessionSettings> = {},
): Promise<{ cluster: Cluster; conditions: () => readonly string[] }> {
  const newestKeys = ['9e07re6s', 'Kylkplo7'].map((start) => start.padEnd(43, 'k'));
  const [, thumbprint = ''] = newestKeys;
  const cluster = new Cluster({ replicas: 2, lifetimeMs: 3 * HOUR, latencyMs: 10, newestKeys, settings });
  await cluster.clock.advance(MINUTE);
  cluster.gateway.answerNext({ kind: 'invalid_response', detail: 'not opened', lostSession: true, thumbprint });
  const wish = cluster.at(1).replica.wanted.renew({ merchant: 'shop', waitMs: SECOND, signal: neverAborted });
  const refused = expect(wish).rejects.toMatchObject({ code: 'session_unavailable' });
  await cluster.clock.advance(2 * SECOND);
  await refused;
  const renewed = cluster.first.replica.wanted.renew({ merchant: 'shop', waitMs: SECOND, signal: neverAborted });
  await cluster.clock.advance(5 * SECOND);
  await renewed;
  return { cluster, conditions: () => cluster.replicas.map(({ replica }) => conditionOf(replica, 'shop')) };
}

describe('an answer that does not open for a replica with another key', () => {
  it('is told by the others as asked for with a key that is not theirs, which sends nobody to the bank', async () => {
    const keys = ['9e07re6s', 'Kylkplo7'].map((start) => start.padEnd(43, 'k'));
    const cluster = new Cluster({ replicas: 2, lifetimeMs: HOUR, newestKeys: keys });
    await cluster.clock.advance(MINUTE);
    const [, thumbprint = ''] = keys;
    cluster.gateway.answerAlways({ kind: 'invalid_response', detail: 'not opened', lostSession: true, thumbprint });
    const wish = cluster.at(1).replica.wanted.renew({ merchant: 'shop', waitMs: SECOND, signal: neverAborted });
    const refused = expect(wish).rejects.toMatchObject({ code: 'session_unavailable' });
    await cluster.clock.advance(2 * SECOND);
    await refused;
    const lost = 'the bank has made a session that we cannot use, and it ends ours';
    expect(cluster.replicas.map(({ replica }) => replica.causeFor('shop'))).toEqual([
      {
        text: `${lost}; the bank was asked with another key (Kylkplo7…) than the newest of this replica (9e07re6s…), and the answer did not open: give every replica the same key files (clientKeyFiles)`,
        runbook: 'unopenable-records',
      },
      { text: `${lost}; the answer is sealed to another key than ours, or damaged`, runbook: 'access-refused' },
    ]);
  });

  it('is told by them for an hour after the session that made it good, which the next such attempt ends, too', async () => {
    const { cluster, conditions } = await mendedAfterOtherKey();
    expect(conditions()).toEqual(['watched', 'fresh']);
    const [cause] = cluster.replicas.map(({ replica }) => replica.causeFor('shop'));
    expect(cause?.runbook).toBe('unopenable-records');
    expect(cause?.text).toMatch(
      /^payments failed at [\d:]+ UTC, when another replica asked the bank with another key \(Kylkplo7…\) than the newest of this replica \(9e07re6s…\), which ended our session; its next attempt ends this one, too: give every replica the same key files \(clientKeyFiles\); watched until [\d:]+ UTC$/,
    );
    await cluster.clock.advance(HOUR);
    expect(conditions()).toEqual(['fresh', 'fresh']);
    expect(cluster.first.replica.causeFor('shop')).toBeUndefined();
  });

  it('is over where the merchant is configured anew, and nothing where sessions live beside each other', async () => {
    const { cluster, conditions } = await mendedAfterOtherKey();
    await cluster.first.replica.merchantsChanged({ added: [], removed: [], changed: ['shop'] });
    expect(conditions()[0]).toBe('fresh');
    const beside = await mendedAfterOtherKey({ supersedes: false });
    expect(beside.conditions()[0]).toBe('fresh');
  });
});

const LATENCY_MS = 500;

const UNSHARED = /^the store has not taken the newest session, which this replica alone has/;

/** Two replicas, the first of which is asked to create a session just before the store goes away. */
class Parted {
  readonly cluster: Cluster;

  private constructor(settings: Partial<SessionSettings>) {
    this.cluster = new Cluster({ replicas: 2, latencyMs: LATENCY_MS, lifetimeMs: HOUR, settings });
  }

  static async by(state: 'silent' | 'refuses', settings: Partial<SessionSettings> = {}): Promise<Parted> {
    const parted = new Parted(settings);
    const { cluster } = parted;
    await cluster.clock.advance(MINUTE);
    const wish = { merchant: 'shop', waitMs: SECOND, signal: neverAborted };
    const renewed = cluster.first.replica.wanted.renew(wish);
    await cluster.clock.advance(LATENCY_MS / 2);
    parted.store = state;
    await cluster.clock.advance(2 * SECOND);
    await renewed;
    return parted;
  }

  set store(state: 'answers' | 'silent' | 'refuses') {
    for (const store of this.cluster.stores) store.state = state;
  }

  get conditions(): readonly string[] {
    return this.cluster.replicas.map(({ replica }) => conditionOf(replica, 'shop'));
  }

  get cause(): object | undefined {
    return this.cluster.first.replica.causeFor('shop');
  }
}

describe('a session that the store has not taken', () => {
  it.each(['silent', 'refuses'] as const)(
    'is told, at the replica that made it, as what has ended those of the others: the store %s',
    async (state) => {
      const parted = await Parted.by(state);
      expect(parted.cluster.session(0).generation).toBeGreaterThan(parted.cluster.session(1).generation);
      expect(parted.conditions).toEqual(['unshared', 'fresh']);
      expect(parted.cause).toMatchObject({ text: expect.stringMatching(UNSHARED), runbook: 'store-down' });
      // The lease, and with it the attempt, has long ended.
      await parted.cluster.clock.advance(2 * MINUTE);
      expect(parted.conditions[0]).toBe('unshared');
    },
  );

  it('is told no more once the store has taken it', async () => {
    const parted = await Parted.by('silent');
    await parted.cluster.clock.advance(2 * MINUTE);
    parted.store = 'answers';
    await parted.cluster.clock.advance(5 * SECOND);
    expect(parted.conditions).toEqual(['fresh', 'fresh']);
    expect(parted.cause).toBeUndefined();
    parted.store = 'silent';
    await parted.cluster.clock.advance(MINUTE);
    expect(parted.conditions).toEqual(['fresh', 'fresh']);
  });

  it('ends none where sessions live beside each other', async () => {
    const parted = await Parted.by('silent', { supersedes: false });
    await parted.cluster.clock.advance(2 * MINUTE);
    expect(parted.conditions[0]).toBe('fresh');
    expect(parted.cause).toBeUndefined();
  });

  it('is told with what keeps it from being renewed, once that is due', async () => {
    const parted = await Parted.by('refuses');
    await parted.cluster.clock.advance(HOUR - 5 * MINUTE);
    expect(parted.conditions[0]).toBe('unshared');
    expect(parted.cause).toMatchObject({ text: expect.stringMatching(/others; the store refuses/) });
  });
});
