import { flagOr, oneOf, section, text } from '../setting.js';
import { baseUrl, durationBetween, proxyUrl } from '../value-rule.js';
import { GatewayTlsSettings } from './gateway-tls-settings.js';
import { RequestDataSettings } from './request-data-settings.js';

export class GatewaySettings {
  @text('Where the gateway is. https is demanded in production.', baseUrl)
  readonly baseUrl!: string;

  @oneOf('`test` allows `testBaseUrl` and needs client keys of its own.', ['production', 'test'])
  readonly environment: 'production' | 'test' = 'production';

  @text('Where the test-only helper requests go; only with `test`.', baseUrl, { optional: true })
  readonly testBaseUrl?: string;

  @text('A create-session call as a whole.', durationBetween('100ms', '60s'))
  readonly timeout: string = '5s';

  @section(RequestDataSettings) readonly requestData: RequestDataSettings = new RequestDataSettings();

  @flagOr('Whether a new session ends the one before it. Published: it does.', 'unknown')
  readonly supersedes: boolean | 'unknown' = true;

  @text(
    "Farther than this from ours the gateway's clock is not believed, and ours judges expiry.",
    durationBetween('2s', '1d'),
  )
  readonly largestClockSkew: string = '5m';

  @section(GatewayTlsSettings) readonly tls: GatewayTlsSettings = new GatewayTlsSettings();

  @text('URL of an HTTP proxy to the gateway.', proxyUrl, { optional: true })
  readonly proxy?: string;
}
