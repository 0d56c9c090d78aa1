import { setTimeout as pause } from 'node:timers/promises';
import { type ReplicaWish, untilStarted, type WatchedReplicas } from '../observability/watched-replicas.js';
import { type Served, ServingRecord } from './serving-record.js';

const READ_EVERY_MS = 5;

/**
 * Replicas of the broker as processes, all for the merchant `shop`. Each keeps its number for good, and has a consumer
 * that reads its session every few milliseconds.
 */
export class Fleet {
  readonly record = new ServingRecord();
  readonly #watched: WatchedReplicas;
  readonly #wish: (replica: number) => Promise<ReplicaWish>;
  readonly #inService = new Set<number>();
  readonly #consumers: Promise<void>[] = [];
  #isOver = false;

  /** @param wish how each replica is started */
  constructor(watched: WatchedReplicas, wish: (replica: number) => Promise<ReplicaWish>) {
    this.#watched = watched;
    this.#wish = wish;
  }

  get inService(): readonly number[] {
    return [...this.#inService];
  }

  /** Starts so many at once, each with its consumer. */
  async add(count: number): Promise<void> {
    const { replicas } = this.#watched;
    const { length: first } = replicas;
    for (let more = 0; more < count; more += 1) await this.#watched.launch(await this.#wish(first + more));
    const added = replicas.slice(first);
    await Promise.all(added.map(untilStarted));
    for (const index of added.keys()) this.#consumers.push(this.#consume(first + index));
  }

  /** Ends the consumers. */
  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#consumers);
  }

  async #consume(replica: number): Promise<void> {
    this.#inService.add(replica);
    while (!this.#isOver && this.#inService.has(replica)) {
      // What is served was so at some time after it was asked for.
      const atMs = Date.now();
      this.record.note(replica, await this.served(replica), atMs);
      await pause(READ_EVERY_MS);
    }
    this.record.gone(replica);
  }

  /** What the replica hands to a consumer now; undefined if it has nothing to hand out, or is gone. */
  async served(replica: number): Promise<Served | undefined> {
    try {
      const answer = await this.#watched.ask('shop', '/session', {}, this.#watched.replicas[replica]);
      const text = await answer.text();
      return answer.ok ? (JSON.parse(text) as Served) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Reports to the replica that the gateway refuses the generation. @returns whether it answered with a newer one */
  async report(replica: number, generation: number): Promise<boolean> {
    return (await this.#watched.reject('shop', generation, this.#watched.replicas[replica])) === 200;
  }

  async kill(replica: number): Promise<void> {
    this.#inService.delete(replica);
    await this.#watched.end(replica);
  }

  signal(replica: number, name: NodeJS.Signals): void {
    this.#watched.replicas[replica]?.process.signal(name);
  }

  /** What the replica has logged. */
  log(replica: number): string {
    return this.#watched.replicas[replica]?.process.out ?? '';
  }

  /** What happened in the replicas, for finding the cause of a row. */
  trace(): readonly string[] {
    return this.#watched.replicas.flatMap(({ process }, replica) =>
      process.out.split('\n').map((line) => `replica ${replica} ${line}`),
    );
  }
}
