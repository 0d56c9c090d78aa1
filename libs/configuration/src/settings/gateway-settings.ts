import { flagOr, oneOf, section, text } from '../setting.js';
import { baseUrl, durationBetween, proxyUrl } from '../value-rule.js';
import { GatewayTlsSettings } from './gateway-tls-settings.js';
import { RequestDataSettings } from './request-data-settings.js';

export class GatewaySettings {
  @text(baseUrl) readonly baseUrl!: string;
  @oneOf(['production', 'test']) readonly environment: 'production' | 'test' = 'production';
  @text(baseUrl, { optional: true }) readonly testBaseUrl?: string;
  @text(durationBetween('100ms', '60s')) readonly timeout: string = '5s';
  @section(RequestDataSettings) readonly requestData: RequestDataSettings = new RequestDataSettings();
  /** Whether a new session ends the one before it: open in the interface description. */
  @flagOr('unknown') readonly supersedes: boolean | 'unknown' = 'unknown';
  @section(GatewayTlsSettings) readonly tls: GatewayTlsSettings = new GatewayTlsSettings();
  @text(proxyUrl, { optional: true }) readonly proxy?: string;
}
