import { GatewayFailure, type RejectionAnswer, type Session } from '#libs/session';
import { Cluster, type ClusterOptions, HOUR, MINUTE, neverAborted, SECOND } from './cluster.js';

const PAUSE_MS = 10 * MINUTE;

/** Replicas with consumers that report what the gateway refuses, and a rival with the same serviceCode. */
class Duel {
  readonly cluster: Cluster;
  readonly answers: RejectionAnswer['kind'][] = [];
  #rivalCalls = 0;

  constructor(options: ClusterOptions = {}) {
    this.cluster = new Cluster({ replicas: 3, latencyMs: 10, lifetimeMs: 24 * HOUR, ...options });
  }

  static async running(options: ClusterOptions = {}): Promise<Duel> {
    const duel = new Duel(options);
    await duel.cluster.clock.advance(10 * SECOND);
    return duel;
  }

  /** Our own create calls. */
  get calls(): number {
    return this.cluster.gateway.calls.length - this.#rivalCalls;
  }

  /** Whether each replica has noticed. */
  get isSeen(): readonly boolean[] {
    return this.cluster.replicas.map(({ replica }) => replica.hasForeignAuthorizer('shop'));
  }

  get told(): readonly string[] {
    const all = this.cluster.replicas.map(({ events }) => events.of('foreign_authorizer'));
    return all.map((one) => one.map(({ isPresent }) => (isPresent ? 'begins' : 'ends')).join(', '));
  }

  async rivalCreates(): Promise<void> {
    this.#rivalCalls += 1;
    const created = this.cluster.gateway.createSession({ merchant: 'shop', signal: neverAborted });
    await this.cluster.clock.advance(SECOND);
    await created;
  }

  /** A consumer reports the session it holds, and waits a second for the answer. */
  async report(
    replica: number,
    generation = this.session(replica).generation,
    reason = 'b_used_token',
  ): Promise<RejectionAnswer> {
    const { wishes } = this.cluster.at(replica).replica;
    const reported = wishes.reject({ merchant: 'shop', generation, reason, waitMs: 900, signal: neverAborted });
    const settled = Promise.allSettled([reported]);
    await this.cluster.clock.advance(SECOND);
    await settled;
    const answer = await reported;
    this.answers.push(answer.kind);
    return answer;
  }

  session(replica = 0): Session {
    return this.cluster.session(replica);
  }

  /** The rival creates a session after each of ours, and a consumer of each replica in turn finds out. */
  async fight(durationMs: number, everyMs = 5 * SECOND): Promise<void> {
    for (let passedMs = 0, turn = 0; passedMs < durationMs; passedMs += everyMs, turn += 1) {
      const replica = turn % this.cluster.replicas.length;
      if (this.session(replica).authToken === this.cluster.gateway.liveToken('shop')) await this.rivalCreates();
      await this.report(replica);
      await this.cluster.clock.advance(everyMs - SECOND);
    }
  }
}

describe('somebody else who creates sessions of a merchant', () => {
  it('is noticed at the second session that dies early, by every replica, wherever the two were reported', async () => {
    const duel = await Duel.running();
    await duel.rivalCreates();
    expect(await duel.report(0)).toMatchObject({ kind: 'renewed' });
    expect(duel.isSeen).toEqual([false, false, false]);
    await duel.rivalCreates();
    const heldBack = await duel.report(1);
    expect(heldBack).toMatchObject({ kind: 'cooled_down', because: 'foreign_authorizer' });
    expect('retryInMs' in heldBack && heldBack.retryInMs).toBeCloseTo(PAUSE_MS - 2 * SECOND, -4);
    expect(duel.isSeen).toEqual([true, true, true]);
    expect(duel.told).toEqual(['begins', 'begins', 'begins']);
  });

  it('is not noticed by a bare 401, and neither two nor twenty of them put off the replacement of a session that is dead', async () => {
    const duel = await Duel.running();
    for (let refused = 0; refused < 20; refused += 1) {
      await duel.report(refused % 3, duel.session().generation, 'http_401');
      await duel.cluster.clock.advance(15 * SECOND);
    }
    expect([duel.isSeen, duel.calls]).toEqual([[false, false, false], 2]);
    duel.cluster.gateway.revoke('shop');
    expect(await duel.report(0)).toMatchObject({ kind: 'renewed' });
  });

  it('leaves a new session that every replica says is watched, until it is reported to one of them', async () => {
    const duel = await Duel.running();
    const { replicas, clock } = duel.cluster;
    const conditions = (): readonly string[] => replicas.map(({ replica }) => replica.conditionOf('shop'));
    const causes = (): readonly (string | undefined)[] => replicas.map(({ replica }) => replica.causeFor('shop')?.code);
    const ended = ['foreign_authorizer', 'foreign_authorizer', 'foreign_authorizer'];
    await duel.rivalCreates();
    await duel.report(0);
    await duel.rivalCreates();
    await duel.report(1);
    await clock.advance(MINUTE);
    expect([conditions(), causes()]).toEqual([ended, ended]);
    const renewed = replicas[2]?.replica.wishes.renew({ merchant: 'shop', waitMs: SECOND, signal: neverAborted });
    await clock.advance(2 * SECOND);
    expect(await renewed).toMatchObject({ kind: 'renewed' });
    expect([conditions(), causes()]).toEqual([ended, ['watched', 'watched', 'watched']]);
    await duel.report(1);
    await clock.advance(SECOND);
    expect([conditions(), causes()]).toEqual([ended, ended]);
  });

  it('gets no duel: rejections create once in ten minutes over all replicas, and what there is goes on being served', async () => {
    const duel = await Duel.running();
    await duel.fight(HOUR);
    const [, ...forRejections] = duel.cluster.gateway.calls;
    expect(forRejections.length).toBeGreaterThan(10);
    // The initial session, and one per pause: each of those calls begins a pause.
    expect(duel.calls).toBeLessThanOrEqual(1 + 6);
    expect(duel.calls).toBeGreaterThanOrEqual(1 + 5);
    expect(duel.isSeen).toEqual([true, true, true]);
    expect(duel.cluster.served().map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh', 'fresh']);
    expect(duel.told).toEqual(['begins', 'begins', 'begins']);
  });

  it('does not keep a renewal on schedule, which replaces the session that died and ends nothing', async () => {
    const duel = await Duel.running({ lifetimeMs: 20 * MINUTE });
    await duel.fight(6 * MINUTE);
    const before = duel.calls;
    const dead = duel.session().generation;
    await duel.cluster.clock.advance(11 * MINUTE);
    expect(duel.calls).toBe(before + 1);
    expect(duel.session().generation).toBeGreaterThan(dead);
    expect(duel.cluster.replicas.flatMap(({ events }) => events.of('renewal_finished')).at(-1)?.trigger).toBe(
      'schedule',
    );
    expect(duel.isSeen).toEqual([true, true, true]);
  });

  it('is there as long as dead sessions are reported, also once the budget has none left for reports', async () => {
    const settings = { foreignAuthorizerPauseMs: 10 * SECOND, budget: [{ calls: 20, perMs: 10 * MINUTE }] };
    const duel = await Duel.running({ lifetimeMs: MINUTE, settings });
    await duel.fight(MINUTE, 4 * SECOND);
    expect(duel.isSeen).toEqual([true, true, true]);
    const results = (): readonly string[] =>
      duel.cluster.replicas.flatMap(({ events }) => events.of('session_rejected').map(({ result }) => result));
    for (let turn = 0; turn < 120; turn += 1) {
      await duel.rivalCreates();
      await duel.report(turn % 3).catch(() => undefined);
      await duel.cluster.clock.advance(2 * SECOND);
      expect(duel.isSeen).toEqual([true, true, true]);
    }
    expect(results().filter((result) => result === 'budget_exhausted').length).toBeGreaterThan(20);
    expect(duel.told).toEqual(['begins', 'begins', 'begins']);
    await duel.cluster.clock.advance(2 * MINUTE);
    expect(duel.told).toEqual(['begins, ends', 'begins, ends', 'begins, ends']);
  });

  it('is there on every replica, and on one that starts, while one of them alone is told of the dead session', async () => {
    const budget = [{ calls: 4, perMs: 24 * HOUR }];
    const duel = await Duel.running({ settings: { budget } });
    await duel.fight(3 * MINUTE);
    for (let passed = 0; passed < 2 * HOUR; passed += 5 * MINUTE) {
      await duel.report(0).catch(() => undefined);
      await duel.cluster.clock.advance(5 * MINUTE - SECOND);
      expect(duel.isSeen).toEqual([true, true, true]);
    }
    duel.cluster.addReplica();
    await duel.cluster.clock.advance(5 * SECOND);
    expect(duel.isSeen).toEqual([true, true, true, true]);
    await duel.cluster.clock.advance(2 * PAUSE_MS);
    expect(duel.isSeen).toEqual([false, false, false, false]);
  });
});

describe('what looks like somebody else and is not', () => {
  it('is a consumer that reports to a replica which has not heard of the newer session', async () => {
    const duel = await Duel.running();
    const late = duel.cluster.stores[2];
    if (late === undefined) throw new Error('there are three');
    await duel.rivalCreates();
    late.losesAnnouncements = true;
    const release = late.holdNextAnswerOf('read');
    const old = duel.session(2).generation;
    await duel.report(0);
    const reported = duel.report(2, old).catch(() => undefined);
    await duel.cluster.clock.advance(3 * SECOND);
    release();
    await reported;
    expect([duel.isSeen, duel.calls]).toEqual([[false, false, false], 2]);
  });

  it('is a call of ours that the gateway carried out after its timeout', async () => {
    const duel = await Duel.running({ settings: { gatewayTimeoutMs: 500 } });
    for (let event = 0; event < 3; event += 1) {
      duel.cluster.gateway.answerNext({ kind: 'timeout', detail: 'no answer in time' });
      await duel.report(0).catch((error: unknown) => {
        if (!(error instanceof Error) || error instanceof GatewayFailure) throw error;
      });
      await duel.cluster.clock.advance(10 * SECOND);
      await duel.report(0).catch(() => undefined);
      await duel.cluster.clock.advance(10 * SECOND);
      // The call that timed out is carried out now, and ends the session that took its place.
      duel.cluster.gateway.revoke('shop');
    }
    expect(duel.told).toEqual(['', '', '']);
  });
});
