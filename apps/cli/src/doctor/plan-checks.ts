import type { BrokerConfiguration } from '#libs/configuration';
import { CipherHelpers } from '#libs/gateway';
import { gatewaySettingsOf } from '../merchant-gateway.js';
import type { Check } from './check.js';
import { configurationCheck } from './checks/configuration-check.js';
import { crossCheck } from './checks/cross-check.js';
import { environmentCheck } from './checks/environment-check.js';
import { filesCheck } from './checks/files-check.js';
import { keysCheck } from './checks/keys-check.js';
import { requestDataCheck } from './checks/request-data-check.js';
import { sessionCreateCheck, sessionNotAskedCheck } from './checks/session-create-check.js';
import { tokensCheck } from './checks/tokens-check.js';
import {
  certificates,
  gatewayChecks,
  gatewayNames,
  ISSUER_NAMES,
  issuerCheck,
  probeNames,
  STORE_NAMES,
  storeChecks,
  unknown,
} from './check-groups.js';
import type { LoadedConfiguration } from './loaded-configuration.js';
import { checksInPart } from './plan-in-part.js';
import type { Plan } from './plan.js';

/** Assumed if the number of watchers cannot be read. */
const USUAL_WATCHERS = 10_000;
/** Covers both helpers for each of a few texts. */
const CROSS_CHECK_CALLS = 8;

const OUTSIDE = ['keys', 'certificates', ...STORE_NAMES, ...ISSUER_NAMES];

/** The checks in order: from near to far, with those that create sessions last. */
export function planChecks(plan: Plan): readonly Check[] {
  const { loaded, machine } = plan;
  const configuration = loaded.kind === 'usable' ? loaded.configuration : undefined;
  return [
    environmentCheck(machine, configuration?.http.maxWatchers ?? USUAL_WATCHERS),
    configurationCheck(loaded),
    ...(loaded.files === undefined
      ? unknown(['files', 'tokens'])
      : [
          filesCheck({ ...plan, named: loaded.files }),
          tokensCheck({ ...plan, named: loaded.files, modules: modulesOf(loaded) }),
        ]),
    ...('known' in loaded && loaded.known !== undefined ? checksInPart(plan, loaded) : []),
    ...(loaded.kind === 'faulty' && loaded.known === undefined
      ? unknown([...OUTSIDE, ...gatewayNames(plan), ...probeNames(plan)])
      : []),
    ...(configuration === undefined ? [] : known(plan, configuration)),
  ];
}

function modulesOf(loaded: LoadedConfiguration): readonly (string | undefined)[] {
  return loaded.kind === 'usable' ? loaded.configuration.pkcs11.modules : (loaded.known?.modules ?? []);
}

function known(plan: Plan, { merchants, files, auth }: BrokerConfiguration): readonly Check[] {
  return [
    keysCheck(merchants),
    certificates(plan, files),
    ...storeChecks(
      plan,
      plan.merchants.map(({ id }) => id),
    ),
    issuerCheck(plan, auth.jwt),
    ...gatewayChecks(plan, plan.merchants),
    ...probes(plan),
    ...(plan.wishes.createSession === true ? [] : [sessionNotAskedCheck]),
  ];
}

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
