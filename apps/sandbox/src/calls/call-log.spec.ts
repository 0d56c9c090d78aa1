import { FakeClock } from '#libs/testing';
import { CallLog } from './call-log.js';

const all = (): boolean => true;

describe('the log of calls', () => {
  const start = { operation: 'authorize', requestId: 'r', serviceCode: 'a' } as const;

  it('measures a call on the monotonic clock, to the first end only', async () => {
    const clock = new FakeClock();
    const call = new CallLog(clock, 10).begin(start);
    await clock.advance(250);
    clock.jumpWall(-3_600_000);
    call.end({ outcome: 'success', httpStatus: 200 });
    await clock.advance(100);
    call.end({ outcome: 'disconnected' });
    expect(call.record).toMatchObject({ outcome: 'success', httpStatus: 200, durationMs: 250 });
  });

  it('counts what is in flight of the same operation and service code only', () => {
    const log = new CallLog(new FakeClock(), 10);
    const first = log.begin(start);
    log.begin({ ...start, serviceCode: 'b' });
    log.begin({ ...start, operation: 'echo' });
    expect(log.begin(start).record.inFlight).toBe(2);
    first.end({ outcome: 'success' });
    expect(log.begin(start).record.inFlight).toBe(2);
    expect(log.inFlight).toBe(4);
  });

  it('keeps the newest calls and the number of all, and knows calls in flight that it has dropped', () => {
    const log = new CallLog(new FakeClock(), 10);
    for (let count = 0; count < 100; count += 1) log.begin(start);
    const kept = log.select(all);
    expect(kept.length).toBeGreaterThanOrEqual(10);
    expect(kept.length).toBeLessThanOrEqual(20);
    expect(kept.at(-1)?.sequence).toBe(100);
    expect([log.total, log.inFlight]).toEqual([100, 100]);
  });
});
