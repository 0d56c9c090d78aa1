import type { Warning } from './fault.js';
import { nearestName } from './nearest-name.js';
import { faultIf, type Rule } from './rule.js';
import type { GatewaySettings } from './settings/merchant-settings.js';

/** What every `gateway` section has, a merchant's as well as the egress's. */
export interface WithGateway {
  readonly gateway: Pick<GatewaySettings, 'baseUrl' | 'environment' | 'tls'>;
}

/** Operations of the gateway (interface description): their paths are added to the base URL. */
const OPERATION =
  /^(.*?)\/(?:api-gateway\/authorize_virtual_device|ecom\/execute_request(?:\/.*)?|cipher\/\w+_by_jwk)\/*$/;

/** Parts of those paths that hardly any other path contains. */
const OPERATION_PARTS = ['api-gateway', 'authorize_virtual_device', 'execute_request'];

/**
 * Warns of a path that contains part of an operation's path, or nearly so: it may be correct behind one's own proxy.
 */
export function operationWarnings(
  path: string,
  { baseUrl }: { readonly baseUrl?: URL | undefined } = {},
): readonly Warning[] {
  const parts = baseUrl?.pathname.split('/') ?? [];
  const isLikeOperation = parts.some((part) => nearestName(part, OPERATION_PARTS) !== undefined);
  const problem =
    'has part of the path of an operation, which is added to it again; leave it out unless the address really has it twice';
  return faultIf(isLikeOperation, `${path}.baseUrl`, problem);
}

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
  httpsInProduction: ({ gateway }) => {
    const problem = 'must be https, because gateway.environment is production';
    const ofDefault = {
      path: 'gateway.environment',
      problem: `${problem} (the default); if this is a test gateway, set it to test`,
    };
    const isWrong = gateway?.environment === 'production' && gateway.baseUrl?.protocol === 'http:';
    return isWrong ? [{ path: 'gateway.baseUrl', problem, ofDefault }] : [];
  },
  trustOnlyWithTls: ({ gateway: { baseUrl, tls: { caFile, pins = [] } = {} } = {} }) =>
    faultIf(
      baseUrl?.protocol === 'http:' && (caFile !== undefined || pins.length > 0),
      'gateway.tls',
      'has no effect on an http baseUrl; use https, or remove it',
    ),
};
