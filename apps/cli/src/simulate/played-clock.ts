import { VirtualClock } from '#libs/clock';

/**
 * The time of a run in which only promises do any work: no sockets, files or threads. It settles without a turn of the
 * event loop, which costs several times as much as the work of a tick, and a long run has a million ticks.
 */
export class PlayedClock extends VirtualClock {
  /**
   * Scheduled from within a promise, such a task runs once no promise has anything left to do, however many follow from
   * one another.
   */
  override async settle(): Promise<void> {
    await Promise.resolve();
    await new Promise<void>((resolve) => process.nextTick(resolve));
  }
}
