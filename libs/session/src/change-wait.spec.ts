import { aRecordedFailure, aSession, FakeClock } from '#libs/testing';
import { type AwaitedChange, ChangeWait } from './change-wait.js';
import { FailureBoard } from './failure-board.js';
import { HeldSessions } from './held-sessions.js';
import { MerchantListeners } from './merchant-listeners.js';

function waiting(awaited: Partial<AwaitedChange> = {}) {
  const held = new HeldSessions(new FakeClock());
  const failures = new FailureBoard();
  const abort = new AbortController();
  held.adopt(aSession({ generation: 10 }), 0);
  const start = (): ChangeWait =>
    new ChangeWait(held, failures, {
      merchant: 'shop',
      generation: 10,
      orFailure: true,
      signal: abort.signal,
      ...awaited,
    });
  return { held, failures, abort, start };
}

/** Whether it has ended by now. */
async function hasEnded(wait: ChangeWait): Promise<boolean> {
  const notYet = new Promise<false>((resolve) => setImmediate(() => resolve(false)));
  return Promise.race([wait.ended.then(() => true as const), notYet]);
}

describe('a wait for a change', () => {
  it('ends with a generation above the one that is known, and with no other', async () => {
    const { held, start } = waiting({ generation: 15 });
    const wait = start();
    expect(await hasEnded(wait)).toBe(false);
    held.adopt(aSession({ merchant: 'kiosk', generation: 99 }), 0);
    held.adopt(aSession({ generation: 15 }), 0);
    expect(await hasEnded(wait)).toBe(false);
    held.adopt(aSession({ generation: 16 }), 0);
    expect(await hasEnded(wait)).toBe(true);
  });

  it('is over at once when there is one already, or when nobody waits any more', async () => {
    expect(await hasEnded(waiting({ generation: 9 }).start())).toBe(true);
    const { abort, start } = waiting();
    abort.abort();
    expect(await hasEnded(start())).toBe(true);
  });

  it('ends when the one who waits gives up', async () => {
    const { abort, start } = waiting();
    const wait = start();
    abort.abort();
    expect(await hasEnded(wait)).toBe(true);
  });

  it('ends with a failure only where that was asked for', async () => {
    const { failures, start } = waiting();
    const wait = start();
    failures.note('shop', aRecordedFailure());
    expect(await hasEnded(wait)).toBe(true);
    const other = waiting({ orFailure: false });
    const patient = other.start();
    other.failures.note('shop', aRecordedFailure());
    expect(await hasEnded(patient)).toBe(false);
  });

  it('leaves no listener behind when it ends, however often that is', async () => {
    const { held, failures, abort, start } = waiting();
    const ends: string[] = [];
    const noted =
      <Args extends unknown[]>(name: string, subscribe: (...args: Args) => () => void) =>
      (...args: Args) => {
        const end = subscribe(...args);
        return () => {
          ends.push(name);
          end();
        };
      };
    held.onNewer = noted('newer', held.onNewer.bind(held));
    failures.onFailure = noted('failure', failures.onFailure.bind(failures));
    const removed: unknown[] = [];
    const remove = abort.signal.removeEventListener.bind(abort.signal);
    abort.signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      removed.push(args[0]);
      remove(...args);
    };
    const wait = start();
    wait.end();
    wait.end();
    expect(await hasEnded(wait)).toBe(true);
    expect(ends).toEqual(['newer', 'failure']);
    expect(removed).toEqual(['abort']);
  });
});

describe('listeners by merchant', () => {
  it('hear of their own merchant, each as long as it listens', () => {
    const listeners = new MerchantListeners<number>();
    const heard: string[] = [];
    const endFirst = listeners.add('shop', (subject) => heard.push(`first ${subject}`));
    listeners.add('shop', (subject) => heard.push(`second ${subject}`));
    listeners.add('kiosk', (subject) => heard.push(`kiosk ${subject}`));
    listeners.tell('shop', 1);
    endFirst();
    listeners.tell('shop', 2);
    listeners.tell('unknown', 3);
    expect(heard).toEqual(['first 1', 'second 1', 'second 2']);
  });

  it('are not ended by one that ended before them, however often it says so', () => {
    const listeners = new MerchantListeners<number>();
    const heard: number[] = [];
    const end = listeners.add('shop', () => undefined);
    end();
    listeners.add('shop', (subject) => heard.push(subject));
    end();
    listeners.tell('shop', 1);
    expect(heard).toEqual([1]);
  });

  it('may end while they are told, without disturbing the others', () => {
    const listeners = new MerchantListeners<number>();
    const heard: string[] = [];
    const end = listeners.add('shop', () => {
      heard.push('first');
      end();
    });
    listeners.add('shop', () => heard.push('second'));
    listeners.tell('shop', 1);
    listeners.tell('shop', 2);
    expect(heard).toEqual(['first', 'second', 'second']);
  });
});
