import type { StoreConfiguration } from '#libs/configuration';
import { redisConnection } from '#libs/store';

/** What the broker needs of Redis, as docs/redis.md grants it. */
const RIGHTS =
  '+hello +auth +select +ping +info +subscribe +publish +eval +evalsha +time +type +unlink +set +hstrlen +hmget +hset +hdel ' +
  '+zadd +zrange +zcard +zscore +zrem +zremrangebyscore +pexpire';
const CLUSTER_RIGHTS = '+cluster|slots +asking +readonly';
const DEFAULT_USER = 'default';

/** A line for redis-cli that gives the store's user all that it needs. It takes nothing away, sets no password, and shows none. */
export function grantingLine(store: Extract<StoreConfiguration, { type: 'redis' }>): string {
  const { credentials, kind } = redisConnection(store);
  const { keyPrefix } = store;
  const rights = kind === 'cluster' ? `${RIGHTS} ${CLUSTER_RIGHTS}` : RIGHTS;
  return `ACL SETUSER ${credentials?.username ?? DEFAULT_USER} ~${keyPrefix}:* &${keyPrefix}:* ${rights}`;
}
