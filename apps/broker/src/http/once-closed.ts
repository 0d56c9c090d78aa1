import type { ServerResponse } from 'node:http';

/**
 * Calls the listener once, when the response has closed: it was sent, or its caller has gone away. Where that is so already, as after the
 * time in which the caller's credential was looked at, it is called at once: the event has been, and does not come again. The socket outlives
 * a response, and others use it.
 */
export function onceClosed(response: ServerResponse, listener: () => void): void {
  if (response.closed) listener();
  else response.once('close', listener);
}
