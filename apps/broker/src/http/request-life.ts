import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** Ends waits that nobody is waiting for any more: the caller went away, or this replica is shutting down. */
@Injectable()
export class RequestLife {
  readonly #shutdown = new AbortController();

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
  }

  /**
   * The response closes when it has been sent, and when the caller has gone away; the socket outlives it, and others
   * use it.
   */
  signalFor(reply: FastifyReply): AbortSignal {
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    return AbortSignal.any([gone.signal, this.#shutdown.signal]);
  }
}
