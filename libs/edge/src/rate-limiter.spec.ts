import fc from 'fast-check';
import { instantFromEpochMs, VirtualClock } from '#libs/clock';
import { FakeClock } from '#libs/testing';
import { FloodAlarm, type TrustedConnection } from './flood-alarm.js';
import { RateLimiter } from './rate-limiter.js';

describe('RateLimiter', () => {
  it('lets a burst through, then as many as its rate, and says when the next one may come', async () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter({ perSecond: 2, burst: 3 }, clock);
    expect([1, 2, 3, 4].map(() => limiter.take('a'))).toEqual([0, 0, 0, 500]);
    await clock.advance(499);
    expect(limiter.take('a')).toBe(1);
    await clock.advance(1);
    expect([limiter.take('a'), limiter.take('a')]).toEqual([0, 500]);
  });

  it('counts each caller alone', () => {
    const limiter = new RateLimiter({ perSecond: 1, burst: 1 }, new FakeClock());
    expect([limiter.take('a'), limiter.take('b'), limiter.take('a')]).toEqual([0, 0, 1_000]);
  });

  it('never lets more through than burst and rate allow, whenever they come', async () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 100 });
    await fc.assert(
      fc.asyncProperty(pauses, async (pausesMs) => {
        const clock = new FakeClock();
        const limiter = new RateLimiter({ perSecond: 10, burst: 5 }, clock);
        let taken = 0;
        for (const pauseMs of pausesMs) {
          await clock.advance(pauseMs);
          taken += limiter.take('a') === 0 ? 1 : 0;
          expect(taken).toBeLessThanOrEqual(5 + (clock.monotonicMs() / 1_000) * 10 + 1e-6);
        }
      }),
    );
  });
});

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
