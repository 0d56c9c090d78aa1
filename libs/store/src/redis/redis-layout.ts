import { BrokerError } from '#libs/errors';
import type { RedisConnection } from './redis-connection.js';

/** A cluster spreads the merchants over its nodes by this many hash tags; changing it would lose every merchant. */
const CLUSTER_SHARDS = 16;

/** No configured merchant can have this name: the probe writes it in each shard, and removes it in the same step. */
export const PROBE_MERCHANT = '~probe';

/**
 * Names of keys. A merchant always belongs to the same shard, and the shard is the hash tag of its keys: so in a
 * cluster they are stored together with the shard's due moments, while the shards spread over the nodes.
 */
export class RedisKeys {
  readonly #prefix: string;
  readonly #shards: number;

  /** @throws BrokerError `configuration_invalid` for a prefix with braces: they would take over the hash tag */
  constructor(prefix: string, { kind }: Pick<RedisConnection, 'kind'>) {
    if (!/^[^{}]{1,200}$/.test(prefix)) {
      throw new BrokerError('configuration_invalid', {
        detail: 'the key prefix of the store must have 1 to 200 characters and no braces',
      });
    }
    this.#prefix = prefix;
    this.#shards = kind === 'cluster' ? CLUSTER_SHARDS : 1;
  }

  get channel(): string {
    return `${this.#prefix}:announcements`;
  }

  shards(): readonly number[] {
    return Array.from({ length: this.#shards }, (_, shard) => shard);
  }

  shardOf(merchant: string): number {
    return fnv1a(merchant) % this.#shards;
  }

  due(shard: number): string {
    return `${this.#prefix}:{${shard}}:due`;
  }

  /** Of a merchant, as docs/reference/redis-keys.md tells: in one hash slot, since every script needs them together. */
  of(merchant: string, shard = this.shardOf(merchant)): Record<'merchant' | 'calls' | 'due', string> {
    return {
      merchant: `${this.#prefix}:{${shard}}:merchant:${merchant}`,
      calls: `${this.#prefix}:{${shard}}:calls:${merchant}`,
      due: this.due(shard),
    };
  }
}

/** FNV-1a, 32 bit: all replicas of all versions must agree on it, and nobody gains from a collision. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text, 'utf8')) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
