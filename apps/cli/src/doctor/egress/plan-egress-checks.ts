import type { EgressConfiguration, EgressParts } from '#libs/configuration';
import type { Check } from '../check.js';
import { certificatesCheck } from '../checks/certificates-check.js';
import { egressConfigurationCheck } from '../checks/configuration-check.js';
import { environmentCheck, type MachineFacts } from '../checks/environment-check.js';
import { filesCheck } from '../checks/files-check.js';
import { gatewayAddressCheck } from '../checks/gateway-address-check.js';
import { GatewayVisit, type VisitTools } from '../gateway-visit.js';
import type { LoadedEgress } from '../loaded-configuration.js';
import { gatewayNames, unknown, visitChecks } from '../check-groups.js';
import { byItself, lacksOf, leftOut, readable } from '../plan-in-part.js';
import { brokerAccessCheck } from './broker-access-check.js';
import { brokerSessionCheck } from './broker-session-check.js';
import type { BrokerVisit } from './broker-visit.js';
import type { OwnUser } from '../own-user.js';
import { egressHealthCheck } from './egress-health-check.js';
import { egressKeysCheck } from './egress-keys-check.js';

export interface EgressPlan {
  readonly file: string;
  readonly loaded: LoadedEgress;
  readonly machine: MachineFacts;
  readonly user: OwnUser;
  readonly tools: VisitTools;
  /** Absent if its address is not known. */
  readonly broker?: BrokerVisit;
  /** A server that answers with its caller's address. If absent, none is asked. */
  readonly echo?: URL;
}

const BROKER_NAMES = ['broker.access', 'broker.session', 'keys'];

type InPart = Extract<LoadedEgress, { readonly known: object }>;

/** Connections of clients and to the gateway under load. */
const USUAL_CONNECTIONS = 1_000;

/** The checks of an egress in order, from near to far. None of them creates a session or sends a payment. */
export function planEgressChecks(plan: EgressPlan): readonly Check[] {
  const { loaded, machine, file, user, broker, tools } = plan;
  const first = [environmentCheck(machine, USUAL_CONNECTIONS), egressConfigurationCheck(loaded)];
  if ('known' in loaded && loaded.known !== undefined) return [...first, ...inPart(plan, loaded)];
  if (loaded.kind !== 'usable' || broker === undefined) return [...first, ...unknown(namesOf(plan))];
  const { configuration } = loaded;
  const named = { file, named: loaded.files };
  return [
    ...first,
    filesCheck({ ...named, user }),
    certificatesCheck({ ...named, now: () => tools.clock.now() }),
    brokerAccessCheck(broker),
    ...sessionChecks(configuration, broker),
    egressKeysCheck(configuration, broker),
    ...gatewayChecks(plan, configuration.gateway),
    egressHealthCheck(configuration),
  ];
}

function sessionChecks({ clients, routes }: EgressConfiguration, broker: BrokerVisit): readonly Check[] {
  const opens = routes.some(({ body }) => body === 'sealed');
  const merchants = [...new Set(clients.map(({ merchant }) => merchant))];
  return merchants.map((merchant) => brokerSessionCheck(broker, { merchant, opens }));
}

/** The checks for when environment variables are not set, or settings or files are at fault. */
function inPart(plan: EgressPlan, { known, ...loaded }: InPart): readonly Check[] {
  const { file, user, tools } = plan;
  const { gateway, management } = known;
  return [
    filesCheck({ file, named: loaded.files, user }),
    byItself(certificatesCheck({ file, named: readable(loaded), keys: loaded.files, now: () => tools.clock.now() })),
    ...brokerInPart(plan, known),
    ...('lacks' in gateway
      ? leftOut(gatewayNames(plan), gateway.lacks)
      : gatewayChecks(plan, gateway.known).map(byItself)),
    ...('lacks' in management
      ? leftOut(['management'], management.lacks)
      : [byItself(egressHealthCheck({ management: management.known }))]),
  ];
}

function brokerInPart({ broker: visit }: EgressPlan, known: EgressParts): readonly Check[] {
  const { broker, keys } = known;
  if (visit === undefined) return lacksOf(broker, BROKER_NAMES);
  return [
    byItself(brokerAccessCheck(visit)),
    ...sessionsInPart(visit, known),
    ...('lacks' in keys ? leftOut(['keys'], keys.lacks) : [egressKeysCheck(keys.known, visit)]),
  ];
}

/** A client whose merchant is not known gets its own entry, because the merchants of the others are known. */
function sessionsInPart(visit: BrokerVisit, { merchants, hasSealed }: EgressParts): readonly Check[] {
  const name = ['broker.session'];
  if ('lacks' in merchants) return leftOut(name, merchants.lacks);
  if ('lacks' in hasSealed) return leftOut(name, hasSealed.lacks);
  const known = new Set(merchants.known.flatMap(({ merchant }) => ('known' in merchant ? merchant.known : [])));
  return [
    ...[...known].map((merchant) => brokerSessionCheck(visit, { merchant, opens: hasSealed.known })),
    ...merchants.known.flatMap(({ merchant, path }) => lacksOf(merchant, name, path)),
  ];
}

function gatewayChecks({ tools, echo }: EgressPlan, gateway: EgressConfiguration['gateway']): readonly Check[] {
  const visit = new GatewayVisit(gateway, { subject: gateway.baseUrl.host, creates: false }, tools);
  return [...visitChecks(visit), ...(echo === undefined ? [] : [gatewayAddressCheck(visit, echo)])];
}

function namesOf(plan: EgressPlan): readonly string[] {
  return ['files', 'certificates', ...BROKER_NAMES, ...gatewayNames(plan), 'management'];
}
