import { instantFromEpochMs, VirtualClock } from '#libs/clock';
import { FloodAlarm, type TrustedConnection } from './flood-alarm.js';

class Connection implements TrustedConnection {
  isTrusted = true;

  readInTurns(): void {
    this.isTrusted = false;
  }
}

describe('an alarm about requests sent in advance', () => {
  let clock: VirtualClock;
  let calms: number;
  let alarm: FloodAlarm;

  beforeEach(() => {
    clock = new VirtualClock(instantFromEpochMs(0));
    calms = 0;
    alarm = new FloodAlarm({ clock, onCalm: () => (calms += 1) });
  });

  function opened(): Connection {
    const connection = new Connection();
    alarm.trust(connection);
    return connection;
  }

  it('has every connection read with care that is open, but none that is gone', () => {
    const [open, gone] = [opened(), opened()];
    alarm.forget(gone);
    alarm.raise();
    expect([open.isTrusted, gone.isTrusted]).toEqual([false, true]);
  });

  it('lasts until half a minute after the last sight', async () => {
    alarm.raise();
    await clock.advance(20_000);
    alarm.raise();
    await clock.advance(29_999);
    expect(opened().isTrusted).toBe(false);
    await clock.advance(1);
    expect(opened().isTrusted).toBe(true);
  });

  it('says that it is calm again after a flood, once', async () => {
    for (let sight = 0; sight < 1_000; sight += 1) alarm.raise();
    await clock.advance(29_999);
    expect(calms).toBe(0);
    await clock.advance(1);
    expect(calms).toBe(1);
    alarm.raise();
    await clock.advance(60_000);
    expect(calms).toBe(1);
  });

  it('says nothing after a few requests in advance', async () => {
    for (let sight = 0; sight < 999; sight += 1) alarm.raise();
    await clock.advance(60_000);
    expect(calms).toBe(0);
  });
});
