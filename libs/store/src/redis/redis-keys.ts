import { BrokerError } from '#libs/errors';
import type { RedisConnection } from './redis-connection.js';

/** A cluster spreads the merchants over its nodes by this many hash tags; changing it would lose every merchant. */
const CLUSTER_SHARDS = 16;

const SEATS_SHARD = 0;
const SEATS = 1_024;

/** No configured merchant can have this name. */
export const PROBE_MERCHANT = '~probe';

/** How many hash tags the keys of a store use. */
export const shardsOf = ({ kind }: RedisConnection): number => (kind === 'cluster' ? CLUSTER_SHARDS : 1);

/** Keys of a merchant: in one hash slot, since every script needs them together. */
interface MerchantKeys {
  readonly merchant: string;
  readonly calls: string;
  readonly due: string;
}

/**
 * Names of keys. A merchant always belongs to the same shard, and the shard is the hash tag of its keys: so in a
 * cluster they are stored together with the shard's due moments, while the shards spread over the nodes.
 */
export class RedisKeys {
  readonly #prefix: string;
  readonly #shards: number;

  /** @throws BrokerError `configuration_invalid` for a prefix with braces: they would take over the hash tag */
  constructor(prefix: string, shards: number) {
    if (!/^[^{}]{1,200}$/.test(prefix)) {
      throw new BrokerError('configuration_invalid', {
        detail: 'the key prefix of the store must have 1 to 200 characters and no braces',
      });
    }
    this.#prefix = prefix;
    this.#shards = shards;
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

  /** The seats of all replicas are in one place. */
  get seats(): string {
    return `${this.#prefix}:{${SEATS_SHARD}}:seats`;
  }

  /** Where an owner begins to look for a seat: the same one again in a store that was emptied. */
  preferredSeatOf(owner: string): number {
    return fnv1a(owner) % SEATS;
  }

  /** The key that the probe writes in a shard, and removes again in the same step. */
  probe(shard: number): MerchantKeys {
    return this.inShard(shard, PROBE_MERCHANT);
  }

  of(merchant: string): MerchantKeys {
    return this.inShard(this.shardOf(merchant), merchant);
  }

  /** The keys that a merchant would have in a shard, in which somebody may have put one that does not belong there. */
  inShard(shard: number, merchant: string): MerchantKeys {
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
