import type { StoreConfiguration } from '#libs/configuration';
import { redisConnection } from '#libs/store';

/** What the broker needs from Redis, as docs/redis.md grants it. */
const RIGHTS =
  '+hello +auth +select +ping +info +subscribe +publish +eval +evalsha +time +type +unlink +hstrlen +hmget +hset +hdel ' +
  '+zadd +zrange +zcard +zscore +zrem +zremrangebyscore +pexpire';
const CLUSTER_RIGHTS = '+cluster|slots +asking +readonly';
const DEFAULT_USER = 'default';

/**
 * A line for redis-cli that grants the store's user everything it needs. It revokes nothing, and neither sets nor shows
 * a password.
 */
export function grantingLine(store: Extract<StoreConfiguration, { type: 'redis' }>): string {
  const { credentials, kind } = redisConnection(store);
  const { keyPrefix } = store;
  const rights = kind === 'cluster' ? `${RIGHTS} ${CLUSTER_RIGHTS}` : RIGHTS;
  return `ACL SETUSER ${credentials?.username ?? DEFAULT_USER} ~${keyPrefix}:* &${keyPrefix}:* ${rights}`;
}
