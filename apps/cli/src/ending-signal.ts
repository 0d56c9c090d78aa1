const ENDINGS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The part of `process` that is needed here. */
export interface Signalled {
  on(signal: (typeof ENDINGS)[number], ended: () => void): unknown;
}

/**
 * From the first call on, a signal that asks the process to end aborts the returned signal, and no longer ends anything
 * by itself. A verb that never calls this ends as any program does: `simulate` works without a pause, so it could
 * never be notified.
 */
export function endingSignal(process: Signalled): () => AbortSignal {
  let ending: AbortController | undefined;
  return () => {
    ending ??= taken(process);
    return ending.signal;
  };
}

function taken(process: Signalled): AbortController {
  const ending = new AbortController();
  // Under npm, Ctrl-C arrives twice, from the terminal and from npm: a second signal must not cut the ending short.
  for (const signal of ENDINGS) process.on(signal, () => ending.abort());
  return ending;
}
