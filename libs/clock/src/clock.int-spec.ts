import fc from 'fast-check';
import { FakeClock } from '#libs/testing';
import { SystemClock } from './clock.js';
import { Deadline } from './deadline.js';
import { formatDuration, parseDurationMs } from './duration.js';
import { instantFromEpochMs, parseHttpDate, plusMs, toRfc3339 } from './instant.js';

describe('durations', () => {
  it.each([
    ['500ms', 500],
    ['5s', 5_000],
    ['1.5s', 1_500],
    ['15m', 900_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['0s', 0],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });

  it.each(['', '5', 's', '-5s', '5 s', '5S', '1e3s', '0x5s', '5s5s', '5s\n', '.5s', '9999999999999s', '4000d'])(
    '%j is not a duration',
    (text) => {
      expect(parseDurationMs(text)).toBeUndefined();
    },
  );

  it('are written so that they read back as the same', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 1e9 }), (ms) => parseDurationMs(formatDuration(ms)) === ms));
  });
});

describe('instants', () => {
  const noon = instantFromEpochMs(Date.parse('2026-03-18T12:00:00.099Z'));

  it('are moments that a Date can hold, or nothing', () => {
    expect(() => instantFromEpochMs(Number.NaN)).toThrow(RangeError);
    expect(() => plusMs(noon, Number.MAX_VALUE)).toThrow(RangeError);
  });

  it('are written as RFC 3339 in UTC', () => {
    expect(toRfc3339(noon)).toBe('2026-03-18T12:00:00.099Z');
  });

  it('are read from an HTTP date', () => {
    expect(toRfc3339(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT') ?? noon)).toBe('1994-11-06T08:49:37.000Z');
  });

  it.each(['', 'now', '2026-03-18T12:00:00Z', 'Wed, 18 Mar 2026 12:00:00 +0000', 'Wed, 99 Mar 2026 12:00:00 GMT'])(
    'are not read from %j',
    (text) => {
      expect(parseHttpDate(text)).toBeUndefined();
    },
  );
});

describe('a deadline', () => {
  it('aborts when its time is up, and says so', async () => {
    const clock = new FakeClock();
    const deadline = new Deadline(clock, 1_000);
    await clock.advance(999);
    expect(deadline.signal.aborted).toBe(false);
    expect(deadline.remainingMs()).toBe(1);
    await clock.advance(1);
    expect([deadline.signal.aborted, deadline.expired]).toEqual([true, true]);
  });

  it('aborts with its parent, without having expired', () => {
    const parent = new AbortController();
    const deadline = new Deadline(new FakeClock(), 1_000, parent.signal);
    parent.abort('stop');
    expect([deadline.signal.aborted, deadline.signal.reason, deadline.expired]).toEqual([true, 'stop', false]);
  });

  it('is over at once when its parent is', () => {
    const clock = new FakeClock();
    const deadline = new Deadline(clock, 1_000, AbortSignal.abort());
    expect(deadline.signal.aborted).toBe(true);
    expect(clock.pendingTasks).toBe(0);
  });

  it('leaves neither timer nor abort behind when it is closed', async () => {
    const clock = new FakeClock();
    const parent = new AbortController();
    const deadline = new Deadline(clock, 1_000, parent.signal);
    deadline.close();
    parent.abort();
    await clock.advance(2_000);
    expect(clock.pendingTasks).toBe(0);
    expect(deadline.signal.aborted).toBe(false);
  });
});

describe('the system clock', () => {
  it('runs a task once its delay has passed, and not before', async () => {
    const clock = new SystemClock();
    const startedAt = clock.monotonicMs();
    await new Promise<void>((resolve) => void clock.schedule(20, resolve));
    expect(clock.monotonicMs() - startedAt).toBeGreaterThanOrEqual(20);
  });

  it('does not run a task at once when its delay is beyond what a timer can hold', async () => {
    const clock = new SystemClock();
    let ran = false;
    const task = clock.schedule(2 ** 31 + 1_000, () => (ran = true));
    await new Promise<void>((resolve) => void clock.schedule(5, resolve));
    task.cancel();
    expect(ran).toBe(false);
  });
});
