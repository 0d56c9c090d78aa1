import { VirtualClock } from '#libs/clock';

/**
 * Time of a run in which nothing but promises works: no socket, no file, no thread. It settles without a turn of the event
 * loop, which costs several times what the work of a tick does, and a long run has a million of them.
 */
export class PlayedClock extends VirtualClock {
  /** Called from a promise, such a task comes when none has anything left to do, however many follow from one another. */
  override async settle(): Promise<void> {
    await Promise.resolve();
    await new Promise<void>((resolve) => process.nextTick(resolve));
  }
}
