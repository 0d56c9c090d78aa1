import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** Ends waits that are no longer needed: the caller went away, or this replica is shutting down. */
@Injectable()
export class RequestLife {
  readonly #shutdown = new AbortController();
  readonly #waiting = new Set<AbortController>();

  get isShuttingDown(): boolean {
    return this.#shutdown.signal.aborted;
  }

  /** Calls the listener once, when this replica shuts down. */
  onShutDown(listener: () => void): void {
    this.#shutdown.signal.addEventListener('abort', listener, { once: true });
  }

  /** Has every waiting request answered at once, so that its caller can turn to another replica. */
  shutDown(): void {
    this.#shutdown.abort();
    for (const ended of this.#waiting) ended.abort();
  }

  /**
   * Aborted when the caller goes away before its answer, and when this replica shuts down. Each request has its own
   * controller: a signal derived from a process-lifetime signal stays in memory long after its request.
   */
  signalFor(reply: FastifyReply): AbortSignal {
    const ended = new AbortController();
    if (this.isShuttingDown) ended.abort();
    this.#waiting.add(ended);
    onceClosed(reply.raw, () => {
      this.#waiting.delete(ended);
      if (!reply.raw.writableFinished) ended.abort();
    });
    return ended.signal;
  }
}

/**
 * Calls the listener once, when the response has closed: either it was sent, or its caller has gone away. If it has
 * already closed, for instance while the caller's credential was being checked, the listener is called at once, as the
 * event does not fire again. Uses the response and not the socket, which outlives it and is used by others.
 */
export function onceClosed(response: ServerResponse, listener: () => void): void {
  if (response.closed) listener();
  else response.once('close', listener);
}
