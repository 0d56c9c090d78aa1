import { FakeClock } from '#libs/testing';
import { ServerClocks } from './redis-probe.js';

const AT = Date.UTC(2026, 0, 1);

describe('ServerClocks', () => {
  const clock = new FakeClock();
  const clocks = new ServerClocks(clock);

  /** An answer that the server gave `onTheWayBackMs` ago. */
  async function answered(serverNowMs: number, onTheWayBackMs: number, shard = 0): Promise<void> {
    const askedAtMs = clock.monotonicMs();
    await clock.advance(onTheWayBackMs);
    clocks.note(shard, serverNowMs, askedAtMs);
  }

  it('know nothing of a shard that has not answered', () => {
    expect(clocks.nowMs(0)).toBeUndefined();
  });

  it('follow the quickest answer, so that they are never ahead of the server', async () => {
    await answered(AT, 40);
    expect(clocks.nowMs(0)).toBe(AT);
    await clock.advance(1_000);
    expect(clocks.nowMs(0)).toBe(AT + 1_000);
    await answered(AT + 1_040, 3);
    expect(clocks.nowMs(0)).toBe(AT + 1_040);
    await answered(AT + 1_043, 500);
    expect(clocks.nowMs(0)).toBe(AT + 1_540);
  });

  it('follow a clock that is set forward, or back', async () => {
    await answered(AT + 3_600_000, 5);
    expect(clocks.nowMs(0)).toBe(AT + 3_600_000);
    await answered(AT, 5);
    expect(clocks.nowMs(0)).toBe(AT);
  });

  it('keep shards apart, whose servers have clocks of their own', async () => {
    await answered(AT - 90_000, 1, 7);
    expect(clocks.nowMs(7)).toBe(AT - 90_000);
    expect(clocks.nowMs(0)).toBe(AT + 1);
  });
});
