import type { ReplicaWish, WatchedReplicas } from '../observability/watched-replicas.js';
import type { Served } from './serving-record.js';

/** Replicas of the broker as processes, all for the merchant `shop`; each keeps its number for good. */
export class Fleet {
  readonly #watched: WatchedReplicas;
  readonly #wish: (replica: number) => Promise<ReplicaWish>;
  readonly #inService = new Set<number>();

  /** @param wish how each replica is started */
  constructor(watched: WatchedReplicas, wish: (replica: number) => Promise<ReplicaWish>) {
    this.#watched = watched;
    this.#wish = wish;
  }

  get inService(): readonly number[] {
    return [...this.#inService];
  }

  /** Starts so many at once. */
  async add(count: number): Promise<void> {
    const { replicas } = this.#watched;
    const { length: first } = replicas;
    for (let more = 0; more < count; more += 1) await this.#watched.launch(await this.#wish(first + more));
    const added = replicas.slice(first);
    await Promise.all(added.map(({ process }) => process.said(/"msg":"broker started"/)));
    for (const index of added.keys()) this.#inService.add(first + index);
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
