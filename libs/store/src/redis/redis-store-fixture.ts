import { SystemClock } from '#libs/clock';
import { type ClientKey, generateClientKey, importClientKey } from '#libs/jwe';
import type { Announcement } from '#libs/session';
import { KeysInRedis } from './redis-keys-fixture.js';
import type { RedisTimeouts } from './connection-profile.js';
import type { StoreHealthState } from './redis-health.js';
import { RedisSessionStore, type RedisSessionStoreOptions } from './redis-session-store.js';

/** One replica's store, with everything that it has reported and heard. */
export interface OpenedStore {
  readonly store: RedisSessionStore;
  readonly changes: readonly { readonly state: StoreHealthState; readonly detail: string }[];
  /** The changes in short: `answers`, or another state and why. */
  readonly said: () => readonly string[];
  readonly isUp: () => boolean;
  /** Resolves at the next report of that state, or at once if it was the last one reported. */
  readonly becomes: (state: StoreHealthState) => Promise<void>;
  readonly heard: readonly Announcement[];
}

type Choices = Pick<RedisSessionStoreOptions, 'connection'> & Partial<RedisSessionStoreOptions>;

/**
 * Short enough to wait for. Any command of such a store may be given up on a busy machine, and its state change for it:
 * a test holds Redis or the network, and asks of it only that commands fail, and that it answers again some time later.
 */
export const IMPATIENT = { connectMs: 1_000, commandMs: 500, silenceMs: 1_000 };

/** What a test opens: it is closed after the test, in reverse order. */
interface OpenedByTests {
  readonly open: (choices: Choices) => Promise<OpenedStore>;
  readonly started: <Fixture extends { stop: () => Promise<void> }>(starting: Promise<Fixture>) => Promise<Fixture>;
  readonly closeAfterTest: (close: () => unknown) => void;
}

/**
 * For the specs of this folder, called once in each: stores that share one key, on a real Redis.
 * @param timeouts of each store whose opening chooses no others; this fixture is not a spec, so it is given them
 */
export function openedByTests(timeouts: Partial<RedisTimeouts>): OpenedByTests {
  const closers: (() => unknown)[] = [];
  let key: ClientKey;
  beforeAll(async () => {
    key = await importClientKey((await generateClientKey()).privateJwk);
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  return {
    closeAfterTest: (close) => closers.push(close),
    started: async (starting) => {
      const fixture = await starting;
      closers.push(() => fixture.stop());
      return fixture;
    },
    open: async (choices) => {
      const opened = await openStore({
        keysOf: () => [key],
        ...choices,
        timeouts: { ...timeouts, ...choices.timeouts },
      });
      closers.push(() => opened.store.close());
      return opened;
    },
  };
}

/** What a test has on the shared server: a key prefix that no other test has, and a store opened with it. */
export interface FreshStore extends OpenedStore {
  readonly keys: KeysInRedis;
  /** Another replica's store over the same keys. */
  readonly another: (choices?: Partial<RedisSessionStoreOptions>) => Promise<OpenedStore>;
}

interface TestServer {
  readonly address: { readonly host: string; readonly port: number };
  readonly stop: () => Promise<void>;
}

/** What the spec starts and chooses for all of its tests. */
interface SharedServer {
  readonly start: () => Promise<TestServer>;
  readonly timeouts: Partial<RedisTimeouts>;
}

/**
 * For the specs of this folder, called once in each: one Redis for the whole file, stopped after it.
 * @returns a function with which each test opens its own store, over its own keys
 */
export function serverWithStores(name: string, { start, timeouts }: SharedServer): () => Promise<FreshStore> {
  const { open, closeAfterTest } = openedByTests(timeouts);
  let redis: TestServer;
  let prefixes = 0;
  beforeAll(async () => {
    redis = await start();
  });
  afterAll(() => redis.stop());
  return async () => {
    const keyPrefix = `${name}-${(prefixes += 1)}`;
    const keys = new KeysInRedis(redis.address.port, keyPrefix);
    closeAfterTest(() => keys.close());
    const connection = { kind: 'single', address: redis.address, database: 0 } as const;
    const another: FreshStore['another'] = (choices) => open({ connection, keyPrefix, ...choices });
    return { ...(await another()), keys, another };
  };
}

async function openStore(choices: Choices & Pick<RedisSessionStoreOptions, 'keysOf'>): Promise<OpenedStore> {
  const changes: { readonly state: StoreHealthState; readonly detail: string }[] = [];
  const heard: Announcement[] = [];
  const waiting = new Set<() => void>();
  const store = await RedisSessionStore.open({
    keyPrefix: 'broker',
    clock: new SystemClock(),
    onStateChange: (state, detail) => {
      changes.push({ state, detail });
      for (const resolve of waiting) resolve();
      waiting.clear();
    },
    ...choices,
  });
  store.onAnnouncement((announcement) => heard.push(announcement));
  return {
    store,
    changes,
    said: () => changes.map(({ state, detail }) => (state === 'answers' ? state : `${state}: ${detail}`)),
    isUp: () => changes.at(-1)?.state === 'answers',
    becomes: async (wanted) => {
      while (changes.at(-1)?.state !== wanted) await new Promise<void>((resolve) => waiting.add(resolve));
    },
    heard,
  };
}
