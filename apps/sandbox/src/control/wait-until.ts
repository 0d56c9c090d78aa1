export interface Awaited {
  readonly isReached: () => boolean;
  /** Calls back whenever something happened; returns how to stop that. */
  readonly listen: (listener: () => void) => () => void;
  /** Resolves when the time is up; the signal says that nobody waits for it any longer. */
  readonly timeUp: (signal: AbortSignal) => Promise<void>;
  /** Calls back when the one who waits has left. */
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
