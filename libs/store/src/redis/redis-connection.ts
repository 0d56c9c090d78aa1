import { BrokerError } from '#libs/errors';

/**
 * Trust and identity for TLS, in PEM. Verification cannot be switched off: anybody who can pose as the store can plant
 * the key of a payment.
 */
interface RedisTls {
  /** Default: the authorities that Node trusts. */
  readonly ca?: string;
  /** Our own certificate and key, if the server asks for one. */
  readonly cert?: string;
  readonly key?: string;
  /** The name to verify if it is not the host's. */
  readonly servername?: string;
}

export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

interface RedisCredentials {
  /** ACL user; without one, `password` belongs to the default user. */
  readonly username?: string;
  readonly password?: string;
}

export interface RedisAccess {
  readonly credentials?: RedisCredentials;
  /** Present: every connection to the data is encrypted. */
  readonly tls?: RedisTls;
}

interface SingleRedis extends RedisAccess {
  readonly kind: 'single';
  readonly address: RedisAddress;
  readonly database: number;
}

/** `name`: the one under which the sentinels watch the primary. `nodes`: some; the others are found through them. */
type FoundRedis =
  | { readonly kind: 'sentinel'; readonly sentinels: readonly RedisAddress[]; readonly name: string }
  | { readonly kind: 'cluster'; readonly nodes: readonly RedisAddress[] };

export type RedisConnection = SingleRedis | (RedisAccess & FoundRedis);

const DEFAULT_PORT = 6379;

/** host:port. */
export const nameOf = ({ host, port }: RedisAddress): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Where it is, as it was given, in one line and without credentials. */
export function addressOf(connection: RedisConnection): string {
  switch (connection.kind) {
    case 'single':
      return nameOf(connection.address);
    case 'sentinel':
      return `${connection.name} of the sentinels ${connection.sentinels.map(nameOf).join(', ')}`;
    case 'cluster':
      return connection.nodes.map(nameOf).join(', ');
  }
}

/**
 * Reads `redis://[user[:password]@]host[:port][/database]`; `rediss://` for TLS.
 * @throws BrokerError `configuration_invalid`; the text is not quoted, since it may hold a password
 */
export function parseRedisUrl(text: string): SingleRedis {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !hasRedisShape(url)) {
    throw new BrokerError('configuration_invalid', {
      detail: 'the store URL must look like redis://user:password@host:6379/0, or rediss:// for TLS',
    });
  }
  return {
    kind: 'single',
    address: { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(url.port || DEFAULT_PORT) },
    database: Number(url.pathname.slice(1)),
    ...credentialsOf(url),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
  };
}

const hasRedisShape = ({ protocol, hostname, pathname, search, hash }: URL): boolean =>
  /^rediss?:$/.test(protocol) && hostname !== '' && /^\/?\d{0,4}$/.test(pathname) && search + hash === '';

function credentialsOf(url: URL): Pick<RedisAccess, 'credentials'> {
  const [username = '', password = ''] = [url.username, url.password].map((part) => decodeURIComponent(part));
  if (username + password === '') return {};
  return { credentials: { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) } };
}

/** Where Redis is and how to access it, as given in a configuration. */
interface RedisSettings extends RedisCredentials, Pick<RedisAccess, 'tls'> {
  readonly place: { readonly kind: 'url'; readonly url: string } | FoundRedis;
}

/**
 * The connection that the settings describe.
 * @throws BrokerError `configuration_invalid` if the text is not such a URL; it is not quoted
 */
export function redisConnection({ place, username, password, tls }: RedisSettings): RedisConnection {
  return {
    ...(place.kind === 'url' ? parseRedisUrl(place.url) : place),
    ...(password === undefined ? {} : { credentials: { ...(username === undefined ? {} : { username }), password } }),
    ...(tls && { tls }),
  };
}
