import { BrokerError } from '#libs/errors';
import { aClaim, aDeathReport, anOffer, aPublication, FakeClock, RecordedEvents } from '#libs/testing';
import { ObservedStore } from './observed-store.js';
import type { Announcement, Lease, LeaseRelease, SessionStore } from './ports/session-store.js';

const silent = new BrokerError('store_unavailable');
const refusing = new BrokerError('store_refused', { detail: 'NOPERM' });
const broken = new TypeError('a bug of ours');

const lease: Lease = { merchant: 'shop', owner: 'replica-1', fence: 4, remainingMs: 10_000, failures: 0 };
const release: LeaseRelease = { called: true, nextDueInMs: 1_000 };

/** Every operation, and what it passes on. */
const questions = {
  enrol: [(store) => store.enrol(['shop']), [['shop']]],
  seat: [(store) => store.seat('replica-1'), ['replica-1']],
  due: [(store) => store.due(7), [7]],
  claim: [(store) => store.claim(aClaim()), [aClaim()]],
  publish: [(store) => store.publish(lease, aPublication()), [lease, aPublication()]],
  offer: [(store) => store.offer(anOffer()), [anOffer()]],
  release: [(store) => store.release(lease, release), [lease, release]],
  condemn: [(store) => store.condemn('shop', 4), ['shop', 4]],
  reportDead: [(store) => store.reportDead('shop', aDeathReport()), ['shop', aDeathReport()]],
  read: [(store) => store.read([{ merchant: 'shop', known: 3 }]), [[{ merchant: 'shop', known: 3 }]]],
} satisfies Record<string, readonly [(store: SessionStore) => Promise<unknown>, readonly unknown[]]>;

/** Answers each operation with its own name, or fails. */
class ScriptedStore {
  failure: unknown;
  readonly asked: (readonly [operation: string, parameters: readonly unknown[]])[] = [];
  readonly listeners: ((announcement: Announcement) => void)[] = [];
  readonly store = new Proxy({} as SessionStore, { get: (_none, operation) => this.#member(String(operation)) });
  ended = 0;

  #member(operation: string): unknown {
    if (operation === 'onAnnouncement') {
      return (listener: (announcement: Announcement) => void) => {
        this.listeners.push(listener);
        return () => void (this.ended += 1);
      };
    }
    return async (...parameters: readonly unknown[]): Promise<unknown> => {
      this.asked.push([operation, parameters]);
      await Promise.resolve();
      if (this.failure !== undefined) throw this.failure as Error;
      return `answer to ${operation}`;
    };
  }
}

function observed() {
  const clock = new FakeClock();
  const events = new RecordedEvents();
  const scripted = new ScriptedStore();
  let returns = 0;
  const store = new ObservedStore(scripted.store, { events, clock, onReturn: () => (returns += 1) });
  return { clock, events, scripted, store, returns: () => returns };
}

describe('what is the matter with the store', () => {
  const claim = (store: SessionStore): Promise<unknown> => store.claim(aClaim()).catch(() => undefined);
  const read = (store: SessionStore): Promise<unknown> => store.read([]).catch(() => undefined);

  it('is nothing while it answers, and a silence until it answers anything', async () => {
    const { scripted, store } = observed();
    await read(store);
    expect(store.trouble).toBeUndefined();
    scripted.failure = silent;
    await claim(store);
    expect(store.trouble).toBe('silent');
    scripted.failure = undefined;
    await read(store);
    expect(store.trouble).toBeUndefined();
  });

  it('is a refusal until what was refused is done, whatever else is, and a silence that comes meanwhile', async () => {
    const { scripted, store } = observed();
    const troubles: unknown[] = [];
    for (const [failure, ask] of [
      [refusing, claim],
      [undefined, read],
      [silent, read],
      [undefined, read],
      [undefined, claim],
    ] as const) {
      scripted.failure = failure;
      await ask(store);
      troubles.push(store.trouble);
    }
    expect(troubles).toEqual(['refuses', 'refuses', 'silent', 'refuses', undefined]);
  });
});

describe('the store with a witness', () => {
  it.each(Object.entries(questions))('passes %s on, and its answer back', async (operation, [ask, parameters]) => {
    const { events, scripted, store } = observed();
    await expect(ask(store)).resolves.toBe(`answer to ${operation}`);
    expect(scripted.asked).toEqual([[operation, parameters]]);
    expect(events.all).toEqual([]);
  });

  it.each(Object.entries(questions))('reports that %s failed, by its name', async (operation, [ask]) => {
    const { events, scripted, store } = observed();
    scripted.failure = silent;
    await expect(ask(store)).rejects.toBe(silent);
    expect(events.all).toEqual([{ event: 'store_failed', operation, error: silent }]);
  });

  it.each([
    ['silence', silent],
    ['a refusal', refusing],
  ])('reports each failure, and once that the store is back after %s', async (_name, failure) => {
    const { events, scripted, store } = observed();
    scripted.failure = failure;
    await expect(store.due(1)).rejects.toBe(failure);
    await expect(store.due(1)).rejects.toBe(failure);
    scripted.failure = undefined;
    await store.due(1);
    await store.due(1);
    expect(events.all.map(({ event }) => event)).toEqual(['store_failed', 'store_failed', 'store_recovered']);
    scripted.failure = failure;
    await expect(store.due(1)).rejects.toBe(failure);
    scripted.failure = undefined;
    await store.due(1);
    expect(events.of('store_recovered')).toHaveLength(2);
  });

  it('is back from a silence with any answer, and from a refusal when what was refused was done', async () => {
    const { events, scripted, store } = observed();
    scripted.failure = silent;
    await expect(store.due(1)).rejects.toBe(silent);
    scripted.failure = undefined;
    await store.enrol(['shop']);
    expect(events.of('store_recovered')).toHaveLength(1);
    scripted.failure = refusing;
    await expect(store.claim(aClaim())).rejects.toBe(refusing);
    scripted.failure = undefined;
    await store.enrol(['shop']);
    expect(events.of('store_recovered')).toHaveLength(1);
    await store.claim(aClaim());
    expect(events.of('store_recovered')).toHaveLength(2);
  });

  it('is well once it was asked for everything, although nobody asks again for what was refused', async () => {
    const { events, scripted, store } = observed();
    store.noteWell();
    expect(events.all).toEqual([]);
    scripted.failure = refusing;
    await expect(store.claim(aClaim())).rejects.toBe(refusing);
    store.noteWell();
    store.noteWell();
    expect(events.of('store_recovered')).toHaveLength(1);
  });

  it('refuses once it was found to, until it was asked for everything, whatever else it does meanwhile', async () => {
    const { events, scripted, store } = observed();
    store.noteRefusal();
    expect(store.trouble).toBe('refuses');
    await store.due(1);
    await store.claim(aClaim());
    expect(store.trouble).toBe('refuses');
    scripted.failure = silent;
    await expect(store.due(1)).rejects.toBe(silent);
    expect(store.trouble).toBe('silent');
    scripted.failure = undefined;
    await store.due(1);
    expect(store.trouble).toBe('refuses');
    store.noteWell();
    expect(store.trouble).toBeUndefined();
    expect(events.of('store_recovered')).toHaveLength(1);
  });

  it('tells of its return once, with the first answer after an outage, and not after a lost reply', async () => {
    const { clock, scripted, store, returns } = observed();
    scripted.failure = silent;
    await expect(store.due(1)).rejects.toBe(silent);
    scripted.failure = undefined;
    clock.freeze(999);
    await store.due(1);
    expect(returns()).toBe(0);
    scripted.failure = silent;
    await expect(store.due(1)).rejects.toBe(silent);
    clock.freeze(1_000);
    await expect(store.due(1)).rejects.toBe(silent);
    scripted.failure = undefined;
    await store.due(1);
    await store.due(1);
    expect(returns()).toBe(1);
  });

  it('passes a bug on, and reports nothing of the store', async () => {
    const { events, scripted, store } = observed();
    scripted.failure = broken;
    await expect(store.due(1)).rejects.toBe(broken);
    scripted.failure = undefined;
    await store.due(1);
    expect(events.all).toEqual([]);
  });

  /** Operations one after the other, each of which fails as given. */
  async function askInTurn(failures: readonly unknown[], everyMs = 2_000) {
    const { clock, scripted, store } = observed();
    for (const failure of failures) {
      scripted.failure = failure;
      await store.due(1).catch(() => undefined);
      clock.freeze(everyMs);
    }
    return { clock, store };
  }

  it('knows when the store is silent for good', async () => {
    const { store } = await askInTurn([silent, silent, silent]);
    expect(store.silence.isLasting).toBe(true);
  });

  it.each([
    ['an answer', undefined],
    ['a refusal', refusing],
  ])('takes %s for the end of the silence', async (_name, failure) => {
    const { store } = await askInTurn([silent, failure, silent, silent]);
    expect(store.silence.isLasting).toBe(false);
  });

  it('takes a bug neither for silence nor for its end', async () => {
    expect((await askInTurn([silent, broken, silent, silent], 1_500)).store.silence.isLasting).toBe(true);
    expect((await askInTurn([silent, broken, silent])).store.silence.isLasting).toBe(false);
  });

  it('counts the silence from the question, not from its failure', async () => {
    const { clock, scripted, store } = observed();
    scripted.failure = silent;
    for (let question = 0; question < 3; question += 1) {
      const failed = expect(store.due(1)).rejects.toBe(silent);
      clock.freeze(1_700);
      await failed;
    }
    expect([clock.monotonicMs(), store.silence.isLasting]).toEqual([5_100, true]);
  });

  it('passes announcements on until the subscription is ended', () => {
    const { scripted, store } = observed();
    const heard: Announcement[] = [];
    const end = store.onAnnouncement((announcement) => heard.push(announcement));
    scripted.listeners[0]?.({ kind: 'gap' });
    expect(heard).toEqual([{ kind: 'gap' }]);
    expect(scripted.ended).toBe(0);
    end();
    expect(scripted.ended).toBe(1);
  });

  it('closes the store, and reports nothing of how that went', async () => {
    const { events, scripted, store } = observed();
    scripted.failure = silent;
    await expect(store.close()).rejects.toBe(silent);
    expect(scripted.asked).toEqual([['close', []]]);
    expect(events.all).toEqual([]);
  });
});
