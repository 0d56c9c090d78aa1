import { parseRedisUrl, type RedisAddress, type RedisConnection, type RedisTls } from './redis-connection.js';

/** Where Redis is and how to access it, as given in a configuration. */
interface RedisSettings {
  readonly place:
    | { readonly kind: 'url'; readonly url: string }
    | { readonly kind: 'sentinel'; readonly sentinels: readonly RedisAddress[]; readonly name: string }
    | { readonly kind: 'cluster'; readonly nodes: readonly RedisAddress[] };
  readonly username?: string;
  readonly password?: string;
  readonly tls?: RedisTls;
}

/**
 * The connection that the settings describe. A password next to a URL replaces the URL's credentials.
 * @throws BrokerError `configuration_invalid` if the text is not such a URL; it is not quoted
 */
export function redisConnection({ place, username, password, tls }: RedisSettings): RedisConnection {
  const access = {
    ...(password === undefined ? {} : { credentials: { ...(username === undefined ? {} : { username }), password } }),
    ...(tls === undefined ? {} : { tls }),
  };
  switch (place.kind) {
    case 'url':
      return { ...parseRedisUrl(place.url), ...access };
    case 'sentinel':
      return { ...place, database: 0, ...access };
    case 'cluster':
      return { ...place, ...access };
  }
}
