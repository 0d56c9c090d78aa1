import type { Deployment } from './deployment.js';

/**
 * The deployment that new requests get. One that was replaced is closed when the last of its own requests has ended.
 */
export class DeploymentInForce {
  readonly #closing = new Set<Promise<void>>();
  #current: Deployment;

  constructor(first: Deployment) {
    this.#current = first;
  }

  get current(): Deployment {
    return this.#current;
  }

  /** @returns the deployment that serves the request until it leaves */
  enter(): Deployment {
    this.#current.requests += 1;
    return this.#current;
  }

  leave(deployment: Deployment): void {
    deployment.requests -= 1;
    this.#closeIfDone(deployment);
  }

  replace(next: Deployment): void {
    const before = this.#current;
    this.#current = next;
    this.#closeIfDone(before);
  }

  /** To be called when no request is in progress any more. */
  async close(): Promise<void> {
    await Promise.all([this.#current.close(), ...this.#closing]);
  }

  #closeIfDone(deployment: Deployment): void {
    if (deployment === this.#current || deployment.requests > 0) return;
    const closing = deployment.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
