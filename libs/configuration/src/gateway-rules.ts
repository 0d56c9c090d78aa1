import { faultIf, type Rule } from './rule.js';
import type { GatewaySettings } from './settings/merchant-settings.js';

/** What every `gateway` section has, a merchant's as well as the egress's. */
export interface WithGateway {
  readonly gateway: Pick<GatewaySettings, 'baseUrl' | 'environment' | 'tls'>;
}

/** Operations of the gateway (interface description): their paths are added to the base URL. */
const OPERATION = /\/(?:api-gateway\/authorize_virtual_device|ecom\/execute_request(?:\/.*)?|cipher\/\w+_by_jwk)\/*$/;

export const gatewayRules: Readonly<
  Record<'httpsInProduction' | 'trustOnlyWithTls' | 'baseWithoutOperation', Rule<WithGateway>>
> = {
  baseWithoutOperation: ({ gateway: { baseUrl } = {} }) =>
    faultIf(
      OPERATION.test(baseUrl?.pathname ?? ''),
      'gateway.baseUrl',
      'must not have the path of an operation, which is added to it; leave it out',
    ),
  httpsInProduction: ({ gateway }) =>
    faultIf(
      gateway?.environment === 'production' && gateway.baseUrl?.protocol === 'http:',
      'gateway.baseUrl',
      'must be https, because gateway.environment is production; if this is a test gateway, set it to test',
    ),
  trustOnlyWithTls: ({ gateway: { baseUrl, tls: { caFile, pins = [] } = {} } = {} }) =>
    faultIf(
      baseUrl?.protocol === 'http:' && (caFile !== undefined || pins.length > 0),
      'gateway.tls',
      'has no effect on an http baseUrl; use https, or remove it',
    ),
};
