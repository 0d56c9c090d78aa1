import { text } from '../setting.js';
import { fileName, hostName } from '../value-rule.js';

/** Trust and identity towards the store. Nothing here can switch verification off. */
export class StoreTlsSettings {
  @text(fileName, { optional: true }) readonly caFile?: string;
  @text(fileName, { optional: true }) readonly certFile?: string;
  @text(fileName, { optional: true }) readonly keyFile?: string;
  @text(hostName, { optional: true }) readonly servername?: string;
}
