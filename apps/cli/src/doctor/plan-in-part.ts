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

/** What is known although variables are not set, or settings or files are at fault. */
type InPart = Extract<LoadedConfiguration, { readonly known: object }>;

/**
 * The checks for when environment variables are not set, or settings or files are at fault: those that need none of
 * them, and for each of the others an entry that says what it lacks. An incident does not wait for someone who knows
 * the serviceCode.
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

/**
 * @param chosen the id that was asked for; if no merchant is known to have it, any whose id is unknown may be the one
 */
function merchantsToCheck({ merchants }: BrokerParts, chosen: string | undefined): readonly MerchantParts[] {
  if ('lacks' in merchants) return [];
  if (chosen === undefined) return merchants.known;
  const found = merchants.known.filter(({ id }) => id === chosen);
  return found.length > 0 ? found : merchants.known.filter(({ id }) => id === undefined);
}

const nameOf = ({ id, path }: MerchantParts): string => id ?? path;

/** The files that can be read: the configuration check reports what is wrong with the others. */
export function readable({
  files,
  faulty = [],
}: {
  files: readonly NamedFile[];
  faulty?: readonly string[];
}): readonly NamedFile[] {
  return files.filter(({ path }) => !faulty.includes(path));
}

/** A merchant whose keys are not known gets its own entry, because the keys of the others are known. */
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

/** The check has what it needs from the configuration, although the configuration as a whole was not checked. */
export function byItself({ needs = [], ...check }: Check): Check {
  return { ...check, needs: needs.filter((name) => name !== 'configuration') };
}

/** Something that checks need and that may be unknown. */
type Needed = { readonly known: unknown } | { readonly lacks: readonly Lack[] };

/** The checks to leave out if what they need is unknown; none if it is known. */
export const lacksOf = (needed: Needed, names: readonly string[], subject?: string): readonly Check[] =>
  'lacks' in needed ? leftOut(names, needed.lacks, subject) : [];

/** Checks that cannot run because something is unknown, each with the names of what it lacks. */
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
