import { msBetween } from '#libs/clock';
import { MemorySessionStore } from '#libs/store';
import { altered, withoutKey } from './altered-store.js';
import { Cluster, type ClusterOptions, HOUR, MINUTE, neverAborted, SECOND } from './cluster.js';
import type { FaultyStore } from './faulty-store.js';

const bug = new TypeError('not a function');
const read = { merchant: 'shop', minRemainingMs: 0, waitMs: 1_000, waitsThroughFailure: false, signal: neverAborted };
const refused = { kind: 'refused', detail: 'no such merchant' } as const;

describe('a replica that comes to its store', () => {
  it('creates nothing before others have had the time to tell the store what they hold', async () => {
    const cluster = new Cluster({ graceMs: 1_500 });
    await cluster.clock.advance(1_499);
    expect(cluster.gateway.calls).toEqual([]);
    await cluster.clock.advance(SECOND);
    expect(cluster.gateway.calls).toHaveLength(1);
  });

  it('after a short one claims nothing while it still reads all that is left, however overdue', async () => {
    const all = Promise.withResolvers<undefined>();
    const slowly = altered('read', (store) => async (known) => {
      if (known.length > 1) await all.promise;
      return store.read(known);
    });
    const cluster = new Cluster({ graceMs: 1_500, lifetimeMs: 8 * SECOND, merchants: ['shop', 'stall'] });
    await cluster.clock.advance(3 * SECOND);
    const [store] = cluster.stores as [FaultyStore];
    await cluster.clock.advance(msBetween(cluster.clock.now(), cluster.session().renewAt) - 10);
    store.down = true;
    await cluster.clock.advance(905);
    store.attach(slowly(new MemorySessionStore({ clock: cluster.storeClock })));
    store.down = false;
    const claims = store.asksFor('claim');
    void cluster.first.replica.resync();
    await cluster.clock.advance(SECOND);
    all.resolve(undefined);
    await cluster.clock.advance(1_400);
    expect(store.asksFor('claim')).toBe(claims);
    await cluster.clock.advance(2 * SECOND);
    expect(cluster.gateway.calls).toHaveLength(4);
  });
});

describe('a replica with something that the store has not', () => {
  it('offers it at once, without waiting for its next tick', async () => {
    const cluster = await Cluster.running({ tickMs: HOUR });
    cluster.emptyStore();
    for (const store of cluster.stores) store.announce({ kind: 'gap' });
    await cluster.clock.advance(10);
    cluster.addReplica();
    await cluster.clock.advance(10);
    expect(cluster.session(1).generation).toBe(cluster.session(0).generation);
    expect(cluster.gateway.calls).toHaveLength(1);
  });
});

describe('a store that was emptied', () => {
  it('is told of every merchant as soon as it is seen to lack one', async () => {
    // With this chance, it is the second that is looked at.
    const cluster = await Cluster.running({ merchants: ['shop', 'stall'] });
    cluster.emptyStore();
    await cluster.clock.advance(3 * SECOND);
    cluster.addReplica();
    await cluster.clock.advance(100);
    for (const id of ['shop', 'stall']) expect(cluster.session(1, id)).toEqual(cluster.session(0, id));
    expect(cluster.gateway.calls).toHaveLength(2);
  });
});

describe('many merchants that are due at once', () => {
  const merchants = Array.from({ length: 100 }, (_, index) => `shop-${index}`);

  it('have sixty-four calls of one replica in flight, however many gateways they have', async () => {
    const cluster = new Cluster({ merchants, gatewayIdOf: (id) => id, latencyMs: 500 });
    await cluster.clock.advance(MINUTE);
    expect([cluster.gateway.calls.length, cluster.gateway.mostInFlightInAll]).toEqual([100, 64]);
  });

  it('of one gateway are left to other replicas where this one has no room for them', async () => {
    const cluster = new Cluster({ merchants, latencyMs: 500 });
    await cluster.clock.advance(400);
    expect(merchants.filter((id) => cluster.first.replica.isRenewing(id))).toHaveLength(16);
  });
});

describe('a look at the store', () => {
  it('is shared by all who ask at once, and made anew for whoever asks later, or for what came since', async () => {
    const cluster = await Cluster.running();
    const [store] = cluster.stores as [FaultyStore];
    const { replica } = cluster.first;
    const before = store.asksFor('read');
    await Promise.all([replica.lookUp('shop'), replica.lookUp('shop')]);
    expect(store.asksFor('read')).toBe(before + 1);
    await replica.lookUp('shop');
    expect(store.asksFor('read')).toBe(before + 2);
    await Promise.all([replica.lookUp('shop'), replica.lookUp('shop', { anew: true })]);
    expect(store.asksFor('read')).toBe(before + 4);
  });
});

describe('a round that ends in a bug', () => {
  it('is reported, and followed by the next one', async () => {
    const cluster = await Cluster.running({ wrapStore: altered('due', () => () => Promise.reject(bug)) });
    const broken = cluster.first.events.of('broken');
    expect(broken).toContainEqual({ event: 'broken', activity: 'tick', error: bug });
    expect(broken.length).toBeGreaterThan(30);
  });
});

describe('a read', () => {
  it('of a session that is fresh asks the store nothing', async () => {
    const cluster = await Cluster.running();
    const asked = cluster.stores[0]?.asked.length;
    await cluster.first.replica.wishes.read(read);
    expect(cluster.stores[0]?.asked).toHaveLength(asked ?? 0);
  });

  it('of the store that ends in a bug is reported, and made again', async () => {
    let isBroken = true;
    const wrapStore = altered('read', (store) => (known) => (isBroken ? Promise.reject(bug) : store.read(known)));
    const cluster = await Cluster.running({
      wrapStore: (store, replica) => (replica === 1 ? wrapStore(store) : store),
      replicas: 2,
    });
    const broken = { event: 'broken', activity: 'refresh', error: bug };
    cluster.stores[1]?.announce({ kind: 'changed', merchant: 'shop', generation: Number.MAX_SAFE_INTEGER });
    await cluster.clock.advance(10);
    expect(cluster.at(1).events.of('broken')).toContainEqual(broken);
    isBroken = false;
    await cluster.clock.advance(SECOND);
    expect(cluster.session(1)).toEqual(cluster.session(0));
  });
});

describe('a merchant that was removed', () => {
  it('is no longer asked about, and nothing is kept of its failures and back-offs', async () => {
    const cluster = new Cluster({ merchants: ['shop', 'tickets'] });
    cluster.gateway.answerAlways(refused);
    await cluster.clock.advance(MINUTE);
    const { replica } = cluster.first;
    expect(replica.retryInMs('tickets')).toBeGreaterThan(0);
    cluster.merchants = ['shop'];
    const told = replica.merchantsChanged({ added: [], removed: ['tickets'], changed: [] });
    await cluster.clock.advance(0);
    await told;
    expect([replica.retryInMs('tickets'), replica.failureOf('tickets')]).toEqual([undefined, undefined]);
    const [store] = cluster.stores;
    if (store !== undefined) store.asked.length = 0;
    await cluster.clock.advance(HOUR);
    const aboutIt = store?.asked.filter((question) => JSON.stringify(question.arguments).includes('tickets'));
    expect(aboutIt).toEqual([]);
  });

  it('while it was being read is forgotten all the same', async () => {
    const cluster = await Cluster.running({ merchants: ['shop', 'tickets'] });
    const [store] = cluster.stores as [FaultyStore];
    const release = store.holdNextAnswerOf('read');
    store.announce({ kind: 'gap' });
    await cluster.clock.advance(SECOND);
    cluster.merchants = ['shop'];
    void cluster.first.replica.merchantsChanged({ added: [], removed: ['tickets'], changed: [] });
    release();
    await cluster.clock.advance(SECOND);
    expect(cluster.first.replica.held.find('tickets')).toBeUndefined();
  });
});

describe('a merchant whose configuration was changed', () => {
  const change = { added: [], removed: [], changed: ['shop'] };

  it('is tried at once after a failure, though it has a session that is fresh', async () => {
    const cluster = await Cluster.running();
    cluster.gateway.answerNext(refused);
    const { generation } = cluster.session();
    const rejected = cluster.first.replica.wishes.reject({ ...read, generation });
    const settled = Promise.allSettled([rejected]);
    await cluster.clock.advance(2 * SECOND);
    await settled;
    const told = cluster.first.replica.merchantsChanged(change);
    await cluster.clock.advance(SECOND);
    await told;
    expect(cluster.session().generation).toBeGreaterThan(generation);
    expect(cluster.gateway.calls).toHaveLength(3);
  });

  it('costs no call where it lets a session be opened that could not be opened before', async () => {
    const closed = new Set<number>();
    const cluster = new Cluster({ wrapStore: withoutKey((replica) => closed.has(replica)) });
    await cluster.clock.advance(MINUTE);
    closed.add(1);
    const { replica } = cluster.addReplica();
    await cluster.clock.advance(5 * SECOND);
    expect(cluster.served()[1]).toBeUndefined();
    closed.delete(1);
    const told = replica.merchantsChanged(change);
    await cluster.clock.advance(SECOND);
    await told;
    expect(cluster.session(1).generation).toBe(cluster.session(0).generation);
    expect(cluster.gateway.calls).toHaveLength(1);
  });

  it('that meets a bug reports it, and is never rejected', async () => {
    let isBroken = false;
    const wrapStore = altered('read', (store) => (wanted) => (isBroken ? Promise.reject(bug) : store.read(wanted)));
    const cluster = await Cluster.running({ wrapStore });
    cluster.merchants = ['shop', 'kiosk'];
    isBroken = true;
    await cluster.first.replica.merchantsChanged({ ...change, added: ['kiosk'] });
    expect(cluster.first.events.of('broken')).toContainEqual({
      event: 'broken',
      activity: 'change of merchants',
      error: bug,
    });
  });
});

describe('a replica that starts ten minutes into a session', () => {
  it('knows how old it is, serves it to its end, and not a moment longer', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(10 * MINUTE);
    const [first] = cluster.served();
    cluster.addReplica();
    await cluster.clock.advance(1_000);
    expect(cluster.served()[1]?.session).toEqual(first?.session);
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'busy' });
    await cluster.clock.advance(5 * MINUTE - 3_000);
    expect(cluster.served()[1]?.session).toEqual(first?.session);
    await cluster.clock.advance(4_000);
    expect(cluster.served()).toEqual([undefined, undefined]);
  });
});

function reconfigure(cluster: Cluster, merchants: readonly string[]): Promise<unknown> {
  const before = cluster.merchants;
  const added = merchants.filter((merchant) => !before.includes(merchant));
  const removed = before.filter((merchant) => !merchants.includes(merchant));
  cluster.merchants = merchants;
  return Promise.all(cluster.replicas.map(({ replica }) => replica.merchantsChanged({ added, removed, changed: [] })));
}

const generations = (cluster: Cluster, merchant: string): (number | undefined)[] =>
  cluster.served(merchant).map((served) => served?.session.generation);

describe('other merchants in the configuration', () => {
  it('bring a removed one back with the session that it had, and without a create call', async () => {
    const cluster = new Cluster({ replicas: 2, merchants: ['shop', 'tickets'] });
    await cluster.clock.advance(1_000);
    const before = generations(cluster, 'tickets');
    void reconfigure(cluster, ['shop']);
    await cluster.clock.advance(60_000);
    void reconfigure(cluster, ['shop', 'tickets']);
    await cluster.clock.advance(1_000);
    expect(generations(cluster, 'tickets')).toEqual(before);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('refuse a wish for a removed one without a call', async () => {
    const cluster = new Cluster({ merchants: ['shop', 'tickets'] });
    await cluster.clock.advance(1_000);
    void reconfigure(cluster, ['shop']);
    await cluster.clock.advance(1_000);
    const wish = {
      merchant: 'tickets',
      minRemainingMs: 0,
      waitMs: 1_000,
      waitsThroughFailure: false,
      signal: neverAborted,
    };
    const refused = expect(cluster.first.replica.wishes.read(wish)).rejects.toMatchObject({
      code: 'session_unavailable',
      reason: 'no_session',
    });
    await cluster.clock.advance(2_000);
    await refused;
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('that are new in an outage of the store are enrolled once it is over', async () => {
    const cluster = new Cluster({ settings: {} });
    await cluster.clock.advance(1_000);
    cluster.stores.forEach((store) => (store.down = true));
    void reconfigure(cluster, ['shop', 'kiosk']);
    await cluster.clock.advance(5_000);
    expect(generations(cluster, 'kiosk')).toEqual([undefined]);
    cluster.stores.forEach((store) => (store.down = false));
    await cluster.clock.advance(5_000);
    expect(generations(cluster, 'kiosk')).toEqual([expect.any(Number)]);
    expect(cluster.gateway.calls).toHaveLength(2);
  });
});

describe('a shutdown', () => {
  it('makes no call that the store could not take', async () => {
    const cluster = new Cluster({ replicas: 3 });
    await cluster.clock.advance(890 * SECOND);
    const before = cluster.gateway.calls.length;
    for (const store of cluster.stores) store.down = true;
    await cluster.clock.advance(15 * MINUTE - 1);
    const made = cluster.gateway.calls.length;
    const stopped = Promise.all(cluster.replicas.map(({ stop }) => stop(10 * SECOND)));
    await cluster.clock.advance(15 * SECOND);
    await stopped;
    expect(cluster.gateway.calls).toHaveLength(made);
    expect(made).toBeGreaterThanOrEqual(before);
    expect(cluster.clock.pendingTasks).toBe(0);
  });
});

describe('a forged announcement', () => {
  it.each([2 ** 53 - 1, Number.NaN])('of generation %d causes a read and sets nothing', async (generation) => {
    const cluster = await Cluster.running({ replicas: 2 });
    const [store] = cluster.stores;
    const readsBefore = store?.asksFor('read') ?? 0;
    for (let count = 0; count < 1_000; count += 1) store?.announce({ kind: 'changed', merchant: 'shop', generation });
    await cluster.clock.advance(100);
    expect((store?.asksFor('read') ?? 0) - readsBefore).toBeLessThan(10);
    expect(cluster.first.replica.held.of('shop').floor).toBe(cluster.session().generation);
    await cluster.clock.advance(20 * MINUTE);
    expect(cluster.session().generation).toBeLessThan(2e12);
    expect(cluster.served().map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh']);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('of a failure blocks no rejection and shows no failure to anybody', async () => {
    const cluster = await Cluster.running();
    cluster.stores[0]?.announce({ kind: 'changed', merchant: 'shop' });
    await cluster.clock.advance(10);
    expect(cluster.first.replica.failureOf('shop')).toBeUndefined();
    expect(cluster.first.replica.retryInMs('shop')).toBeUndefined();
    const { generation } = cluster.session();
    const report = { merchant: 'shop', generation, reason: 'b_used_token', waitMs: SECOND, signal: neverAborted };
    const answer = cluster.first.replica.wishes.reject(report);
    await cluster.clock.advance(SECOND);
    expect(await answer).toMatchObject({ kind: 'renewed' });
  });
});

/** Everything from here on happens without waiting for a tick. */
async function untouched(options: ClusterOptions = {}): Promise<Cluster> {
  const cluster = await Cluster.running({ tickMs: 24 * HOUR, merchants: ['shop', 'tickets'], ...options });
  for (const store of cluster.stores) store.asked.length = 0;
  return cluster;
}

/** How many reads of a merchant the first replica has asked for. */
function readsOf(cluster: Cluster, merchant: string): number {
  const reads = cluster.stores[0]?.asked.filter(({ operation }) => operation === 'read') ?? [];
  return reads.filter((question) => JSON.stringify(question.arguments).includes(merchant)).length;
}

describe('a store that is back', () => {
  it('is asked at once for what waits to be asked again, and not once more when that time has come', async () => {
    const cluster = await untouched();
    const [store] = cluster.stores;
    if (store !== undefined) store.down = true;
    store?.announce({ kind: 'changed', merchant: 'shop', generation: Number.MAX_SAFE_INTEGER });
    await cluster.clock.advance(100);
    if (store !== undefined) store.down = false;
    const resynced = cluster.first.replica.resync();
    await cluster.clock.advance(0);
    await resynced;
    const before = readsOf(cluster, 'shop');
    await cluster.clock.advance(2 * SECOND);
    expect(readsOf(cluster, 'shop')).toBe(before);
  });

  it('is claimed from only when the others have had their time, though a reader is the first that it answers', async () => {
    const cluster = await untouched({ graceMs: 1_500, tickMs: SECOND });
    const [store] = cluster.stores;
    if (store !== undefined) store.down = true;
    await cluster.clock.advance(HOUR);
    if (store !== undefined) store.down = false;
    const wish = { merchant: 'shop', minRemainingMs: 0, waitsThroughFailure: true, signal: neverAborted };
    const read = async (): Promise<number> => {
      const answer = Promise.allSettled([cluster.first.replica.wishes.read({ ...wish, waitMs: SECOND })]);
      await cluster.clock.advance(1_400);
      await answer;
      return store?.asksFor('claim') ?? 0;
    };
    expect([await read(), (await read()) > 0]).toEqual([0, true]);
  });
});

describe('a merchant', () => {
  it('that is new has its session without waiting for a tick', async () => {
    const cluster = await untouched();
    cluster.merchants = ['shop', 'tickets', 'kiosk'];
    void cluster.first.replica.merchantsChanged({ added: ['kiosk'], removed: [], changed: [] });
    await cluster.clock.advance(500);
    expect(cluster.session(0, 'kiosk').generation).toBeGreaterThan(0);
    expect(cluster.gateway.calls).toHaveLength(3);
  });
});

describe('a replica that has stopped', () => {
  it('asks nothing any more, and has no timer left', async () => {
    const cluster = await untouched();
    await cluster.first.stop();
    const timers = cluster.clock.pendingTasks;
    await cluster.clock.advance(HOUR);
    const late = cluster.stores[0]?.asked.filter(({ operation }) => operation !== 'publish');
    cluster.stores[0]?.announce({ kind: 'gap' });
    await cluster.clock.advance(HOUR);
    expect([timers, late, cluster.clock.pendingTasks]).toEqual([0, [], 0]);
  });
});

describe('a machine that slept for ten minutes', () => {
  it('has a session that is as old as the store says, and one whose clock alone was set has not', async () => {
    const left = async (isStoreAhead: boolean): Promise<number> => {
      const cluster = await Cluster.running();
      cluster.clockOf(0).aheadMs = 10 * MINUTE;
      if (isStoreAhead) cluster.storeClock.aheadMs = 10 * MINUTE;
      await cluster.clock.advance(5 * SECOND);
      return cluster.first.replica.held.leftOf(cluster.session()).expiresInMs;
    };
    // Of fifteen minutes, one and some seconds have passed in either case.
    expect(Math.round((await left(true)) / MINUTE)).toBe(4);
    expect(Math.round((await left(false)) / MINUTE)).toBe(14);
  });
});

describe('a replica that is told that its store refuses', () => {
  it('gives that as the reason until it is told that it is back', async () => {
    const cluster = await Cluster.running();
    const { replica } = cluster.first;
    replica.storeRefuses();
    expect(replica.facts('shop').store).toBe('store_refuses');
    await replica.resync();
    expect(replica.facts('shop').store).toBeUndefined();
  });
});

describe('a call that ends in a bug', () => {
  it('is reported, and is followed by another one', async () => {
    const cluster = new Cluster();
    const { gateway } = cluster;
    const createSession = gateway.createSession.bind(gateway);
    gateway.createSession = () => Promise.reject(bug);
    await cluster.clock.advance(SECOND);
    expect(cluster.first.events.of('broken')).toContainEqual(
      expect.objectContaining({ activity: 'renewal', error: bug }),
    );
    gateway.createSession = createSession;
    await cluster.clock.advance(MINUTE);
    expect(cluster.session().generation).toBeGreaterThan(0);
  });
});

describe('a merchant that is listed as due long before it is', () => {
  it('is read again, and neither claimed nor renewed', async () => {
    // With this chance, it is the second that is looked at otherwise.
    const cluster = await Cluster.running({ merchants: ['shop', 'stall'] });
    const [store] = cluster.stores as [FaultyStore];
    store.attach(altered('due', () => async () => ({ merchants: ['shop'] }))(cluster.store));
    const [claims, reads] = [store.asksFor('claim'), readsOf(cluster, 'shop')];
    await cluster.clock.advance(MINUTE);
    expect(store.asksFor('claim')).toBe(claims);
    expect(readsOf(cluster, 'shop')).toBeGreaterThan(reads + 5);
    expect(cluster.gateway.calls).toHaveLength(2);
  });
});
