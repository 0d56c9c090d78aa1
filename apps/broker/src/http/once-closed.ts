import type { ServerResponse } from 'node:http';

/**
 * Calls the listener once, when the response has closed: either it was sent, or its caller has gone away. If it has
 * already closed, for instance while the caller's credential was being checked, the listener is called at once, as the
 * event does not fire again. Uses the response and not the socket, which outlives it and is used by others.
 */
export function onceClosed(response: ServerResponse, listener: () => void): void {
  if (response.closed) listener();
  else response.once('close', listener);
}
