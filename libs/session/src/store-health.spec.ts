import { BrokerError } from '#libs/errors';
import { FakeClock, RecordedEvents } from '#libs/testing';
import { isStoreOutage, StoreHealth } from './store-health.js';

const silent = new BrokerError('store_unavailable');
const refuses = new BrokerError('store_refused', { detail: 'NOPERM' });
const GRACE_MS = 5_000;

/** A store that is asked, and answers or fails as the test says. */
class Asked {
  readonly clock = new FakeClock();
  readonly events = new RecordedEvents();
  readonly health = new StoreHealth(this.events, this.clock, GRACE_MS);

  /** @returns the answer, or what it fails with */
  ask(operation: string, failure?: Error): Promise<unknown> {
    const answer = failure === undefined ? Promise.resolve(`answer to ${operation}`) : Promise.reject(failure);
    return this.health.watch(operation, () => answer).catch((error: unknown) => error);
  }

  get recoveries(): number {
    return this.events.of('store_recovered').length;
  }
}

/** What is asked or found, in order, with what is the matter then, and how often the store was said to be back. */
type Course = readonly (readonly [
  does: readonly [string, Error?] | 'well' | 'refuses',
  trouble: string | undefined,
  recoveries: number,
])[];

it('an outage is a silence or a refusal, and no other error', () => {
  const others = [new BrokerError('session_unavailable'), new TypeError('a bug of ours')];
  expect([silent, refuses, ...others].map(isStoreOutage)).toEqual([true, true, false, false]);
});

describe('what is the matter with the store', () => {
  const courses: Readonly<Record<string, Course>> = {
    'is nothing while it answers': [
      [['read'], undefined, 0],
      ['well', undefined, 0],
    ],
    'is a silence until it answers anything': [
      [['claim', silent], 'store_silent', 0],
      [['claim', silent], 'store_silent', 0],
      [['read'], undefined, 1],
      [['read'], undefined, 1],
      [['claim', silent], 'store_silent', 1],
      [['read'], undefined, 2],
    ],
    'is a refusal until what was refused is done, whatever else is, and a silence that comes meanwhile': [
      [['claim', refuses], 'store_refuses', 0],
      [['read'], 'store_refuses', 0],
      [['read', silent], 'store_silent', 0],
      [['read'], 'store_refuses', 0],
      [['claim'], undefined, 1],
      [['claim', refuses], 'store_refuses', 1],
      [['claim'], undefined, 2],
    ],
    'is no refusal of what the success of another question shows to work': [
      [['report', refuses], 'store_refuses', 0],
      [['due'], 'store_refuses', 0],
      [['claim'], undefined, 1],
      [['announce', refuses], 'store_refuses', 1],
      [['claim'], 'store_refuses', 1],
      [['publish'], undefined, 2],
    ],
    'is no refusal once it was asked for everything, although nobody asks again for what was refused': [
      [['claim', refuses], 'store_refuses', 0],
      ['well', undefined, 1],
      ['well', undefined, 1],
    ],
    'is a refusal once it was found to refuse, until it was asked for everything, whatever else it does meanwhile': [
      ['refuses', 'store_refuses', 0],
      [['due'], 'store_refuses', 0],
      [['claim'], 'store_refuses', 0],
      [['due', silent], 'store_silent', 0],
      [['due'], 'store_refuses', 0],
      ['well', undefined, 1],
    ],
    'is not a bug of ours': [
      [['due', new TypeError('a bug of ours')], undefined, 0],
      [['due'], undefined, 0],
    ],
  };

  it.each(Object.entries(courses))('%s', async (_name, course) => {
    const asked = new Asked();
    for (const [does, trouble, recoveries] of course) {
      if (does === 'well') asked.health.noteWell();
      else if (does === 'refuses') asked.health.noteRefusal();
      else expect(await asked.ask(...does)).toBe(does[1] ?? `answer to ${does[0]}`);
      expect([does, asked.health.trouble, asked.recoveries]).toEqual([does, trouble, recoveries]);
    }
    const failed = course.flatMap(([does]) => {
      const [operation, error] = Array.isArray(does) ? (does as [string, Error?]) : [];
      return error instanceof BrokerError ? [{ event: 'store_failed', operation, error }] : [];
    });
    expect(asked.events.of('store_failed')).toEqual(failed);
  });
});

describe('the time that other replicas have after this one has come to the store', () => {
  it('begins with the first answer after an outage, and not after a lost reply', async () => {
    const asked = new Asked();
    const { clock, health } = asked;
    expect(health.graceLeftMs).toBe(GRACE_MS);
    await health.readAll(async () => {});
    await clock.advance(GRACE_MS);
    await asked.ask('due', silent);
    clock.freeze(999);
    await asked.ask('due');
    expect(health.graceLeftMs).toBe(0);
    await asked.ask('due', silent);
    clock.freeze(1_000);
    await asked.ask('due', silent);
    await asked.ask('due');
    clock.freeze(1_000);
    await asked.ask('due');
    expect(health.graceLeftMs).toBe(4_000);
  });

  it('begins only once everything was read, however long that takes, and whatever is lost meanwhile', async () => {
    const asked = new Asked();
    const { clock, health } = asked;
    const state = (): unknown => [health.isRead, health.graceLeftMs];
    await health.readAll(async () => {});
    await asked.ask('due', silent);
    health.forget();
    await clock.advance(1_000);
    await health.readAll(async () => {
      await asked.ask('read');
      await clock.advance(10_000);
      expect(state()).toEqual([false, GRACE_MS]);
      health.forget();
    });
    expect(state()).toEqual([false, GRACE_MS]);
    await health.readAll(async () => {});
    await clock.advance(1_000);
    expect(state()).toEqual([true, 4_000]);
  });
});
