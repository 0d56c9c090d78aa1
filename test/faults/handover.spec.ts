import type { AnnouncedHandover, HandoverAudience } from '#libs/session';
import { Cluster, type ClusterOptions, HOUR, type ReplicaUnderTest, SECOND } from './cluster.js';

const CALL_MS = 300;
const LATENCY_MS = 50;
/** The initial period in which replicas may say that they have participants. */
const FIRST_MOMENT_MS = 100;

/** The participating consumers of one replica, whose running calls end after the given times. */
class Participants implements HandoverAudience {
  readonly held: (AnnouncedHandover & { readonly atMs: number })[] = [];
  readonly resumed: number[] = [];

  constructor(
    private readonly cluster: Cluster,
    private readonly under: ReplicaUnderTest,
    private readonly callsMs: readonly number[],
  ) {
    under.replica.handovers.attach(this);
  }

  hold(handover: AnnouncedHandover): number {
    const { clock } = this.cluster;
    this.held.push({ ...handover, atMs: clock.monotonicMs() });
    for (const [index, callMs] of this.callsMs.entries()) {
      const participant = `${this.cluster.replicas.indexOf(this.under)}-${index}`;
      const { merchant, generation } = handover;
      clock.schedule(callMs, () => void this.under.replica.handovers.ready({ merchant, generation, participant }));
    }
    return this.callsMs.length;
  }

  resume({ generation }: Pick<AnnouncedHandover, 'generation'>): void {
    this.resumed.push(generation);
  }
}

/** Replicas with a session, one millisecond before it is due. */
class Stage extends Cluster {
  participants: readonly Participants[] = [];

  static async set(callsMs: readonly (readonly number[])[], options: ClusterOptions = {}): Promise<Stage> {
    const settings = { handoverMs: SECOND, ...options.settings };
    const stage = new Stage({ replicas: callsMs.length, latencyMs: LATENCY_MS, ...options, settings });
    stage.participants = callsMs.map((calls, index) => new Participants(stage, stage.at(index), calls));
    await stage.clock.advance(5 * SECOND);
    await stage.clock.advance(stage.first.replica.held.untilRenewalMs('shop') - 1);
    return stage;
  }

  /** How long after the first consumer was told the second call was made; undefined if it was not. */
  get waitedMs(): number | undefined {
    const calledAtMs = this.gateway.calls[1]?.atMs;
    const toldAtMs = Math.min(...this.participants.flatMap(({ held }) => held.map(({ atMs }) => atMs)));
    return calledAtMs === undefined ? undefined : Math.round(calledAtMs - toldAtMs);
  }

  get outcomes(): readonly string[] {
    return this.replicas.flatMap(({ events }) => events.of('handover_awaited').map(({ outcome }) => outcome));
  }

  get leader(): ReplicaUnderTest {
    const leader = this.replicas.find(({ replica }) => replica.isRenewing('shop'));
    if (leader === undefined) throw new Error('nobody renews');
    return leader;
  }
}

describe('a renewal that is handed over', () => {
  it('is announced to the consumers of every replica, and waits until the last running call has ended', async () => {
    const stage = await Stage.set([[CALL_MS], [100, 200], []]);
    await stage.clock.advance(2 * SECOND);
    expect([stage.waitedMs, stage.outcomes]).toEqual([CALL_MS, ['ready']]);
    const { generation } = stage.session();
    const told = stage.participants.map(({ held }) => held.map((handover) => handover.generation));
    expect(told).toEqual([[generation], [generation], [generation]]);
    expect(stage.session().authToken).toBe(stage.gateway.liveToken('shop'));
  });

  it('waits for nobody when nobody takes part, nor for what belongs to no hand-over, or to one that is over', async () => {
    const stage = await Stage.set([[], [], []]);
    const { handovers } = stage.first.replica;
    const asked = (): number => stage.storeOf(0).asksFor('announce');
    for (const merchant of ['shop', 'nobody']) {
      handovers.ready({ merchant, generation: 7, participant: 'somebody' });
      handovers.hear({ step: 'ended', merchant, generation: 7 });
    }
    expect(asked()).toBe(0);
    await stage.clock.advance(LATENCY_MS + 10);
    expect(stage.gateway.calls).toHaveLength(2);
    expect([stage.waitedMs, stage.outcomes]).toEqual([0, ['nobody']]);
    await stage.clock.advance(10 * SECOND);
    const { generation } = stage.session();
    // One that is over, one that begins, and one that came after a later one.
    const holds = [0, 2, 1].map((newerBy) => {
      handovers.hear({ step: 'begins', merchant: 'shop', generation: generation + newerBy, holdForMs: SECOND });
      return stage.participants[0]?.held.length;
    });
    expect(holds).toEqual([1, 2, 2]);
    const leave = handovers.attach({ hold: ({ generation: late }) => holds.push(late), resume: () => undefined });
    leave();
    for (const merchant of ['shop', 'nobody'])
      handovers.hear({ step: 'begins', merchant, generation: generation + 3, holdForMs: SECOND });
    expect([holds.length, stage.first.replica.held.find('nobody')]).toEqual([3, undefined]);
    await stage.clock.advance(SECOND);
    const told = asked();
    handovers.ready({ merchant: 'shop', generation: generation + 3, participant: 'somebody' });
    expect(asked()).toBe(told);
  });

  it('waits only a first moment when the announcement does not reach every replica', async () => {
    const stage = await Stage.set([[], [CALL_MS]]);
    for (const store of stage.stores) store.losesAnnouncements = true;
    await stage.clock.advance(SECOND);
    expect(stage.participants.map(({ held }) => held.length)).toEqual([0, 0]);
    expect(stage.gateway.calls).toHaveLength(2);
    const [awaited] = stage.replicas.flatMap(({ events }) => events.of('handover_awaited'));
    expect(awaited).toMatchObject({ outcome: 'nobody', waitedMs: FIRST_MOMENT_MS });
  });

  it('lets what was held back go on with the session there is when the call fails, and is tried again', async () => {
    const stage = await Stage.set([[CALL_MS], []]);
    const before = stage.session().generation;
    stage.gateway.answerNext({ kind: 'transient', detail: 'busy' });
    await stage.clock.advance(CALL_MS + LATENCY_MS + 10);
    expect(stage.gateway.calls).toHaveLength(2);
    expect(stage.participants.map(({ resumed }) => resumed.length)).toEqual([1, 1]);
    expect(stage.session().generation).toBe(before);
    await stage.clock.advance(5 * SECOND);
    expect(stage.session().generation).toBeGreaterThan(before);
    expect(stage.participants[0]?.held).toHaveLength(2);
  });

  it('does not depend on the store: silent during the wait, it delays the call by no more than the limit', async () => {
    const stage = await Stage.set([[HOUR], [HOUR]]);
    await stage.clock.advance(100);
    stage.storeIs = 'silent';
    await stage.clock.advance(2 * SECOND);
    expect([stage.waitedMs, stage.outcomes]).toEqual([SECOND, ['limit']]);
    stage.storeIs = 'answers';
    await stage.clock.advance(5 * SECOND);
    expect(stage.session().authToken).toBe(stage.gateway.liveToken('shop'));
    expect(stage.gateway.calls).toHaveLength(2);
  });

  it('goes on without consumers when the store does not pass the announcement on', async () => {
    const stage = await Stage.set([[CALL_MS]]);
    stage.storeOf(0).losesNextAnswerOf = 'announce';
    await stage.clock.advance(LATENCY_MS + 10);
    expect(stage.outcomes).toEqual(['unheard']);
    expect(stage.gateway.calls).toHaveLength(2);
  });

  it('spends no call when the replica stops meanwhile: another one goes on at once', async () => {
    const stage = await Stage.set([[HOUR], [HOUR]]);
    await stage.clock.advance(200);
    const stopping = stage.leader;
    await Promise.all([stopping.stop(SECOND), stage.clock.advance(200)]);
    expect(stopping.events.of('handover_awaited')).toEqual([expect.objectContaining({ outcome: 'cut' })]);
    const [participants] = stage.participants;
    expect(participants?.resumed).toEqual([participants?.held[0]?.generation]);
    await stage.clock.advance(2 * SECOND);
    expect(stage.gateway.calls).toHaveLength(2);
  });

  it('is over at once for a merchant that is taken out of the configuration, without a call', async () => {
    const stage = await Stage.set([[HOUR]]);
    await stage.clock.advance(200);
    stage.merchants = [];
    await stage.first.replica.merchantsChanged({ added: [], removed: ['shop'], changed: [] });
    await stage.clock.advance(2 * SECOND);
    expect(stage.outcomes).toEqual(['cut']);
    expect(stage.gateway.calls).toHaveLength(1);
    expect(stage.first.replica.isRenewing('shop')).toBe(false);
  });

  it('waits no longer when a consumer reports the session dead meanwhile', async () => {
    const stage = await Stage.set([[HOUR]]);
    await stage.clock.advance(200);
    expect(await stage.report({}, LATENCY_MS + 10)).toMatchObject({ kind: 'renewed' });
    expect(stage.gateway.calls).toHaveLength(2);
  });
});

describe('a renewal is not handed over', () => {
  it.each([
    ['where it is switched off', { handoverMs: 0 }, 0],
    ['where a new session does not end the one before it', { supersedes: false }, 0],
    ['once the session is past its margin', {}, -10],
  ] as const)('%s', async (_where, settings, leftMs) => {
    const stage = await Stage.set([[HOUR]], { settings });
    if (leftMs < 0) stage.clock.freeze(stage.first.replica.held.facts('shop').freshMs - leftMs);
    await stage.clock.advance(LATENCY_MS + 10);
    expect(stage.gateway.calls).toHaveLength(2);
    expect(stage.participants[0]?.held).toEqual([]);
  });

  it('for longer than the session stays within its margin', async () => {
    const stage = await Stage.set([[HOUR]]);
    stage.clock.freeze(stage.first.replica.held.facts('shop').freshMs - 400);
    await stage.clock.advance(SECOND);
    expect(stage.waitedMs).toBe(400);
  });
});
