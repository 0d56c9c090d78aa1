import type { JwtConfiguration, NamedFile } from '#libs/configuration';
import type { Check } from './check.js';
import { authJwksCheck } from './checks/auth-jwks-check.js';
import { certificatesCheck } from './checks/certificates-check.js';
import { gatewayAddressCheck } from './checks/gateway-address-check.js';
import { gatewayClockCheck } from './checks/gateway-clock-check.js';
import { gatewayDnsCheck } from './checks/gateway-dns-check.js';
import { gatewayHttpCheck } from './checks/gateway-http-check.js';
import { gatewayTcpCheck } from './checks/gateway-tcp-check.js';
import { gatewayTlsCheck } from './checks/gateway-tls-check.js';
import { memoryStoreCheck } from './checks/memory-store-check.js';
import { storeClockCheck } from './checks/store-clock-check.js';
import { storeConnectionCheck } from './checks/store-connection-check.js';
import { storeRightsCheck } from './checks/store-rights-check.js';
import { storeServerCheck } from './checks/store-server-check.js';
import { type GatewayVisit, type MerchantWithGateway, visitsOf } from './gateway-visit.js';
import type { Plan } from './plan.js';

const VISIT_NAMES = ['gateway.dns', 'gateway.tcp', 'gateway.tls', 'gateway.http', 'gateway.clock'];
export const ISSUER_NAMES = ['auth.jwks'];
export const STORE_NAMES = ['store.connection', 'store.server', 'store.clock', 'store.rights'];

/** Checks what is in the certificate files, as far as the configuration names them. */
export const certificates = (
  { file, tools }: Plan,
  named: readonly NamedFile[],
  keys: readonly NamedFile[] = named,
): Check => certificatesCheck({ file, named, keys, now: () => tools.clock.now() });

/** @param ids the merchants whose records are in the store */
export function storeChecks({ store, tools }: Plan, ids: readonly string[]): readonly Check[] {
  if (store === undefined) return [memoryStoreCheck()];
  return [
    storeConnectionCheck(store),
    storeServerCheck(store, () => tools.clock.now()),
    storeClockCheck(store),
    storeRightsCheck(store, ids),
  ];
}

/**
 * Whether callers' tokens can be checked.
 * @param jwt undefined if no caller uses tokens
 */
export const issuerCheck = ({ tools }: Plan, jwt: Pick<JwtConfiguration, 'issuer' | 'keys'> | undefined): Check =>
  authJwksCheck(jwt, tools.clock);

/** Checks every distinct way to a gateway that the merchants use. */
export function gatewayChecks({ tools, echo }: Plan, merchants: readonly MerchantWithGateway[]): readonly Check[] {
  return visitsOf(merchants, tools).flatMap((visit) => [
    ...visitChecks(visit),
    ...(echo === undefined ? [] : [gatewayAddressCheck(visit, echo)]),
  ]);
}

/** The checks of any gateway, from near to far. */
export const visitChecks = (visit: GatewayVisit): readonly Check[] => [
  gatewayDnsCheck(visit),
  gatewayTcpCheck(visit),
  gatewayTlsCheck(visit),
  gatewayHttpCheck(visit),
  gatewayClockCheck(visit),
];

/** The names of the checks of a gateway. */
export const gatewayNames = ({ echo }: Pick<Plan, 'echo'>): readonly string[] => [
  ...VISIT_NAMES,
  ...(echo === undefined ? [] : ['gateway.address']),
];

/** The checks that run only on request. */
export const probeNames = ({ wishes: { crossCheck: cross, discover, createSession } }: Plan): readonly string[] => [
  ...(cross === true ? ['cipher.cross_check'] : []),
  ...(discover === true ? ['session.request_data'] : []),
  ...(createSession === true ? ['session.create'] : []),
];

/**
 * Without a configuration these checks have nothing to look at, but the report must still say that they did not run.
 */
export function unknown(names: readonly string[]): readonly Check[] {
  return names.map((name) => ({
    name,
    needs: ['configuration'],
    limitMs: 0,
    run: () => Promise.resolve({ kind: 'not_run', reason: 'the configuration is not known' }),
  }));
}
