import { plusMs } from '#libs/clock';
import { aRecordedFailure, aSession, FakeClock, RecordedEvents, someSettings } from '#libs/testing';
import { FailureBoard } from './failure-board.js';
import { HeldSessions } from './held-sessions.js';
import { MomentWatches } from './moment-watches.js';
import type { SessionStore } from './ports/session-store.js';
import { SessionSync, type SessionSyncContext } from './session-sync.js';

const stored = aRecordedFailure();
const later = aRecordedFailure({ at: plusMs(stored.at, 1_000) });

/**
 * A replica that reads a store in which the last attempt has failed, and hears something newer before the answer
 * arrives.
 */
class Overtaken {
  readonly clock = new FakeClock();
  readonly held = new HeldSessions(this.clock);
  readonly failures = new FailureBoard();
  readonly backOffs: number[] = [];
  whileReading = (): void => undefined;

  readonly sync = new SessionSync({
    clock: this.clock,
    held: this.held,
    failures: this.failures,
    watches: new MomentWatches(this.clock),
    events: new RecordedEvents(),
    merchants: { ids: () => ['shop'], settingsOf: () => someSettings(), gatewayIdOf: () => 'gateway' },
    renewer: {
      forgetHoldOff: () => undefined,
      isRenewing: () => true,
      noteBackOff: (_merchant: string, retryInMs: number) => this.backOffs.push(retryInMs),
    },
    reportedDeaths: { see: () => undefined },
    store: this.#store(),
    random: () => 0,
  } as unknown as SessionSyncContext);

  #store(): Partial<SessionStore> {
    return {
      onAnnouncement: () => () => undefined,
      read: () => {
        this.whileReading();
        const state = { merchant: 'shop', stored: { kind: 'absent' }, failure: stored, dueInMs: 7_000 } as const;
        return Promise.resolve({ states: [state], now: this.clock.now() });
      },
    };
  }
}

describe('a failure that was known when the store was asked', () => {
  it('does not come back over the session that has ended it', async () => {
    const overtaken = new Overtaken();
    overtaken.failures.note('shop', stored);
    overtaken.whileReading = () => void overtaken.held.adopt(aSession(), 0);
    await overtaken.sync.refresh('shop');
    expect(overtaken.failures.get('shop')).toBeUndefined();
    expect(overtaken.backOffs).toEqual([]);
  });

  it('does not take the place of a later one', async () => {
    const overtaken = new Overtaken();
    overtaken.failures.note('shop', stored);
    overtaken.whileReading = () => void overtaken.failures.note('shop', later);
    await overtaken.sync.refresh('shop');
    expect(overtaken.failures.get('shop')).toEqual(later);
    expect(overtaken.backOffs).toEqual([]);
  });

  it('is news where it was not known, with the pause that it brought', async () => {
    const overtaken = new Overtaken();
    await overtaken.sync.refresh('shop');
    expect(overtaken.failures.get('shop')).toEqual(stored);
    expect(overtaken.backOffs).toEqual([7_000]);
  });
});
