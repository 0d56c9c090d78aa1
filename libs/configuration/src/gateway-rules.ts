import { faultIf, type Rule } from './rule.js';
import type { GatewaySettings } from './settings/merchant-settings.js';

/** What every section `gateway` has, of a merchant as of the egress. */
export interface WithGateway {
  readonly gateway: Pick<GatewaySettings, 'baseUrl' | 'environment' | 'tls'>;
}

/** Operations of the gateway (interface description): their paths are added to the base URL. */
const OPERATION =
  /^(.*?)\/(?:api-gateway\/authorize_virtual_device|ecom\/execute_request(?:\/.*)?|cipher\/\w+_by_jwk)\/*$/;

export const gatewayRules: Readonly<
  Record<'httpsInProduction' | 'trustOnlyWithTls' | 'baseWithoutOperation', Rule<WithGateway>>
> = {
  baseWithoutOperation: ({ gateway: { baseUrl } = {} }) => {
    const base = OPERATION.exec(baseUrl?.pathname ?? '')?.[1];
    return faultIf(
      base !== undefined,
      'gateway.baseUrl',
      `must not have the path of an operation, which is added to it; write ${baseUrl?.origin}${base}`,
    );
  },
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
