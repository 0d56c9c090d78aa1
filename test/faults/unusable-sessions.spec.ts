import { told } from '#libs/causes';
import type { GatewayFailureFacts, SessionSettings, SessionStore } from '#libs/session';
import { altered } from './altered-store.js';
import { Cluster, type ClusterOptions, neverAborted } from './cluster.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const unopened: GatewayFailureFacts = { kind: 'invalid_response', detail: 'not opened', lostSession: true };
const away: GatewayFailureFacts = { kind: 'transient', detail: 'away', msgCode: 'b_server_is_overloaded' };

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
    return this.cluster.replicas.map(({ replica }) => replica.conditionOf('shop'));
  }

  get causes(): readonly unknown[] {
    return this.cluster.replicas.map(({ replica }) => replica.causeFor('shop'));
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
    expect(lost.conditions).toEqual(['dead', 'dead']);
    const because = { code: 'invalid_response', effect: 'payments_fail' };
    expect(lost.causes).toMatchObject([because, because]);
    await lost.renewalFails(away);
    expect(lost.conditions).toEqual(['dead', 'dead']);
    expect(lost.causes[1]).toMatchObject({ msgCode: 'b_server_is_overloaded', effect: 'payments_fail' });
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
    expect(lost.causes[0]).toMatchObject({ effect: 'not_renewed' });
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
    return this.cluster.replicas.map(({ replica }) => replica.conditionOf('shop'));
  }

  get causes(): readonly (object | undefined)[] {
    return this.cluster.replicas.map(({ replica }) => replica.causeFor('shop'));
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
    expect(conditions).toEqual(['fresh', 'dead']);
    expect(causes).toEqual([undefined, { code: 'unopened', generation, effect: 'payments_fail' }]);
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
    expect(causes[1]).toMatchObject({ code: 'unopened', effect: 'not_renewed' });
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
