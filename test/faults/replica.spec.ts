import { msBetween } from '#libs/clock';
import type { SessionStore } from '#libs/session';
import { MemorySessionStore } from '#libs/store';
import { altered } from './altered-store.js';
import { Cluster, neverAborted } from './cluster.js';
import type { FaultyStore } from './faulty-store.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

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
    const cluster = new Cluster({ tickMs: HOUR });
    await cluster.clock.advance(MINUTE);
    cluster.emptyStore();
    for (const store of cluster.stores) store.announce({ kind: 'gap' });
    await cluster.clock.advance(10);
    cluster.addReplica();
    await cluster.clock.advance(10);
    expect(cluster.session(1).generation).toBe(cluster.session(0).generation);
    expect(cluster.gateway.calls).toHaveLength(1);
  });
});

describe('a store that has been shown to do everything', () => {
  it('is well, whatever it had refused before', async () => {
    const cluster = new Cluster({ latencyMs: 300 });
    cluster.gateway.answerAlways(refused);
    await cluster.clock.advance(100);
    const [store] = cluster.stores;
    if (store !== undefined) store.state = 'refuses';
    await cluster.clock.advance(300);
    if (store !== undefined) store.state = 'answers';
    await cluster.clock.advance(5 * SECOND);
    expect(cluster.first.events.of('store_recovered')).toEqual([]);
    await cluster.first.replica.resync();
    expect(cluster.first.events.of('store_recovered')).toHaveLength(1);
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
});

describe('a merchant whose configuration was changed', () => {
  const change = { added: [], removed: [], changed: ['shop'] };

  it('is tried at once after a failure, though it has a session that is fresh', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(MINUTE);
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
    const hide = (store: SessionStore, replica: number): SessionStore =>
      altered('read', (target) => async (wanted) => {
        const { states, now } = await target.read(wanted);
        if (!closed.has(replica)) return { states, now };
        const unopenable = states.map((state) =>
          state.stored.kind === 'session'
            ? { ...state, stored: { kind: 'unopenable' as const, generation: state.stored.session.generation } }
            : state,
        );
        return { states: unopenable, now };
      })(store);
    const cluster = new Cluster({ wrapStore: hide });
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
    const cluster = new Cluster({ wrapStore });
    await cluster.clock.advance(MINUTE);
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
