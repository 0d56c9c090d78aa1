/** The replica's wall clock as far as the page knows it: what it last said, and the time that has passed since. */
export class ServerClock {
  /** @type {() => number} */
  #monotonicMs;
  #atMs = 0;
  #heardAtMs = 0;

  /** @param {() => number} monotonicMs */
  constructor(monotonicMs) {
    this.#monotonicMs = monotonicMs;
  }

  /** @param {number} at the replica's clock in the news that has just come */
  correct(at) {
    this.#atMs = at;
    this.#heardAtMs = this.#monotonicMs();
  }

  /** @returns milliseconds since the epoch, by the replica's clock */
  now() {
    return this.#atMs + this.sinceNewsMs();
  }

  sinceNewsMs() {
    return this.#monotonicMs() - this.#heardAtMs;
  }

  /** @returns the replica's clock when the last news came */
  newsAt() {
    return this.#atMs;
  }
}
