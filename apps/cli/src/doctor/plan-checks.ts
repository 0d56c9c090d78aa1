import type { BrokerConfiguration, MerchantConfiguration, NamedFile } from '#libs/configuration';
import { CipherHelpers } from '#libs/gateway';
import { gatewaySettingsOf } from '../merchant-gateway.js';
import type { Check } from './check.js';
import { certificatesCheck } from './checks/certificates-check.js';
import { configurationCheck } from './checks/configuration-check.js';
import { crossCheck } from './checks/cross-check.js';
import { environmentCheck, type MachineFacts } from './checks/environment-check.js';
import { filesCheck } from './checks/files-check.js';
import { gatewayAddressCheck } from './checks/gateway-address-check.js';
import { gatewayClockCheck } from './checks/gateway-clock-check.js';
import { gatewayDnsCheck } from './checks/gateway-dns-check.js';
import { gatewayHttpCheck } from './checks/gateway-http-check.js';
import { gatewayTcpCheck } from './checks/gateway-tcp-check.js';
import { gatewayTlsCheck } from './checks/gateway-tls-check.js';
import { keysCheck } from './checks/keys-check.js';
import { memoryStoreCheck } from './checks/memory-store-check.js';
import { requestDataCheck } from './checks/request-data-check.js';
import { sessionCreateCheck, sessionNotAskedCheck } from './checks/session-create-check.js';
import { storeClockCheck } from './checks/store-clock-check.js';
import { storeConnectionCheck } from './checks/store-connection-check.js';
import { storeRightsCheck } from './checks/store-rights-check.js';
import { storeServerCheck } from './checks/store-server-check.js';
import { tokensCheck } from './checks/tokens-check.js';
import { type GatewayVisit, visitsOf, type VisitTools } from './gateway-visit.js';
import type { LoadedConfiguration } from './loaded-configuration.js';
import type { ProbeWishes } from './probes.js';
import type { RecipientCandidate } from './request-data-search.js';
import type { StoreVisit } from './store-visit.js';

export interface Plan {
  readonly file: string;
  readonly loaded: LoadedConfiguration;
  readonly machine: MachineFacts;
  readonly uid: number | undefined;
  readonly tools: VisitTools;
  /** Absent: the store is in memory, or not known. */
  readonly store?: StoreVisit;
  /** Of the gateways to look at; the merchant that probes are for is the first of them. */
  readonly merchants: readonly MerchantConfiguration[];
  readonly wishes: ProbeWishes;
  /** A server that answers with the address of its caller; absent: nobody is asked. */
  readonly echo?: URL;
  readonly names: readonly string[];
  readonly recipients: readonly RecipientCandidate[];
}

/** What is assumed where the number of watchers cannot be read. */
const USUAL_WATCHERS = 10_000;
/** Both helpers, for each of a few texts. */
const CROSS_CHECK_CALLS = 8;

/** The checks in their order: from near to far, and those that create sessions last. */
export function planChecks(plan: Plan): readonly Check[] {
  const { loaded, machine } = plan;
  const configuration = loaded.kind === 'usable' ? loaded.configuration : undefined;
  return [
    environmentCheck(machine, configuration?.http.maxWatchers ?? USUAL_WATCHERS),
    configurationCheck(loaded),
    ...(loaded.files === undefined
      ? unknown(['files', 'tokens'])
      : [filesCheck({ ...plan, named: loaded.files }), tokensCheck({ ...plan, named: loaded.files })]),
    ...(configuration === undefined ? unknown(namesOf(plan)) : known(plan, configuration)),
  ];
}

function known(plan: Plan, { merchants, files }: BrokerConfiguration): readonly Check[] {
  return [
    keysCheck(merchants),
    certificates(plan, files),
    ...storeChecks(plan),
    ...gatewayChecks(plan),
    ...probes(plan),
    ...(plan.wishes.createSession === true ? [] : [sessionNotAskedCheck]),
  ];
}

const certificates = ({ file, tools }: Plan, named: readonly NamedFile[]): Check =>
  certificatesCheck({ file, named, now: () => tools.clock.now() });

function storeChecks({ store, merchants, tools }: Plan): readonly Check[] {
  if (store === undefined) return [memoryStoreCheck()];
  return [
    storeConnectionCheck(store),
    storeServerCheck(store, () => tools.clock.now()),
    storeClockCheck(store),
    storeRightsCheck(
      store,
      merchants.map(({ id }) => id),
    ),
  ];
}

function gatewayChecks({ merchants, tools, echo }: Plan): readonly Check[] {
  return visitsOf(merchants, tools).flatMap((visit) => [
    ...visitChecks(visit),
    ...(echo === undefined ? [] : [gatewayAddressCheck(visit, echo)]),
  ]);
}

/** What is looked at of any gateway, from near to far. */
export const visitChecks = (visit: GatewayVisit): readonly Check[] => [
  gatewayDnsCheck(visit),
  gatewayTcpCheck(visit),
  gatewayTlsCheck(visit),
  gatewayHttpCheck(visit),
  gatewayClockCheck(visit),
];

function probes({ wishes, merchants: [merchant], tools, loaded, names, recipients }: Plan): readonly Check[] {
  if (merchant === undefined || loaded.kind !== 'usable') return [];
  const all = loaded.configuration.merchants.map(gatewaySettingsOf);
  const helpers = new CipherHelpers({ ...tools, merchants: () => all });
  const limitMs = CROSS_CHECK_CALLS * merchant.gateway.timeoutMs;
  return [
    ...(wishes.crossCheck === true ? [crossCheck({ merchant: merchant.id, helpers, limitMs })] : []),
    ...(wishes.discover === true ? [requestDataCheck({ merchant, tools, names, recipients })] : []),
    ...(wishes.createSession === true ? [sessionCreateCheck(merchant, tools)] : []),
  ];
}

function namesOf({ echo, wishes: { crossCheck: cross, discover, createSession } }: Plan): readonly string[] {
  return [
    ...['keys', 'certificates', 'store.connection', 'store.server', 'store.clock', 'store.rights'],
    ...VISIT_NAMES,
    ...(echo === undefined ? [] : ['gateway.address']),
    ...(cross === true ? ['cipher.cross_check'] : []),
    ...(discover === true ? ['session.request_data'] : []),
    ...(createSession === true ? ['session.create'] : []),
  ];
}

export const VISIT_NAMES = ['gateway.dns', 'gateway.tcp', 'gateway.tls', 'gateway.http', 'gateway.clock'];

/** Without a configuration they have nothing to look at; that they did not run must still be said. */
export function unknown(names: readonly string[]): readonly Check[] {
  return names.map((name) => ({
    name,
    needs: ['configuration'],
    limitMs: 0,
    run: () => Promise.resolve({ kind: 'not_run', reason: 'the configuration is not known' }),
  }));
}
