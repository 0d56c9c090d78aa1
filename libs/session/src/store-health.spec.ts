import { BrokerError } from '#libs/errors';
import { FakeClock, RecordedEvents } from '#libs/testing';
import { StoreHealth } from './store-health.js';

const silent = new BrokerError('store_unavailable');
const refusing = new BrokerError('store_refused', { detail: 'NOPERM' });
const broken = new TypeError('a bug of ours');

/** A store that answers each question with its own name, or fails. */
function observed() {
  const clock = new FakeClock();
  const events = new RecordedEvents();
  const scripted: { failure: unknown } = { failure: undefined };
  const health = new StoreHealth(events, clock, 5_000);
  const ask = (operation: string): Promise<string> =>
    health.watch(operation, async () => {
      await Promise.resolve();
      if (scripted.failure !== undefined) throw scripted.failure as Error;
      return `answer to ${operation}`;
    });
  return { clock, events, scripted, health, ask };
}

describe('what is the matter with the store', () => {
  it('is nothing while it answers, and a silence until it answers anything', async () => {
    const { scripted, health, ask } = observed();
    await ask('read').catch(() => undefined);
    expect(health.trouble).toBeUndefined();
    scripted.failure = silent;
    await ask('claim').catch(() => undefined);
    expect(health.trouble).toBe('store_silent');
    scripted.failure = undefined;
    await ask('read').catch(() => undefined);
    expect(health.trouble).toBeUndefined();
  });

  it('is a refusal until what was refused is done, whatever else is, and a silence that comes meanwhile', async () => {
    const { scripted, health, ask } = observed();
    const troubles: unknown[] = [];
    for (const [failure, operation] of [
      [refusing, 'claim'],
      [undefined, 'read'],
      [silent, 'read'],
      [undefined, 'read'],
      [undefined, 'claim'],
    ] as const) {
      scripted.failure = failure;
      await ask(operation).catch(() => undefined);
      troubles.push(health.trouble);
    }
    expect(troubles).toEqual(['store_refuses', 'store_refuses', 'store_silent', 'store_refuses', undefined]);
  });
});

describe('the store with a witness', () => {
  it('passes the answer on, and reports what failed by the name of the operation', async () => {
    const { events, scripted, ask } = observed();
    await expect(ask('claim')).resolves.toBe('answer to claim');
    scripted.failure = silent;
    await expect(ask('publish')).rejects.toBe(silent);
    expect(events.all).toEqual([{ event: 'store_failed', operation: 'publish', error: silent }]);
  });

  it.each([
    ['silence', silent],
    ['a refusal', refusing],
  ])('reports each failure, and once that the store is back after %s', async (_name, failure) => {
    const { events, scripted, ask } = observed();
    scripted.failure = failure;
    await expect(ask('due')).rejects.toBe(failure);
    await expect(ask('due')).rejects.toBe(failure);
    scripted.failure = undefined;
    await ask('due');
    await ask('due');
    expect(events.all.map(({ event }) => event)).toEqual(['store_failed', 'store_failed', 'store_recovered']);
    scripted.failure = failure;
    await expect(ask('due')).rejects.toBe(failure);
    scripted.failure = undefined;
    await ask('due');
    expect(events.of('store_recovered')).toHaveLength(2);
  });

  it('is back from a silence with any answer, and from a refusal when what was refused was done', async () => {
    const { events, scripted, ask } = observed();
    scripted.failure = silent;
    await expect(ask('due')).rejects.toBe(silent);
    scripted.failure = undefined;
    await ask('enrol');
    expect(events.of('store_recovered')).toHaveLength(1);
    scripted.failure = refusing;
    await expect(ask('claim')).rejects.toBe(refusing);
    scripted.failure = undefined;
    await ask('enrol');
    expect(events.of('store_recovered')).toHaveLength(1);
    await ask('claim');
    expect(events.of('store_recovered')).toHaveLength(2);
  });

  it('is well once it was asked for everything, although nobody asks again for what was refused', async () => {
    const { events, scripted, health, ask } = observed();
    health.noteWell();
    expect(events.all).toEqual([]);
    scripted.failure = refusing;
    await expect(ask('claim')).rejects.toBe(refusing);
    health.noteWell();
    health.noteWell();
    expect(events.of('store_recovered')).toHaveLength(1);
  });

  it('refuses once it was found to, until it was asked for everything, whatever else it does meanwhile', async () => {
    const { events, scripted, health, ask } = observed();
    health.noteRefusal();
    expect(health.trouble).toBe('store_refuses');
    await ask('due');
    await ask('claim');
    expect(health.trouble).toBe('store_refuses');
    scripted.failure = silent;
    await expect(ask('due')).rejects.toBe(silent);
    expect(health.trouble).toBe('store_silent');
    scripted.failure = undefined;
    await ask('due');
    expect(health.trouble).toBe('store_refuses');
    health.noteWell();
    expect(health.trouble).toBeUndefined();
    expect(events.of('store_recovered')).toHaveLength(1);
  });

  it('gives the other replicas their time with the first answer after an outage, and not after a lost reply', async () => {
    const { clock, scripted, health, ask } = observed();
    expect(health.graceLeftMs).toBe(5_000);
    await health.readAll(async () => {});
    await clock.advance(5_000);
    scripted.failure = silent;
    await expect(ask('due')).rejects.toBe(silent);
    scripted.failure = undefined;
    clock.freeze(999);
    await ask('due');
    expect(health.graceLeftMs).toBe(0);
    scripted.failure = silent;
    await expect(ask('due')).rejects.toBe(silent);
    clock.freeze(1_000);
    await expect(ask('due')).rejects.toBe(silent);
    scripted.failure = undefined;
    await ask('due');
    clock.freeze(1_000);
    await ask('due');
    expect(health.graceLeftMs).toBe(4_000);
  });

  it('gives them that time only once everything was read, however long that takes, and whatever is lost meanwhile', async () => {
    const { clock, scripted, health, ask } = observed();
    await health.readAll(async () => {});
    scripted.failure = silent;
    await expect(ask('due')).rejects.toBe(silent);
    health.forget();
    await clock.advance(1_000);
    scripted.failure = undefined;
    await health.readAll(async () => {
      await ask('read');
      await clock.advance(10_000);
      expect([health.isRead, health.graceLeftMs]).toEqual([false, 5_000]);
      health.forget();
    });
    expect([health.isRead, health.graceLeftMs]).toEqual([false, 5_000]);
    await health.readAll(async () => {});
    await clock.advance(1_000);
    expect([health.isRead, health.graceLeftMs]).toEqual([true, 4_000]);
  });

  it('passes a bug on, and reports nothing of the store', async () => {
    const { events, scripted, ask } = observed();
    scripted.failure = broken;
    await expect(ask('due')).rejects.toBe(broken);
    scripted.failure = undefined;
    await ask('due');
    expect(events.all).toEqual([]);
  });
});
