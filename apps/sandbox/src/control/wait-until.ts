export interface Awaited {
  readonly isReached: () => boolean;
  /** Calls back whenever something happens; returns a function that stops that. */
  readonly listen: (listener: () => void) => () => void;
  /** Resolves when the time is up; the signal says that no one is waiting for it any more. */
  readonly timeUp: (signal: AbortSignal) => Promise<void>;
  /** Calls back when the waiting client has left. */
  readonly leave: (listener: () => void) => unknown;
}

/** Waits for an event. @returns whether it came before the time was up */
export async function waitUntil({ isReached, listen, timeUp, leave }: Awaited): Promise<boolean> {
  if (isReached()) return true;
  const over = new AbortController();
  let stop: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => {
    stop = listen(() => {
      if (isReached()) resolve();
    });
    leave(resolve);
  });
  await Promise.race([reached, timeUp(over.signal)]);
  stop();
  over.abort();
  return isReached();
}
