import { certificates, type FileName, fileOf, password, privateKey } from '../file-contents.js';
import { oneOf, section, text, texts } from '../setting.js';
import { hostAndPort, type HostAndPort, hostName, keyPrefix, redisUrl, sentinelName, userName } from '../value-rule.js';

/** Trust and identity towards the store. Nothing here can switch verification off. */
class StoreTlsSettings {
  @text(
    'PEM certificates to trust in place of the built-in authorities. A `tls` section turns on TLS for sentinels and cluster.',
    fileOf(certificates),
    { optional: true },
  )
  readonly caFile?: FileName<string>;

  @text('PEM certificate of the broker, if Redis asks for one.', fileOf(certificates), { optional: true })
  readonly certFile?: FileName<string>;

  @text('PEM key of that certificate.', fileOf(privateKey), { optional: true })
  readonly keyFile?: FileName<string>;

  @text("The name that the certificate of Redis must have, if it is not the host's.", hostName, { optional: true })
  readonly servername?: string;
}

/** Where sessions, leases and due moments live. */
export class StoreSettings {
  @oneOf('`memory`: sessions live in this process, for one replica. `redis`: shared by all replicas.', [
    'memory',
    'redis',
  ])
  readonly type: 'memory' | 'redis' = 'memory';

  @text('Every key in a shared store begins with it.', keyPrefix)
  readonly keyPrefix: string = 'session-broker';

  @oneOf(
    '`authorize`: each replica goes on creating sessions within a local budget; `fail`: none are created. ' +
      'Default: `authorize` for merchants with `supersedes: false`, otherwise `fail`.',
    ['authorize', 'fail'],
    { optional: true },
  )
  readonly onStoreOutage?: 'authorize' | 'fail';

  @text(
    'A single Redis: `redis://user:password@host:6379/0`, `rediss://` for TLS. ' +
      'Exactly one of `url`, `sentinels`, `cluster`.',
    redisUrl,
    { optional: true },
  )
  readonly url?: string;

  @texts('Redis Sentinel: `host:port` of each sentinel.', hostAndPort, 0)
  readonly sentinels: readonly HostAndPort[] = [];

  @text('The name under which the sentinels watch the primary.', sentinelName, { optional: true })
  readonly name?: string;

  @texts('Redis Cluster: `host:port` of some nodes; the others are found through them.', hostAndPort, 0)
  readonly cluster: readonly HostAndPort[] = [];

  @text('ACL user. Its password is in `passwordFile`.', userName, { optional: true })
  readonly username?: string;

  @text('File with the password of the ACL user, or of the default user.', fileOf(password), { optional: true })
  readonly passwordFile?: FileName<string>;

  @section(StoreTlsSettings, { optional: true }) readonly tls?: StoreTlsSettings;
}
