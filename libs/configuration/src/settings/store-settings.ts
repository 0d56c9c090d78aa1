import { oneOf, section, text, texts } from '../setting.js';
import { fileName, hostAndPort, keyPrefix, redisUrl, sentinelName, userName } from '../value-rule.js';
import { StoreTlsSettings } from './store-tls-settings.js';

export type StoreType = 'memory' | 'redis';

/** Where sessions, leases and due moments live. */
export class StoreSettings {
  @oneOf('`memory`: sessions live in this process, for one replica. `redis`: shared by all replicas.', [
    'memory',
    'redis',
  ])
  readonly type: StoreType = 'memory';

  @text('Begins every key in a shared store.', keyPrefix)
  readonly keyPrefix: string = 'session-broker';

  @oneOf(
    '`authorize`: go on creating within a local budget; `fail`: stop. ' +
      'Left out: `authorize` for merchants with `supersedes: false`, else `fail`.',
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
  readonly sentinels: string[] = [];

  @text('The name under which the sentinels watch the primary.', sentinelName, { optional: true })
  readonly name?: string;

  @texts('Redis Cluster: `host:port` of some nodes; the others are found through them.', hostAndPort, 0)
  readonly cluster: string[] = [];

  @text('ACL user. Its password is in `passwordFile`.', userName, { optional: true })
  readonly username?: string;

  @text('File with the password of the ACL user, or of the default user.', fileName, { optional: true })
  readonly passwordFile?: string;

  @section(StoreTlsSettings, { optional: true }) readonly tls?: StoreTlsSettings;
}
