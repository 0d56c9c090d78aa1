import { flag, section, text, texts } from '../setting.js';
import { fileName, merchantId, uuid } from '../value-rule.js';
import { GatewaySettings } from './gateway-settings.js';
import { RenewalSettings } from './renewal-settings.js';

export class MerchantSettings {
  @text("Unique. Part of the API's paths.", merchantId)
  readonly id!: string;

  @text('The UUID that the bank assigned; unique. This or `serviceCodeFile`.', uuid, { optional: true })
  readonly serviceCode?: string;

  @text('A file that holds the serviceCode and nothing else.', fileName, { optional: true })
  readonly serviceCodeFile?: string;

  @texts(
    'Private JWKs, newest first: the first is in use, the rest only open. Never shared between production and test.',
    fileName,
    1,
  )
  readonly clientKeyFiles!: string[];

  @flag('Whether the replica is ready only once this merchant has a session to serve.')
  readonly required: boolean = true;

  @section(GatewaySettings) readonly gateway!: GatewaySettings;
  @section(RenewalSettings) readonly session: RenewalSettings = new RenewalSettings();
}
