import { Agent, get } from 'node:http';

/** One more client next to the load, on its own connection: its times are finer than the load generator's. */
export class LatencyProbe {
  readonly #timesMs: number[] = [];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  #running = true;
  readonly #ended: Promise<void>;

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#headers = headers;
    this.#ended = this.#run();
  }

  /** @returns the 99th percentile in milliseconds */
  async stop(): Promise<number> {
    this.#running = false;
    await this.#ended;
    this.#agent.destroy();
    const sorted = this.#timesMs.sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
  }

  async #run(): Promise<void> {
    while (this.#running) this.#timesMs.push(await this.#once());
  }

  #once(): Promise<number> {
    return new Promise((resolve, reject) => {
      const startedAt = performance.now();
      const request = get(this.#url, { agent: this.#agent, headers: this.#headers }, (response) => {
        response.resume().on('end', () => resolve(performance.now() - startedAt));
      });
      request.on('error', reject);
    });
  }
}
