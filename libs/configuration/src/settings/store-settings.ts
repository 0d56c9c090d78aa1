import { oneOf, section, text, texts } from '../setting.js';
import { fileName, hostAndPort, keyPrefix, redisUrl, sentinelName, userName } from '../value-rule.js';
import { StoreTlsSettings } from './store-tls-settings.js';

export type StoreType = 'memory' | 'redis';

/** Where sessions, leases and due moments live. */
export class StoreSettings {
  @oneOf(['memory', 'redis']) readonly type: StoreType = 'memory';
  @text(keyPrefix) readonly keyPrefix: string = 'session-broker';
  @oneOf(['authorize', 'fail'], { optional: true }) readonly onStoreOutage?: 'authorize' | 'fail';
  @text(redisUrl, { optional: true }) readonly url?: string;
  @texts(hostAndPort, 0) readonly sentinels: string[] = [];
  @text(sentinelName, { optional: true }) readonly name?: string;
  @texts(hostAndPort, 0) readonly cluster: string[] = [];
  @text(userName, { optional: true }) readonly username?: string;
  @text(fileName, { optional: true }) readonly passwordFile?: string;
  @section(StoreTlsSettings, { optional: true }) readonly tls?: StoreTlsSettings;
}
