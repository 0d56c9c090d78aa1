import { conditionOf, type SessionSettings } from '#libs/session';
import { Cluster, neverAborted } from './cluster.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
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
