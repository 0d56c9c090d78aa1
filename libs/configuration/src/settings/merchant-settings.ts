import { flag, section, text, texts } from '../setting.js';
import { fileName, merchantId, uuid } from '../value-rule.js';
import { GatewaySettings } from './gateway-settings.js';
import { RenewalSettings } from './renewal-settings.js';

export class MerchantSettings {
  @text(merchantId) readonly id!: string;
  @text(uuid, { optional: true }) readonly serviceCode?: string;
  @text(fileName, { optional: true }) readonly serviceCodeFile?: string;
  /** Newest first: the first one is named to the gateway and seals, the rest only open. */
  @texts(fileName, 1) readonly clientKeyFiles!: string[];
  /** Whether the replica is ready only once this merchant has a session to serve. */
  @flag() readonly required: boolean = true;
  @section(GatewaySettings) readonly gateway!: GatewaySettings;
  @section(RenewalSettings) readonly session: RenewalSettings = new RenewalSettings();
}
