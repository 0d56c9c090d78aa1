import { BrokerError } from '#libs/errors';
import type { RedisConnection } from './redis-connection.js';

/** Everything that the store keeps in Redis: docs/redis.md has the tables of this page, and a test compares them. */

/** A key or channel of the store, after the prefix. `{n}` is the number of a shard, `<id>` a merchant. */
export const layoutKeys = {
  ':{n}:merchant:<id>': { type: 'hash', holds: 'the truth about a merchant, in the fields below' },
  ':{n}:calls:<id>': {
    type: 'sorted set',
    holds: 'create calls by the fence of their lease, as far back as the longest window of the budget looks',
  },
  ':{n}:due': { type: 'sorted set', holds: 'due moments of all merchants of shard `n`: an index of the hashes' },
  ':announcements': {
    type: 'channel',
    holds: 'hints that a merchant has to be read, and the signals of hand-overs',
  },
} as const satisfies Record<string, { readonly type: string; readonly holds: string }>;

interface LayoutField {
  readonly holds: string;
  /** The scripts that set it. */
  readonly setBy: readonly string[];
  /** Longer than a name: only read.lua needs it. */
  readonly isText?: true;
}

/**
 * The fields of a merchant's hash: what MerchantRecord of the memory adapter holds, except its calls. Moments and
 * durations are in ms, by the server's clock.
 */
export const merchantFields: Readonly<Record<string, LayoutField>> = {
  fence: { holds: 'the number of the newest lease: the generation that it may publish', setBy: ['claim'] },
  owner: { holds: 'the replica that has the lease', setBy: ['claim'] },
  lease: { holds: 'when it was granted, and for how long', setBy: ['claim'] },
  due: {
    holds: 'from when on the merchant waits to fall due, and for how long',
    setBy: ['claim', 'publish', 'read', 'release'],
  },
  generation: { holds: 'the generation of the session', setBy: ['publish'] },
  sealed: { holds: 'the **sealed** session', setBy: ['publish'], isText: true },
  publishedAt: { holds: 'when the gateway had answered with the session', setBy: ['publish'] },
  reportedDead: {
    holds:
      'the last report of a dead session: its generation, when, what held up a newer one (`budget`, `cool_down` or `-`), for how long, and whether it died early (1 or 0)',
    setBy: ['report'],
  },
  failures: { holds: 'failed attempts in a row', setBy: ['release'] },
  failure: { holds: 'the last failure since the last session', setBy: ['release'], isText: true },
  cooledDownAt: { holds: 'when the last cool-down began', setBy: ['claim'] },
};

/** A cluster spreads the merchants over its nodes by this many hash tags; changing it would lose every merchant. */
const CLUSTER_SHARDS = 16;

/** How many hash tags the keys of a store use. */
export const shardsOf = ({ kind }: RedisConnection): number => (kind === 'cluster' ? CLUSTER_SHARDS : 1);

/** No configured merchant can have this name. */
export const PROBE_MERCHANT = '~probe';

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

  of(merchant: string): MerchantKeys {
    return this.inShard(this.shardOf(merchant), merchant);
  }

  /** The keys that the probe writes in a shard, and removes again in the same step. */
  probe(shard: number): MerchantKeys {
    return this.inShard(shard, PROBE_MERCHANT);
  }

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
