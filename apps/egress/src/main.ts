/** Asked to end for the second time: no longer in good order, but now. */
const ENDED_AT_ONCE = 1;

/**
 * Signals are heard before anything else is loaded: one that comes while nobody listens ends the process, or is lost
 * where the process is the first of its container. The first signal ends everything in order, however far the start has
 * come; the second ends the process at once.
 */
const stopping = new AbortController();
const hangUp = { handle: (): void => undefined };
function stop(): void {
  if (stopping.signal.aborted) process.exit(ENDED_AT_ONCE);
  stopping.abort();
}
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
process.on('SIGHUP', () => hangUp.handle());

const { runEgress } = await import('./run-egress.js');
process.exit(
  await runEgress({
    environment: process.env,
    stopping: stopping.signal,
    onHangUp: (reload) => (hangUp.handle = reload),
  }),
);
