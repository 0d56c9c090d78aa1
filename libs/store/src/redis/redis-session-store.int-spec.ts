import {
  aBudget,
  aClaim,
  aPublication,
  aRecordedFailure,
  aSession,
  describeSessionStoreContract,
  describeWith,
  endedAfterAll,
  PATIENT_REDIS,
  RedisProcess,
  startRedisCluster,
  stateOf,
  type StoreUnderTest,
} from '#libs/testing';
import type { RedisConnection } from './redis-connection.js';
import { KeysInRedis } from './redis-keys-fixture.js';
import { openedByTests } from './redis-store-fixture.js';
import { SystemClock } from '#libs/clock';
import { generateClientKey, importClientKey } from '#libs/jwe';
import type { Lease } from '#libs/session';
import fc from 'fast-check';
import { RedisSessionStore } from './redis-session-store.js';

const { open, closeAfterTest } = openedByTests(PATIENT_REDIS);

interface Address {
  readonly host: string;
  readonly port: number;
}

let tests = 0;

/** Each test has its own prefix, so it begins with an empty store. */
async function underTest(connection: RedisConnection, nodes: readonly Address[]): Promise<StoreUnderTest> {
  const keyPrefix = `test-${(tests += 1)}`;
  const choices = { connection, keyPrefix };
  const replicas = await Promise.all([open(choices), open(choices)]);
  const keys = nodes.map(({ port }) => new KeysInRedis(port, keyPrefix));
  closeAfterTest(() => keys.forEach((each) => each.close()));
  const move = async (byMs: number): Promise<void> => {
    for (const each of keys) await each.moveMoments(byMs);
  };
  return {
    replicas: [replicas[0].store, replicas[1].store],
    advance: (durationMs) => move(-durationMs),
    // What a clock that was set back finds: every stored moment is that much further ahead.
    setBack: move,
    dispose: () => Promise.resolve(),
  };
}

const single = ({ address }: RedisProcess): RedisConnection => ({ kind: 'single', address, database: 0 });

describeWith('redis-server', 'on a single server', () => {
  let redis: RedisProcess;
  const startedOnce = endedAfterAll();
  beforeAll(async () => {
    redis = startedOnce.add(await RedisProcess.start(), (it) => it.stop());
  });
  const onIt = (): Promise<StoreUnderTest> => underTest(single(redis), [redis.address]);

  describeSessionStoreContract('RedisSessionStore', onIt);
});

describeWith('redis-server', 'on a cluster', () => {
  let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
  const startedOnce = endedAfterAll();
  beforeAll(async () => {
    cluster = startedOnce.add(await startRedisCluster(), (it) => it.stop());
  });
  const onIt = (): Promise<StoreUnderTest> => {
    const nodes = cluster.nodes.map(({ address }) => address);
    return underTest({ kind: 'cluster', nodes }, nodes);
  };

  describeSessionStoreContract('RedisSessionStore', onIt);
});

const REPLICAS = 8;
const LEASE_MS = 12;
const WINDOW = { calls: 8, perMs: 100 };
const BUDGET = aBudget(WINDOW);
/** The store counts whole milliseconds, and reads its clock at some moment between request and answer. */
const ROUNDING_MS = 2;

/** What one replica saw of one lease; moments are those of this process, which all replicas share. */
interface Tenure {
  readonly fence: number;
  readonly owner: string;
  readonly askedAtMs: number;
  readonly grantedAtMs: number;
  /** When the replica began to give the lease up; the lease may have ended before. */
  givingUpAtMs: number;
  called: boolean;
  publishedAtMs: number | undefined;
}

/**
 * How the replica that holds a lease behaves: it may succeed, fail, dawdle past the end, or never be heard of again.
 */
const behaviour = fc.record({
  ends: fc.constantFrom('publishes', 'publishes', 'fails', 'gives up uncalled', 'is never heard of again'),
  takesMs: fc.constantFrom(0, 0, 1, 5, 10, 20),
});
type Behaviour = typeof behaviour extends fc.Arbitrary<infer Drawn> ? Drawn : never;

let racing: RedisProcess;
let stores: RedisSessionStore[];

const startedForRaces = endedAfterAll();
beforeAll(async () => {
  racing = startedForRaces.add(await RedisProcess.start(), (it) => it.stop());
  const key = await importClientKey((await generateClientKey()).privateJwk);
  const open = async (): Promise<RedisSessionStore> =>
    startedForRaces.add(
      await RedisSessionStore.open({
        connection: { kind: 'single', address: racing.address, database: 0 },
        keyPrefix: 'races',
        keysOf: () => [key],
        clock: new SystemClock(),
        onStateChange: () => undefined,
        timeouts: PATIENT_REDIS,
      }),
      (it) => it.close(),
    );
  stores = await Promise.all(Array.from({ length: REPLICAS }, open));
});

const pause = (durationMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, durationMs));

interface Replica {
  readonly store: RedisSessionStore;
  readonly owner: string;
  readonly merchant: string;
  readonly tenures: Tenure[];
}

async function giveUp(replica: Replica, lease: Lease, ends: string): Promise<Partial<Tenure>> {
  const { store, merchant } = replica;
  if (ends === 'is never heard of again') return {};
  const givingUpAtMs = performance.now();
  if (ends === 'publishes') {
    const publication = aPublication(aSession({ merchant, generation: lease.fence }), { nextDueInMs: 0 });
    const outcome = await store.publish(publication, lease);
    return outcome === 'published' ? { givingUpAtMs, publishedAtMs: performance.now() } : { givingUpAtMs };
  }
  const called = ends !== 'gives up uncalled';
  const failure = ends === 'fails' ? { failure: aRecordedFailure() } : {};
  const released = await store.release(lease, { called, nextDueInMs: 0, ...failure });
  return released ? { givingUpAtMs, called } : { givingUpAtMs };
}

/** A replica that claims again while it holds the lease gets the same one: that is one tenure, not two. */
function tenureOf({ tenures, owner }: Replica, lease: Lease, askedAtMs: number): Tenure {
  const known = tenures.find(({ fence }) => fence === lease.fence);
  if (known?.owner === owner) return known;
  const tenure: Tenure = {
    fence: lease.fence,
    owner,
    askedAtMs,
    grantedAtMs: performance.now(),
    givingUpAtMs: askedAtMs + LEASE_MS,
    called: true,
    publishedAtMs: undefined,
  };
  tenures.push(tenure);
  return tenure;
}

async function live(replica: Replica, lives: readonly Behaviour[]): Promise<void> {
  const { store, owner, merchant } = replica;
  const base = aClaim({ merchant, owner, leaseMs: LEASE_MS, mode: 'when_wanted', budget: BUDGET });
  let seen = 0;
  for (const { ends, takesMs } of lives) {
    const askedAtMs = performance.now();
    const result = await store.claim({ ...base, newerThan: Number.MAX_SAFE_INTEGER, floor: seen });
    if (result.kind === 'claimed') {
      const tenure = tenureOf(replica, result.lease, askedAtMs);
      await pause(takesMs);
      Object.assign(tenure, await giveUp(replica, result.lease, ends));
    } else await pause(3);
    const { stored } = await stateOf(store, merchant);
    const generation = stored.kind === 'session' ? stored.session.generation : 0;
    expect(generation).toBeGreaterThanOrEqual(seen);
    seen = generation;
  }
}

/** While a replica knew that it held a lease, no other was granted one. */
function checkExclusion(tenures: readonly Tenure[]): void {
  const inOrder = [...tenures].sort((a, b) => a.fence - b.fence);
  for (const [index, tenure] of inOrder.entries()) {
    const next = inOrder[index + 1];
    if (next === undefined) continue;
    const surelyUntilMs = Math.min(tenure.givingUpAtMs, tenure.askedAtMs + LEASE_MS) - ROUNDING_MS;
    expect(next.grantedAtMs).toBeGreaterThan(surelyUntilMs);
  }
}

/** No fence has two owners, and nothing is published once a newer fence is known to have been granted. */
function checkFencing(tenures: readonly Tenure[]): void {
  for (const tenure of tenures) {
    const { fence, publishedAtMs, givingUpAtMs } = tenure;
    expect(tenures.filter((other) => other.fence === fence)).toEqual([tenure]);
    if (publishedAtMs === undefined) continue;
    const newerBefore = tenures.filter((other) => other.fence > fence && other.grantedAtMs < givingUpAtMs);
    expect(newerBefore).toEqual([]);
  }
}

function checkBudget(tenures: readonly Tenure[]): void {
  const calls = tenures.filter(({ called }) => called);
  for (const { askedAtMs } of calls) {
    const surelyInWindow = calls.filter(
      (call) => call.askedAtMs >= askedAtMs && call.grantedAtMs < askedAtMs + WINDOW.perMs - ROUNDING_MS,
    );
    expect(surelyInWindow.length).toBeLessThanOrEqual(WINDOW.calls);
  }
}

describeWith('redis-server', 'many replicas at once', () => {
  it('never hold a lease together, never publish out of order, and never spend more than the budget', async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const merchant = `shop-${(runs += 1)}`;
        const tenures: Tenure[] = [];
        await Promise.all(
          stores.map((store, index) => {
            const lives = fc.sample(behaviour, { seed: seed + index, numRuns: 20 });
            return live({ store, owner: `replica-${index}`, merchant, tenures }, lives);
          }),
        );
        expect(tenures.length).toBeGreaterThan(5);
        checkExclusion(tenures);
        checkFencing(tenures);
        checkBudget(tenures);
      }),
      { numRuns: 15, endOnFailure: true },
    );
  });
});
