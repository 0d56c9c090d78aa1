import { SystemClock } from '#libs/clock';
import { type ClientKey, generateClientKey, importClientKey } from '#libs/jwe';
import type { Announcement } from '#libs/session';
import type { StoreHealthState } from './redis-health.js';
import { RedisSessionStore, type RedisSessionStoreOptions } from './redis-session-store.js';

/** One replica's store, with all that it has said and heard. */
export interface OpenedStore {
  readonly store: RedisSessionStore;
  readonly changes: readonly { readonly state: StoreHealthState; readonly detail: string }[];
  /** The changes in short: `answers`, or another state and why. */
  readonly said: () => readonly string[];
  readonly isUp: () => boolean;
  /** Resolves at the next report of that state, or at once when it was the last one. */
  readonly becomes: (state: StoreHealthState) => Promise<void>;
  readonly heard: readonly Announcement[];
}

type Choices = Pick<RedisSessionStoreOptions, 'connection'> & Partial<RedisSessionStoreOptions>;

/** What a test opens: it is closed after the test, the last one first. */
interface OpenedByTests {
  readonly open: (choices: Choices) => Promise<OpenedStore>;
  readonly started: <Fixture extends { stop: () => Promise<void> }>(starting: Promise<Fixture>) => Promise<Fixture>;
  readonly closeAfterTest: (close: () => unknown) => void;
}

/** For the specs of this folder, called once in each: stores with one key between them, on a real Redis. */
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
