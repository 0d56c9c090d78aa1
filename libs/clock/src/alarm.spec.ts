import { Alarm } from './alarm.js';
import { instantFromEpochMs } from './instant.js';
import { VirtualClock } from './virtual-clock.js';

function anAlarm(): { clock: VirtualClock; alarm: Alarm; rangAtMs: number[] } {
  const clock = new VirtualClock(instantFromEpochMs(0));
  const rangAtMs: number[] = [];
  const startMs = clock.monotonicMs();
  const alarm = new Alarm(clock, () => rangAtMs.push(clock.monotonicMs() - startMs));
  return { clock, alarm, rangAtMs };
}

describe('an alarm', () => {
  it('rings once, at the earliest moment that was asked for', async () => {
    const { clock, alarm, rangAtMs } = anAlarm();
    for (const delayMs of [300, 100, 200]) alarm.in(delayMs);
    await clock.advance(1_000);
    expect(rangAtMs).toEqual([100]);
  });

  it('can be set again once it has rung, also while it rings', async () => {
    const { clock, alarm, rangAtMs } = anAlarm();
    alarm.in(100);
    await clock.advance(100);
    alarm.in(50);
    await clock.advance(1_000);
    expect(rangAtMs).toEqual([100, 150]);

    const rings: number[] = [];
    const again = new Alarm(clock, () => {
      rings.push(clock.monotonicMs());
      if (rings.length < 3) again.in(10);
    });
    again.in(0);
    await clock.advance(100);
    expect(rings).toHaveLength(3);
  });

  it('forgets what was asked for when it is cancelled, and can be set to a later moment then', async () => {
    const { clock, alarm, rangAtMs } = anAlarm();
    alarm.in(100);
    alarm.cancel();
    alarm.in(400);
    await clock.advance(1_000);
    expect(rangAtMs).toEqual([400]);
  });

  it('never rings after it was closed', async () => {
    const { clock, alarm, rangAtMs } = anAlarm();
    alarm.in(100);
    alarm.close();
    alarm.in(100);
    await clock.advance(1_000);
    expect(rangAtMs).toEqual([]);
  });
});
