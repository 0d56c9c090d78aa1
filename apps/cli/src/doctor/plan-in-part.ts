import type { BrokerParts, Lack, MerchantParts, NamedFile } from '#libs/configuration';
import { type Check, some } from './check.js';
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

/** What is known where variables are not set, or settings or files at fault. */
type InPart = Extract<LoadedConfiguration, { readonly known: object }>;

/**
 * The checks where variables of the environment are not set, or settings or files at fault: those that need none of them, and for
 * each other one which of them it needs. An incident does not wait for somebody who knows the serviceCode.
 */
export function checksInPart(plan: Plan, { known, ...loaded }: InPart): readonly Check[] {
  const merchants = merchantsToCheck(known, plan.wishes.merchant);
  const ids = merchants.flatMap(({ id }) => id ?? []);
  return [
    ...keysChecks(merchants),
    ...lacksOf(known.merchants, ['keys']),
    byItself(certificates(plan, readable(loaded), loaded.files)),
    ...('lacks' in known.store ? leftOut(STORE_NAMES, known.store.lacks) : storeChecks(plan, ids).map(byItself)),
    ...('lacks' in known.issuer
      ? leftOut(ISSUER_NAMES, known.issuer.lacks)
      : [byItself(issuerCheck(plan, known.issuer.known))]),
    ...gatewayChecks(plan, merchants.flatMap(withGateway)).map(byItself),
    ...merchants.flatMap((merchant) => lacksOf(merchant.gateway, gatewayNames(plan), nameOf(merchant))),
    ...lacksOf(known.merchants, gatewayNames(plan)),
    ...probeNames(plan).map((name) => notRun({ name, reason: 'it needs the whole configuration' })),
  ];
}

/** @param chosen the id of the one that is asked for; when nobody is known to have it, it may be that of any whose id is not known */
function merchantsToCheck({ merchants }: BrokerParts, chosen: string | undefined): readonly MerchantParts[] {
  if ('lacks' in merchants) return [];
  if (chosen === undefined) return merchants.known;
  const found = merchants.known.filter(({ id }) => id === chosen);
  return found.length > 0 ? found : merchants.known.filter(({ id }) => id === undefined);
}

const nameOf = ({ id, path }: MerchantParts): string => id ?? path;

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
    ...merchants.flatMap((merchant) => lacksOf(merchant.clientKeys, ['keys'], nameOf(merchant))),
  ];
}

const withKeys = (merchant: MerchantParts): Parameters<typeof keysCheck>[0] =>
  'known' in merchant.clientKeys ? [{ id: nameOf(merchant), clientKeys: merchant.clientKeys.known }] : [];

const withGateway = (merchant: MerchantParts): Parameters<typeof gatewayChecks>[1] =>
  'known' in merchant.gateway ? [{ id: nameOf(merchant), gateway: merchant.gateway.known }] : [];

/** It has what it needs of the configuration, which as a whole was not looked at. */
export function byItself({ needs = [], ...check }: Check): Check {
  return { ...check, needs: needs.filter((name) => name !== 'configuration') };
}

/** Something that checks need and that may not be known. */
type Needed = { readonly known: unknown } | { readonly lacks: readonly Lack[] };

/** The checks, left out, of what is not known; none of what is. */
export const lacksOf = (needed: Needed, names: readonly string[], subject?: string): readonly Check[] =>
  'lacks' in needed ? leftOut(names, needed.lacks, subject) : [];

/** Checks that need what is not known, each with the names of that. */
export function leftOut(names: readonly string[], lacks: readonly Lack[], subject?: string): readonly Check[] {
  const variables = distinct(lacks.flatMap((lack) => ('variable' in lack ? lack.variable : [])));
  const files = distinct(lacks.flatMap((lack) => ('fileOf' in lack ? lack.fileOf : [])));
  const settings = distinct(lacks.flatMap((lack) => ('setting' in lack ? lack.setting : [])));
  const reason = `it needs ${[
    ...(variables.length === 0 ? [] : [`${some(variables)}, which ${areOf(variables)} not set`]),
    ...(files.length === 0 ? [] : [`the file of ${some(files)}, with which something is wrong`]),
    ...(settings.length === 0 ? [] : [`${some(settings)}, which ${areOf(settings)} at fault`]),
  ].join(', and ')}`;
  return names.map((name) => notRun({ name, reason, ...(subject === undefined ? {} : { subject }) }));
}

const distinct = (names: readonly string[]): readonly string[] => [...new Set(names)];

const areOf = ({ length }: readonly string[]): string => (length === 1 ? 'is' : 'are');

function notRun({ reason, ...of }: { name: string; reason: string; subject?: string }): Check {
  return { ...of, limitMs: 0, run: () => Promise.resolve({ kind: 'not_run', reason }) };
}
