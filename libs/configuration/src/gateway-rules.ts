import { faultIf, type Rule } from './rule.js';
import type { GatewaySettings } from './settings/merchant-settings.js';

/** What every section `gateway` has, of a merchant as of the egress. */
export interface WithGateway {
  readonly gateway: Pick<GatewaySettings, 'baseUrl' | 'environment' | 'tls'>;
}

export const gatewayRules: Readonly<Record<'httpsInProduction' | 'trustOnlyWithTls', Rule<WithGateway>>> = {
  httpsInProduction: ({ gateway }) =>
    faultIf(
      gateway?.environment === 'production' && gateway.baseUrl?.protocol === 'http:',
      'gateway.baseUrl',
      'must be https, because gateway.environment is production',
    ),
  trustOnlyWithTls: ({ gateway: { baseUrl, tls: { caFile, pins = [] } = {} } = {} }) =>
    faultIf(
      baseUrl?.protocol === 'http:' && (caFile !== undefined || pins.length > 0),
      'gateway.tls',
      'has no effect on an http baseUrl; use https, or remove it',
    ),
};
