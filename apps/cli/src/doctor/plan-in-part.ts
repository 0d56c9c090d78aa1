import type { Lack, MerchantParts, NamedFile } from '#libs/configuration';
import type { Check } from './check.js';
import { keysCheck } from './checks/keys-check.js';
import type { LoadedConfiguration } from './loaded-configuration.js';
import {
  certificates,
  gatewayChecks,
  gatewayNames,
  ISSUER_NAMES,
  issuerCheck,
  probeNames,
  STORE_NAMES,
  storeChecks,
} from './check-groups.js';
import type { Plan } from './plan.js';

/** What is known where variables are not set, or files at fault. */
type InPart = Extract<LoadedConfiguration, { readonly known: object }>;

/**
 * The checks where variables of the environment are not set or files at fault: those that need none of them, and for each other one which
 * of them it needs. An incident does not wait for somebody who knows the serviceCode.
 */
export function checksInPart(plan: Plan, { known, ...loaded }: InPart): readonly Check[] {
  const { merchant: chosen } = plan.wishes;
  const merchants = known.merchants.filter(({ id }) => chosen === undefined || id === chosen);
  const ids = merchants.map(({ id }) => id);
  return [
    ...keysChecks(merchants),
    byItself(certificates(plan, readable(loaded))),
    ...('lacks' in known.store ? leftOut(STORE_NAMES, known.store.lacks) : storeChecks(plan, ids).map(byItself)),
    ...('lacks' in known.issuer
      ? leftOut(ISSUER_NAMES, known.issuer.lacks)
      : [byItself(issuerCheck(plan, known.issuer.known))]),
    ...gatewayChecks(plan, merchants.flatMap(withGateway)).map(byItself),
    ...merchants.flatMap(({ id, gateway }) =>
      'lacks' in gateway ? leftOut(gatewayNames(plan), gateway.lacks, id) : [],
    ),
    ...probeNames(plan).map((name) => notRun({ name, reason: 'it needs the whole configuration' })),
  ];
}

/** The files that can be read: what is wrong with the others is told by the check of the configuration. */
export function readable({
  files,
  faulty = [],
}: {
  files: readonly NamedFile[];
  faulty?: readonly string[];
}): readonly NamedFile[] {
  return files.filter(({ path }) => !faulty.includes(path));
}

/** Of a merchant whose keys are not known, by itself: those of the others are. */
function keysChecks(merchants: readonly MerchantParts[]): readonly Check[] {
  const known = merchants.flatMap(withKeys);
  return [
    ...(known.length === 0 ? [] : [byItself(keysCheck(known))]),
    ...merchants.flatMap(({ id, clientKeys }) =>
      'lacks' in clientKeys ? leftOut(['keys'], clientKeys.lacks, id) : [],
    ),
  ];
}

const withKeys = ({ id, clientKeys }: MerchantParts): Parameters<typeof keysCheck>[0] =>
  'known' in clientKeys ? [{ id, clientKeys: clientKeys.known }] : [];

const withGateway = ({ id, gateway }: MerchantParts): Parameters<typeof gatewayChecks>[1] =>
  'known' in gateway ? [{ id, gateway: gateway.known }] : [];

/** It has what it needs of the configuration, which as a whole was not looked at. */
export function byItself({ needs = [], ...check }: Check): Check {
  return { ...check, needs: needs.filter((name) => name !== 'configuration') };
}

/** Checks that need what is not known, each with the names of that. */
export function leftOut(names: readonly string[], lacks: readonly Lack[], subject?: string): readonly Check[] {
  const variables = [...new Set(lacks.flatMap((lack) => ('variable' in lack ? [lack.variable] : [])))];
  const settings = [...new Set(lacks.flatMap((lack) => ('setting' in lack ? [lack.setting] : [])))];
  const reason = `it needs ${[
    ...(variables.length === 0
      ? []
      : [`${variables.join(', ')}, which ${variables.length === 1 ? 'is' : 'are'} not set`]),
    ...(settings.length === 0 ? [] : [`the file of ${settings.join(', ')}, with which something is wrong`]),
  ].join(', and ')}`;
  return names.map((name) => notRun({ name, reason, ...(subject === undefined ? {} : { subject }) }));
}

function notRun({ reason, ...of }: { name: string; reason: string; subject?: string }): Check {
  return { ...of, limitMs: 0, run: () => Promise.resolve({ kind: 'not_run', reason }) };
}
