import type { MerchantParts } from '#libs/configuration';
import type { Check } from './check.js';
import { keysCheck } from './checks/keys-check.js';
import type { LoadedConfiguration } from './loaded-configuration.js';
import { certificates, gatewayChecks, gatewayNames, probeNames, STORE_NAMES, storeChecks } from './check-groups.js';
import type { Plan } from './plan.js';

type Incomplete = Extract<LoadedConfiguration, { readonly kind: 'incomplete' }>;

/**
 * The checks where variables of the environment are not set: those that need none of them, and for each other one which of them it
 * needs. An incident does not wait for somebody who knows the serviceCode.
 */
export function checksInPart(plan: Plan, { known, files }: Incomplete): readonly Check[] {
  const { merchant: chosen } = plan.wishes;
  const merchants = known.merchants.filter(({ id }) => chosen === undefined || id === chosen);
  const ids = merchants.map(({ id }) => id);
  return [
    ...keysChecks(merchants),
    byItself(certificates(plan, files)),
    ...('lacks' in known.store ? leftOut(STORE_NAMES, known.store.lacks) : storeChecks(plan, ids).map(byItself)),
    ...gatewayChecks(plan, merchants.flatMap(withGateway)).map(byItself),
    ...merchants.flatMap(({ id, gateway }) =>
      'lacks' in gateway ? leftOut(gatewayNames(plan), gateway.lacks, id) : [],
    ),
    ...probeNames(plan).map((name) => notRun({ name, reason: 'it needs the whole configuration' })),
  ];
}

function keysChecks(merchants: readonly MerchantParts[]): readonly Check[] {
  const lacks = merchants.flatMap(({ clientKeys }) => ('lacks' in clientKeys ? clientKeys.lacks : []));
  if (lacks.length > 0) return leftOut(['keys'], lacks);
  return [byItself(keysCheck(merchants.flatMap(withKeys)))];
}

const withKeys = ({ id, clientKeys }: MerchantParts): Parameters<typeof keysCheck>[0] =>
  'known' in clientKeys ? [{ id, clientKeys: clientKeys.known }] : [];

const withGateway = ({ id, gateway }: MerchantParts): Parameters<typeof gatewayChecks>[1] =>
  'known' in gateway ? [{ id, gateway: gateway.known }] : [];

/** It has what it needs of the configuration, which as a whole was not looked at. */
export function byItself({ needs = [], ...check }: Check): Check {
  return { ...check, needs: needs.filter((name) => name !== 'configuration') };
}

/** Checks that need variables which are not set, each with the names of those. */
export function leftOut(names: readonly string[], lacks: readonly string[], subject?: string): readonly Check[] {
  const variables = [...new Set(lacks)];
  const reason = `it needs ${variables.join(', ')}, which ${variables.length === 1 ? 'is' : 'are'} not set`;
  return names.map((name) => notRun({ name, reason, ...(subject === undefined ? {} : { subject }) }));
}

function notRun({ reason, ...of }: { name: string; reason: string; subject?: string }): Check {
  return { ...of, limitMs: 0, run: () => Promise.resolve({ kind: 'not_run', reason }) };
}
