import { SystemClock } from '#libs/clock';
import { type ClientKey, generateClientKey, importClientKey } from '#libs/jwe';
import type { Announcement } from '#libs/session';
import { KeysInRedis } from './redis-keys-fixture.js';
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

/** A busy machine may keep a command waiting: only a test of how soon one is given up chooses other time-outs. */
export const PATIENT_TIMEOUTS = { connectMs: 10_000, commandMs: 30_000, silenceMs: 30_000 };
/** Short enough to wait for, and long enough for a Redis that answers to a busy machine. */
export const SHORT_TIMEOUTS = { connectMs: 3_000, commandMs: 3_000, silenceMs: 5_000 };

/** What a test opens: it is closed after the test, in reverse order. */
interface OpenedByTests {
  readonly open: (choices: Choices) => Promise<OpenedStore>;
  readonly started: <Fixture extends { stop: () => Promise<void> }>(starting: Promise<Fixture>) => Promise<Fixture>;
  readonly closeAfterTest: (close: () => unknown) => void;
}

/** For the specs of this folder, called once in each: stores that share one key, on a real Redis. */
export function openedByTests(): OpenedByTests {
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
      const opened = await openStore({ keysOf: () => [key], ...choices });
      closers.push(() => opened.store.close());
      return opened;
    },
  };
}

/** What a test has on the shared server: a key prefix that no other test has, and a store opened with it. */
interface FreshStore extends OpenedStore {
  readonly keys: KeysInRedis;
  /** Another replica's store over the same keys. */
  readonly another: () => Promise<OpenedStore>;
}

/** A test's server: this fixture is not a spec, so it is given the one that the spec started. */
interface TestServer {
  readonly address: { readonly host: string; readonly port: number };
  readonly stop: () => Promise<void>;
}

/**
 * For the specs of this folder, called once in each: one Redis for the whole file, stopped after it.
 * @returns a function with which each test opens its own store, over its own keys
 */
export function serverWithStores(name: string, start: () => Promise<TestServer>): () => Promise<FreshStore> {
  const { open, closeAfterTest } = openedByTests();
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
    const another = (): Promise<OpenedStore> => open({ connection, keyPrefix });
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
    timeouts: { ...PATIENT_TIMEOUTS, ...choices.timeouts },
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
