import type { RejectionAnswer } from '#libs/session';
import { Cluster, type ClusterOptions, HOUR, MINUTE, neverAborted, SECOND } from './cluster.js';

const PAUSE_MS = 10 * MINUTE;

/** Replicas with consumers that report what the gateway refuses, and a rival with the same serviceCode. */
class Duel extends Cluster {
  #rivalCalls = 0;

  static override async running(options: ClusterOptions = {}): Promise<Duel> {
    const duel = new Duel({ replicas: 3, latencyMs: 10, lifetimeMs: 24 * HOUR, ...options });
    await duel.clock.advance(10 * SECOND);
    return duel;
  }

  /** Our own create calls. */
  get ourCalls(): number {
    return this.gateway.calls.length - this.#rivalCalls;
  }

  /** Whether each replica has noticed. */
  get isSeen(): readonly boolean[] {
    return this.replicas.map(({ replica }) => replica.hasForeignAuthorizer('shop'));
  }

  get told(): readonly string[] {
    const all = this.replicas.map(({ events }) => events.of('foreign_authorizer'));
    return all.map((one) => one.map(({ isPresent }) => (isPresent ? 'begins' : 'ends')).join(', '));
  }

  async rivalCreates(): Promise<void> {
    this.#rivalCalls += 1;
    const created = this.gateway.createSession({ merchant: 'shop', signal: neverAborted });
    await this.clock.advance(SECOND);
    await created;
  }

  /** The rival ends our session, and a consumer of this replica finds out. */
  async dies(replica: number): Promise<RejectionAnswer | Error> {
    await this.rivalCreates();
    return this.report({}, SECOND, replica);
  }

  /** The rival creates a session after each of ours, and a consumer of each replica in turn finds out. */
  async fight(durationMs: number, everyMs = 5 * SECOND): Promise<void> {
    for (let passedMs = 0, turn = 0; passedMs < durationMs; passedMs += everyMs, turn += 1) {
      const replica = turn % this.replicas.length;
      if (this.session(replica).authToken === this.gateway.liveToken('shop')) await this.rivalCreates();
      await this.report({}, SECOND, replica);
      await this.clock.advance(everyMs - SECOND);
    }
  }
}

const all = <Each>(each: Each): readonly Each[] => [each, each, each];

describe('somebody else who creates sessions of a merchant', () => {
  it('is noticed at the second session that dies early, by every replica, and a session that a person wants is watched until it is reported', async () => {
    const duel = await Duel.running();
    const codes = (): readonly unknown[] => duel.causes.map((cause) => cause?.code);
    expect(await duel.dies(0)).toMatchObject({ kind: 'renewed' });
    expect(duel.isSeen).toEqual(all(false));
    const heldBack = await duel.dies(1);
    expect(heldBack).toMatchObject({ kind: 'cooled_down', because: 'foreign_authorizer' });
    expect('retryInMs' in heldBack && heldBack.retryInMs).toBeCloseTo(PAUSE_MS - 2 * SECOND, -4);
    expect([duel.isSeen, duel.told]).toEqual([all(true), all('begins')]);
    await duel.clock.advance(MINUTE);
    expect([duel.conditions, codes()]).toEqual([all('foreign_authorizer'), all('foreign_authorizer')]);
    expect(await duel.renew(SECOND, 2 * SECOND, 2)).toMatchObject({ kind: 'renewed' });
    expect([duel.conditions, codes()]).toEqual([all('foreign_authorizer'), all('watched')]);
    await duel.report({}, 2 * SECOND, 1);
    expect([duel.conditions, codes()]).toEqual([all('foreign_authorizer'), all('foreign_authorizer')]);
  });

  it('is not noticed by a bare 401, and neither two nor twenty of them put off the replacement of a session that is dead', async () => {
    const duel = await Duel.running();
    for (let refused = 0; refused < 20; refused += 1) {
      await duel.report({ generation: duel.session().generation, reason: 'http_401' }, SECOND, refused % 3);
      await duel.clock.advance(15 * SECOND);
    }
    expect([duel.isSeen, duel.ourCalls]).toEqual([all(false), 2]);
    duel.gateway.revoke('shop');
    expect(await duel.report()).toMatchObject({ kind: 'renewed' });
  });

  it('gets no duel: rejections create once in ten minutes over all replicas, and what there is goes on being served', async () => {
    const duel = await Duel.running();
    await duel.fight(HOUR);
    expect(duel.gateway.calls.length).toBeGreaterThan(11);
    // The initial session, and one per pause: each of those calls begins a pause.
    expect(duel.ourCalls).toBeLessThanOrEqual(1 + 6);
    expect(duel.ourCalls).toBeGreaterThanOrEqual(1 + 5);
    expect(duel.served().map((served) => served?.verdict.result)).toEqual(all('fresh'));
    expect([duel.isSeen, duel.told]).toEqual([all(true), all('begins')]);
  });

  it('does not keep a renewal on schedule, which replaces the session that died and ends nothing', async () => {
    const duel = await Duel.running({ lifetimeMs: 20 * MINUTE });
    await duel.fight(6 * MINUTE);
    const [before, dead] = [duel.ourCalls, duel.session().generation];
    await duel.clock.advance(11 * MINUTE);
    expect(duel.ourCalls).toBe(before + 1);
    expect(duel.session().generation).toBeGreaterThan(dead);
    expect(duel.replicas.flatMap(({ events }) => events.of('renewal_finished')).at(-1)?.trigger).toBe('schedule');
    expect(duel.isSeen).toEqual(all(true));
  });

  it('is there on every replica, and on one that starts, while one of them alone is told of the dead session', async () => {
    const duel = await Duel.running({ settings: { budget: [{ calls: 4, perMs: 24 * HOUR }] } });
    await duel.fight(3 * MINUTE);
    for (let passed = 0; passed < 2 * HOUR; passed += 5 * MINUTE) {
      await duel.report();
      await duel.clock.advance(5 * MINUTE - SECOND);
      expect(duel.isSeen).toEqual(all(true));
    }
    duel.addReplica();
    await duel.clock.advance(5 * SECOND);
    expect(duel.isSeen).toEqual([...all(true), true]);
    expect(duel.told).toEqual([...all('begins'), 'begins']);
    await duel.clock.advance(2 * PAUSE_MS);
    expect(duel.isSeen).toEqual([...all(false), false]);
    expect(duel.told).toEqual([...all('begins, ends'), 'begins, ends']);
  });
});

describe('what looks like somebody else and is not', () => {
  it('is a consumer that reports to a replica which has not heard of the newer session', async () => {
    const duel = await Duel.running();
    const late = duel.storeOf(2);
    late.losesAnnouncements = true;
    const release = late.holdNextAnswerOf('read');
    const { generation } = duel.session(2);
    await duel.dies(0);
    const reported = duel.report({ generation }, 3 * SECOND, 2);
    await duel.clock.advance(3 * SECOND);
    release();
    await reported;
    expect([duel.isSeen, duel.ourCalls]).toEqual([all(false), 2]);
  });

  it('is a call of ours that the gateway carried out after its timeout', async () => {
    const duel = await Duel.running({ settings: { gatewayTimeoutMs: 500 } });
    for (let event = 0; event < 3; event += 1) {
      duel.gateway.answerNext({ kind: 'timeout', detail: 'no answer in time' });
      for (let report = 0; report < 2; report += 1) await duel.report({}, 11 * SECOND);
      // The call that timed out is carried out now, and ends the session that took its place.
      duel.gateway.revoke('shop');
    }
    expect(duel.told).toEqual(all(''));
  });
});
