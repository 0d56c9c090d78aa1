import type { Clock } from '#libs/clock';
import type { DueMerchants } from '#libs/session';
import { batchesBy, inTurn } from './batch.js';
import { type DueEntry, type DuePage, mergeDue, readDueReply } from './due-merge.js';
import type { RedisKeys } from './redis-keys.js';
import type { ScriptRunner } from './script-runner.js';
import { dueScript } from './scripts/due.lua.js';
import { enrolScript } from './scripts/enrol.lua.js';
import { settleScript } from './scripts/settle.lua.js';

/** One request looks at an index full of foreign entries at most this often; the next request continues. */
const MAX_LOOKS = 8;
const MAX_PAGE = 4_000;
/** When to look again at an index that could not be repaired in one go: soon, but not immediately again and again. */
const LOOK_AGAIN_MS = 250;
/** How often an index with fewer entries than there are enrolled merchants is rebuilt. */
const REBUILD_AFTER_MS = 10_000;

export interface DueIndexOptions {
  readonly keys: RedisKeys;
  readonly scripts: ScriptRunner;
  readonly clock: Clock;
}

/**
 * The sorted sets that say who is due. They are an index of the merchants' hashes: each entry is checked against its
 * hash, entries that do not belong there are removed, and missing ones are put back.
 */
export class DueIndex {
  readonly #options: DueIndexOptions;
  readonly #enrolled = new Map<number, Set<string>>();
  readonly #rebuiltAtMs = new Map<number, number>();

  constructor(options: DueIndexOptions) {
    this.#options = options;
  }

  async enrol(merchants: readonly string[]): Promise<void> {
    for (const merchant of merchants) this.#enrolledIn(this.#options.keys.shardOf(merchant)).add(merchant);
    await this.#index(merchants, 'fall due');
  }

  async due(limit: number): Promise<DueMerchants> {
    const shards = this.#options.keys.shards().map((shard) => this.#dueOf(shard, limit));
    return mergeDue(await Promise.all(shards), limit);
  }

  async #index(merchants: readonly string[], unknown: 'fall due' | 'stay out'): Promise<void> {
    const { keys, scripts } = this.#options;
    const batches = batchesBy(merchants, (merchant) => keys.shardOf(merchant));
    await inTurn(batches, async ([shard, batch]) => {
      await scripts.run(enrolScript, {
        keys: [keys.due(shard), ...batch.map((merchant) => keys.of(merchant).merchant)],
        args: [unknown === 'fall due' ? 1 : 0, ...batch],
      });
    });
  }

  async #dueOf(shard: number, limit: number): Promise<readonly DueEntry[]> {
    let page = limit + 1;
    let settled: readonly DueEntry[] = [];
    for (let look = 0; look < MAX_LOOKS; look += 1) {
      let found = await this.#page(shard, page);
      if (look === 0 && (await this.#rebuiltWhereMissing(shard, found))) found = await this.#page(shard, page);
      const due = found.entries.filter(({ dueInMs }) => dueInMs <= 0);
      settled = await this.#settle(shard, due);
      if (settled.length === due.length) return found.entries;
      page = Math.min(MAX_PAGE, Math.max(page, 8 * (due.length - settled.length)));
    }
    return [...settled, { merchant: '', dueInMs: LOOK_AGAIN_MS }];
  }

  async #page(shard: number, size: number): Promise<DuePage> {
    const { keys, scripts } = this.#options;
    return readDueReply(await scripts.run(dueScript, { keys: [keys.due(shard)], args: [size] }));
  }

  /** The entries that are also due according to their hashes; the index of the others is corrected. */
  async #settle(shard: number, entries: readonly DueEntry[]): Promise<readonly DueEntry[]> {
    const named = entries.filter(({ merchant }) => merchant !== '');
    if (named.length === 0) return [];
    const { keys, scripts } = this.#options;
    const enrolled = this.#enrolledIn(shard);
    const verdicts = (await scripts.run(settleScript, {
      keys: [keys.due(shard), ...named.map(({ merchant }) => keys.inShard(shard, merchant).merchant)],
      args: named.flatMap(({ merchant }) => [merchant, enrolled.has(merchant) ? 1 : 0]),
    })) as readonly number[];
    return named.filter((_entry, index) => verdicts[index] === 1);
  }

  /**
   * The index or some of its entries were removed. A store that was emptied has no hashes either: then nothing is due.
   */
  async #rebuiltWhereMissing(shard: number, { size }: DuePage): Promise<boolean> {
    const enrolled = this.#enrolledIn(shard);
    const nowMs = this.#options.clock.monotonicMs();
    if (size >= enrolled.size || nowMs - (this.#rebuiltAtMs.get(shard) ?? -Infinity) < REBUILD_AFTER_MS) {
      return false;
    }
    this.#rebuiltAtMs.set(shard, nowMs);
    await this.#index([...enrolled], 'stay out');
    return true;
  }

  #enrolledIn(shard: number): Set<string> {
    const known = this.#enrolled.get(shard) ?? new Set();
    this.#enrolled.set(shard, known);
    return known;
  }
}
