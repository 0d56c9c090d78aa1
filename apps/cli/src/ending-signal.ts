const ENDINGS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** What this takes of `process`. */
export interface Signalled {
  on(signal: (typeof ENDINGS)[number], ended: () => void): unknown;
}

/**
 * From the first call on, a signal that asks the process to end aborts what is returned, and ends nothing by itself. A verb
 * that never asks for it ends as any program does: `simulate` works without a pause, in which alone it could be told.
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
  // Ctrl-C arrives twice below npm, from the terminal and from npm: one more signal must not cut the ending short.
  for (const signal of ENDINGS) process.on(signal, () => ending.abort());
  return ending;
}
