import { instantFromEpochMs, VirtualClock } from '#libs/clock';

/** Virtual time for tests, with the accidents that real clocks have. */
export class FakeClock extends VirtualClock {
  constructor(startsAt = '2026-01-01T00:00:00.000Z') {
    super(instantFromEpochMs(Date.parse(startsAt)));
  }

  /** The process is frozen (SIGSTOP, a long pause): time passes on both clocks and no task runs until `advance`. */
  freeze(durationMs: number): void {
    this.passUnseen(durationMs);
  }

  /** The wall clock is set: it jumps, monotonic time does not. */
  jumpWall(byMs: number): void {
    this.setWall(byMs);
  }
}
