import type { Deployment } from './deployment.js';

/**
 * The deployment that new requests get. One that was replaced is closed when the last of its own requests has ended.
 */
export class DeploymentInForce {
  readonly #requests = new Map<Deployment, number>();
  readonly #closing = new Set<Promise<void>>();
  #current: Deployment;

  constructor(first: Deployment) {
    this.#current = first;
    this.#requests.set(first, 0);
  }

  get current(): Deployment {
    return this.#current;
  }

  /** @returns the deployment that serves the request until it leaves */
  enter(): Deployment {
    this.#requests.set(this.#current, (this.#requests.get(this.#current) ?? 0) + 1);
    return this.#current;
  }

  leave(deployment: Deployment): void {
    const left = (this.#requests.get(deployment) ?? 1) - 1;
    this.#requests.set(deployment, left);
    this.#closeIfDone(deployment);
  }

  replace(next: Deployment): void {
    const before = this.#current;
    this.#current = next;
    this.#requests.set(next, 0);
    this.#closeIfDone(before);
  }

  /** To be called when no request is in progress any more. */
  async close(): Promise<void> {
    await Promise.all([this.#current.close(), ...this.#closing]);
  }

  #closeIfDone(deployment: Deployment): void {
    if (deployment === this.#current || this.#requests.get(deployment) !== 0) return;
    this.#requests.delete(deployment);
    const closing = deployment.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
