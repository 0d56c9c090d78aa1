import { MemorySessionStore } from '#libs/store';
import { Cluster, type ClusterOptions, neverAborted } from './cluster.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const SPENT = { budget: [{ calls: 2, perMs: HOUR }] };

/** Replicas that hold one session, whose consumers all report to the first. */
class Told {
  readonly cluster: Cluster;

  private constructor(options: ClusterOptions) {
    this.cluster = new Cluster({ replicas: 2, latencyMs: 10, lifetimeMs: 12 * HOUR, ...options });
  }

  static async running(options: ClusterOptions = {}): Promise<Told> {
    const told = new Told(options);
    await told.cluster.clock.advance(MINUTE);
    return told;
  }

  get conditions(): readonly string[] {
    return this.cluster.replicas.map(({ replica }) => replica.conditionOf('shop'));
  }

  get causes(): readonly unknown[] {
    return this.cluster.replicas.map(({ replica }) => replica.causeFor('shop'));
  }

  /** @returns the answer, or what refuses one */
  async report(): Promise<unknown> {
    const { generation } = this.cluster.session();
    const report = { merchant: 'shop', generation, reason: 'b_used_token', waitMs: 500, signal: neverAborted };
    const answer = this.cluster.first.replica.wishes.reject(report).catch((error: unknown) => error);
    await this.cluster.clock.advance(SECOND);
    return answer;
  }
}

describe('a session that is reported dead to one replica, and cannot be replaced', () => {
  it('is reported dead on every replica, for the same reason, until a newer one is held', async () => {
    const told = await Told.running({ settings: SPENT });
    const because = { code: 'budget_exhausted', effect: 'reported_dead', shareSpentUntil: expect.any(Number) };
    expect(await told.report()).toMatchObject({ reason: 'budget_exhausted', because });
    expect(told.conditions).toEqual(['dead', 'dead']);
    expect(told.causes).toEqual([because, because]);
    await told.cluster.clock.advance(HOUR);
    await told.report();
    expect(told.conditions).toEqual(['fresh', 'fresh']);
    expect(told.causes).toEqual([undefined, undefined]);
  });

  it('is known although the announcement was lost: whoever looks at the store the next time reads it', async () => {
    const told = await Told.running({ settings: SPENT });
    const [, other] = told.cluster.stores;
    if (other !== undefined) other.losesAnnouncements = true;
    await told.report();
    await told.cluster.clock.advance(MINUTE);
    expect(told.conditions).toEqual(['dead', 'dead']);
  });

  it('is told to a store that has lost everything, by any replica that knows', async () => {
    const told = await Told.running({ settings: SPENT });
    await told.report();
    await told.cluster.first.stop();
    const empty = new MemorySessionStore({ clock: told.cluster.storeClock });
    for (const store of told.cluster.stores) store.attach(empty);
    told.cluster.store = empty;
    await told.cluster.clock.advance(MINUTE);
    told.cluster.addReplica();
    await told.cluster.clock.advance(5 * SECOND);
    expect(told.conditions.slice(1)).toEqual(['dead', 'dead']);
  });
});
