import { notSupported, oneOf, text } from '../setting.js';
import { keyPrefix, type TextRule } from '../value-rule.js';

export type StoreType = 'memory';

const storeType: TextRule = {
  expects: 'memory; redis is not supported yet',
  accepts: (value) => value === 'memory',
};

export class StoreSettings {
  @text(storeType) readonly type: StoreType = 'memory';
  @text(keyPrefix) readonly keyPrefix: string = 'session-broker';
  @oneOf(['authorize', 'fail'], { optional: true }) readonly onStoreOutage?: 'authorize' | 'fail';
  @notSupported() readonly url?: undefined;
  @notSupported() readonly sentinels?: undefined;
  @notSupported() readonly name?: undefined;
  @notSupported() readonly cluster?: undefined;
}
