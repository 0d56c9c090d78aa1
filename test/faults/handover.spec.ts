import type { AnnouncedHandover, HandoverAudience } from '#libs/session';
import { Cluster, type ClusterOptions, HOUR, neverAborted, type ReplicaUnderTest, SECOND } from './cluster.js';

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

interface Stage {
  readonly cluster: Cluster;
  readonly participants: readonly Participants[];
}

/** Replicas with a session, one millisecond before it is due. */
async function staged(callsMs: readonly (readonly number[])[], options: ClusterOptions = {}): Promise<Stage> {
  const settings = { handoverMs: SECOND, ...options.settings };
  const cluster = new Cluster({ replicas: callsMs.length, latencyMs: LATENCY_MS, ...options, settings });
  const participants = callsMs.map((calls, index) => new Participants(cluster, cluster.at(index), calls));
  await cluster.clock.advance(5 * SECOND);
  await cluster.clock.advance(cluster.first.replica.held.untilRenewalMs('shop') - 1);
  return { cluster, participants };
}

/** How long after the first consumer was told the call was made; undefined if it was not. */
function waitedMs({ cluster, participants }: Stage): number | undefined {
  const calledAtMs = cluster.gateway.calls[1]?.atMs;
  const toldAtMs = Math.min(...participants.flatMap(({ held }) => held.map(({ atMs }) => atMs)));
  return calledAtMs === undefined ? undefined : Math.round(calledAtMs - toldAtMs);
}

const outcomes = ({ cluster }: Stage): readonly string[] =>
  cluster.replicas.flatMap(({ events }) => events.of('handover_awaited').map(({ outcome }) => outcome));

const leads = ({ cluster }: Stage): ReplicaUnderTest => {
  const leader = cluster.replicas.find(({ replica }) => replica.isRenewing('shop'));
  if (leader === undefined) throw new Error('nobody renews');
  return leader;
};

describe('a renewal that is handed over', () => {
  it('is announced to the consumers of every replica, and waits until the last running call has ended', async () => {
    const stage = await staged([[CALL_MS], [100, 200], []]);
    await stage.cluster.clock.advance(2 * SECOND);
    expect(waitedMs(stage)).toBe(CALL_MS);
    expect(outcomes(stage)).toEqual(['ready']);
    const generation = stage.cluster.session().generation;
    const told = stage.participants.map(({ held }) => held.map((handover) => handover.generation));
    expect(told).toEqual([[generation], [generation], [generation]]);
    expect(stage.cluster.deadTokens()).toEqual([]);
  });

  it('waits for nobody when nobody takes part', async () => {
    const stage = await staged([[], [], []]);
    await stage.cluster.clock.advance(LATENCY_MS + 10);
    expect(stage.cluster.gateway.calls).toHaveLength(2);
    expect(waitedMs(stage)).toBe(0);
    expect(outcomes(stage)).toEqual(['nobody']);
  });

  it('waits only a first moment when the announcement does not reach every replica', async () => {
    const stage = await staged([[], [CALL_MS]]);
    for (const store of stage.cluster.stores) store.losesAnnouncements = true;
    await stage.cluster.clock.advance(SECOND);
    expect(stage.participants.map(({ held }) => held.length)).toEqual([0, 0]);
    expect(stage.cluster.gateway.calls).toHaveLength(2);
    const [awaited] = stage.cluster.replicas.flatMap(({ events }) => events.of('handover_awaited'));
    expect(awaited).toMatchObject({ outcome: 'nobody', waitedMs: FIRST_MOMENT_MS });
  });

  it('lets what was held back go on with the session there is when the call fails, and is tried again', async () => {
    const stage = await staged([[CALL_MS], []]);
    const { cluster, participants } = stage;
    const before = cluster.session().generation;
    cluster.gateway.answerNext({ kind: 'transient', detail: 'busy' });
    await cluster.clock.advance(CALL_MS + LATENCY_MS + 10);
    expect(cluster.gateway.calls).toHaveLength(2);
    expect(participants.map(({ resumed }) => resumed.length)).toEqual([1, 1]);
    expect(cluster.session().generation).toBe(before);
    await cluster.clock.advance(5 * SECOND);
    expect(cluster.session().generation).toBeGreaterThan(before);
    expect(participants[0]?.held).toHaveLength(2);
  });

  it('is not led twice under one number when its claimant dies: the next one has a later one', async () => {
    const stage = await staged([[100], [100]], { settings: { handoverMs: SECOND, gatewayTimeoutMs: SECOND } });
    const { cluster, participants } = stage;
    await cluster.clock.advance(50);
    const dead = cluster.replicas.indexOf(leads(stage));
    const store = cluster.stores[dead];
    if (store === undefined) throw new Error('there is no such store');
    // As if the process were gone: nothing from it arrives, and the call is never made.
    store.down = true;
    cluster.clockOf(dead).schedule = () => ({ cancel: () => undefined });
    await cluster.clock.advance(10 * SECOND);
    const survivor = participants[1 - dead];
    expect(survivor?.held).toHaveLength(2);
    expect(survivor?.held[1]?.generation).toBeGreaterThan(survivor?.held[0]?.generation ?? Infinity);
    expect(cluster.session(1 - dead).generation).toBe(survivor?.held[1]?.generation);
  });

  it('does not depend on the store: silent during the wait, it delays the call by no more than the limit', async () => {
    const stage = await staged([[HOUR], [HOUR]]);
    await stage.cluster.clock.advance(100);
    for (const store of stage.cluster.stores) store.down = true;
    await stage.cluster.clock.advance(2 * SECOND);
    expect(waitedMs(stage)).toBe(SECOND);
    expect(outcomes(stage)).toEqual(['limit']);
    for (const store of stage.cluster.stores) store.down = false;
    await stage.cluster.clock.advance(5 * SECOND);
    expect(stage.cluster.deadTokens()).toEqual([]);
    expect(stage.cluster.gateway.calls).toHaveLength(2);
  });

  it('goes on without consumers when the store does not pass the announcement on', async () => {
    const stage = await staged([[CALL_MS]]);
    const [store] = stage.cluster.stores;
    if (store === undefined) throw new Error('there is no such store');
    store.losesNextAnswerOf = 'announce';
    await stage.cluster.clock.advance(LATENCY_MS + 10);
    expect(outcomes(stage)).toEqual(['unheard']);
    expect(stage.cluster.gateway.calls).toHaveLength(2);
  });

  it('spends no call when the replica stops meanwhile: another one goes on at once', async () => {
    const stage = await staged([[HOUR], [HOUR]]);
    const { cluster, participants } = stage;
    await cluster.clock.advance(200);
    const stopping = leads(stage);
    await Promise.all([stopping.stop(SECOND), cluster.clock.advance(200)]);
    expect(stopping.events.of('handover_awaited')).toEqual([expect.objectContaining({ outcome: 'cut' })]);
    const [first] = participants[0]?.held ?? [];
    expect(participants[0]?.resumed).toEqual([first?.generation]);
    await cluster.clock.advance(2 * SECOND);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('is over at once for a merchant that is taken out of the configuration, without a call', async () => {
    const stage = await staged([[HOUR]]);
    const { cluster } = stage;
    await cluster.clock.advance(200);
    cluster.merchants = [];
    await cluster.first.replica.merchantsChanged({ added: [], removed: ['shop'], changed: [] });
    await cluster.clock.advance(2 * SECOND);
    expect(outcomes(stage)).toEqual(['cut']);
    expect(cluster.gateway.calls).toHaveLength(1);
    expect(cluster.first.replica.isRenewing('shop')).toBe(false);
  });

  it('waits no longer when a consumer reports the session dead meanwhile', async () => {
    const stage = await staged([[HOUR]]);
    const { cluster } = stage;
    await cluster.clock.advance(200);
    const { generation } = cluster.session();
    const rejected = cluster.first.replica.wishes.reject({
      merchant: 'shop',
      generation,
      waitMs: 7 * SECOND,
      signal: neverAborted,
    });
    await cluster.clock.advance(LATENCY_MS + 10);
    expect((await rejected).kind).toBe('renewed');
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('of one merchant does not delay that of another', async () => {
    const cluster = new Cluster({ merchants: ['shop', 'kiosk'], settings: { handoverMs: SECOND }, latencyMs: 0 });
    cluster.first.replica.handovers.attach({
      hold: ({ merchant }) => (merchant === 'shop' ? 1 : 0),
      resume: () => undefined,
    });
    await cluster.clock.advance(5 * SECOND);
    await cluster.clock.advance(cluster.first.replica.held.untilRenewalMs('shop') + 10);
    expect(cluster.gateway.calls.map(({ merchant }) => merchant).slice(2)).toEqual(['kiosk']);
    await cluster.clock.advance(SECOND);
    expect(cluster.gateway.calls.map(({ merchant }) => merchant).slice(2)).toEqual(['kiosk', 'shop']);
  });
});

describe('a renewal is not handed over', () => {
  it.each([
    ['where it is switched off', { handoverMs: 0 }],
    ['where a new session does not end the one before it', { supersedes: false }],
  ] as const)('%s', async (_where, settings) => {
    const stage = await staged([[HOUR]], { settings });
    await stage.cluster.clock.advance(LATENCY_MS + 10);
    expect(stage.cluster.gateway.calls).toHaveLength(2);
    expect(stage.participants[0]?.held).toEqual([]);
  });

  it('once the session is past its margin', async () => {
    const stage = await staged([[HOUR]]);
    const { cluster, participants } = stage;
    cluster.clock.freeze(cluster.first.replica.held.facts('shop').freshMs + 10);
    await cluster.clock.advance(LATENCY_MS + 10);
    expect(cluster.gateway.calls).toHaveLength(2);
    expect(participants[0]?.held).toEqual([]);
  });

  it('for longer than the session stays within its margin', async () => {
    const stage = await staged([[HOUR]]);
    const { cluster } = stage;
    cluster.clock.freeze(cluster.first.replica.held.facts('shop').freshMs - 400);
    await cluster.clock.advance(SECOND);
    expect(waitedMs(stage)).toBe(400);
  });
});

describe('a participant', () => {
  it('of no hand-over, or of one that is over, changes nothing and is not passed on', async () => {
    const stage = await staged([[]]);
    const { cluster } = stage;
    const { handovers } = cluster.first.replica;
    const asked = (): number => cluster.stores[0]?.asksFor('announce') ?? 0;
    handovers.ready({ merchant: 'shop', generation: 7, participant: 'somebody' });
    handovers.ready({ merchant: 'nobody', generation: 7, participant: 'somebody' });
    for (const merchant of ['shop', 'nobody']) handovers.hear({ step: 'ended', merchant, generation: 7 });
    expect(asked()).toBe(0);
    await cluster.clock.advance(10 * SECOND);
    const before = asked();
    handovers.ready({ merchant: 'shop', generation: cluster.session().generation, participant: 'somebody' });
    expect(asked()).toBe(before);
  });
});
