import { dirname, resolve } from 'node:path';
import { brokerKind, jwtConfiguration, storeConfiguration } from './broker-configuration.js';
import type { Loose } from './check-settings.js';
import type { ConfigurationKind } from './configuration-kind.js';
import { brokerAccess, egressClient, egressKind } from './egress-configuration.js';
import { childPath, ConfigurationError, isWithin, located, type Warning, WHOLE_FILE } from './fault.js';
import { examine, isEgressFile, look, readYamlFile, type Surroundings } from './load-configuration.js';
import type { Loaded, NamedFile } from './named-files.js';
import type { UnsetVariable, YamlContent } from './read-yaml.js';
import type { BrokerSettings, MerchantSettings } from './settings/broker-settings.js';
import type { EgressDocument, EgressSettings } from './settings/egress-settings.js';

/** Something that a part of a configuration lacks. */
export type Lack =
  /** An environment variable that is not set. */
  | { readonly variable: string }
  /** The content of the file that this setting names. */
  | { readonly fileOf: string }
  /** This setting, which is faulty itself. */
  | { readonly setting: string };

/** A part of a configuration, or what is missing for it to be known. */
type Part<Content> = { readonly known: Content } | { readonly lacks: readonly Lack[] };

/** What can be known of a configuration with unset variables, or faulty settings or files. */
export type BrokerParts = ReturnType<typeof brokerParts>;
export type EgressParts = ReturnType<typeof egressParts>;
export type MerchantParts = Extract<BrokerParts['merchants'], { readonly known: unknown }>['known'][number];

/** What is known to be correct in a configuration, what is wrong, and what could not be checked. */
export type PartlyChecked = Checked &
  ({ readonly kind: 'broker'; readonly known: BrokerParts } | { readonly kind: 'egress'; readonly known: EgressParts });

interface Checked {
  /**
   * Every fault in what could be checked and, unless only the structure is checked, the variables that are not set;
   * absent if only those are missing.
   */
  readonly error?: ConfigurationError;
  /** Settings that need a variable that is not set, in the order of the file. */
  readonly unset: readonly UnsetVariable[];
  /** Every file that a correct setting names. */
  readonly files: readonly NamedFile[];
  /** Those that were not read. */
  readonly unread: readonly NamedFile[];
  /** Settings that are correct in themselves but whose files are faulty. */
  readonly faulty: readonly string[];
  /** About what could be checked. */
  readonly warnings: readonly Warning[];
}

interface CheckOptions extends Omit<Surroundings, 'asksTokens'> {
  /** False: check the structure alone. */
  readonly readsFiles: boolean;
}

/**
 * Checks a configuration file as far as possible without variables that are not set and, if requested, without the
 * files that it names: a build machine has none of the secrets. No PKCS#11 module is run.
 * @throws ConfigurationError if the file is not YAML, or so much is wrong that checking stopped before the end
 */
export async function checkConfiguration(file: string, options: CheckOptions): Promise<PartlyChecked> {
  const content = await readYamlFile(file, options.environment);
  const place = { ...options, folder: dirname(resolve(file)) };
  if (isEgressFile(content)) {
    const { settings, lacking, checked } = await check(egressKind, content, place);
    return { ...checked, kind: 'egress', known: egressParts(settings, lacking) };
  }
  const { settings, lacking, checked } = await check(brokerKind, content, place);
  return { ...checked, kind: 'broker', known: brokerParts(settings, lacking) };
}

/** A setting or section that is not known, and why. */
interface Lacking {
  readonly path: string;
  readonly lack: Lack;
}

async function check<Settings>(
  kind: ConfigurationKind<Settings, unknown>,
  content: YamlContent,
  options: CheckOptions & { readonly folder: string },
): Promise<{ settings: Loaded<Loose<Settings>>; lacking: readonly Lacking[]; checked: Checked }> {
  const examined = examine(kind, content);
  const { places, unset, hasMore, faults } = examined;
  if (hasMore || faults.some(({ path }) => path === WHOLE_FILE))
    throw new ConfigurationError(located(places, faults), { hasMore });
  const { settings, ofFiles, warnings, named } = await look(kind, examined, { ...options, asksTokens: false });
  const ofUnset = new Set(unset.map(({ path }) => path));
  const wrong = faults.filter(({ path }) => !ofUnset.has(path));
  const told = [...(options.readsFiles ? faults : wrong), ...ofFiles];
  const error = wrong.length + ofFiles.length > 0 && new ConfigurationError(located(places, told), { warnings });
  const unread = options.readsFiles ? [] : named;
  const lacking = [
    ...unset.map(({ path, variable }) => ({ path, lack: { variable } })),
    ...[...ofFiles, ...unread].map(({ path }) => ({ path, lack: { fileOf: path } })),
    ...wrong.map(({ path }) => ({ path, lack: { setting: path } })),
  ];
  const files = named.filter(({ path }) => !wrong.some((fault) => isWithin(path, fault.path)));
  const rest = { unset: located(places, unset), files, unread, faulty: ofFiles.map(({ path }) => path), warnings };
  return { settings, lacking, checked: { ...(error && { error }), ...rest } };
}

/** Settings that are not needed to reach what their section points to. */
const NOT_OF_THE_ISSUER = ['audience', 'types', 'clockTolerance'].map((name) => `auth.jwt.${name}`);
const NOT_OF_THE_WAY = ['requestData', 'supersedes', 'largestClockSkew'];
/** Settings of a client that identify it, but say nothing about its keys. */
const NOT_OF_THE_KEYS = /^egress\.clients\[\d+\]\.(?:token|formerToken|certificate)\b/;

/** @param settings without anything that is lacking, with the contents of their files */
function brokerParts(settings: Loaded<Loose<BrokerSettings>>, lacking: readonly Lacking[]) {
  const { auth, store, merchants, pkcs11 } = settings as Partial<Loaded<BrokerSettings>>;
  const ids = merchants?.map((merchant: Loaded<MerchantSettings> | undefined) => merchant?.id) ?? [];
  return {
    /** Who issues the callers' tokens, and where its keys are; undefined: nobody. */
    issuer: part(exceptIn(lacking, NOT_OF_THE_ISSUER), 'auth.jwt', () => auth?.jwt && jwtConfiguration(auth.jwt)),
    /** The PKCS#11 modules that may be run. */
    modules: pkcs11?.modules ?? [],
    store: part(exceptIn(lacking, ['store.onStoreOutage']), 'store', () => storeConfiguration(whole(store))),
    merchants: listed(lacking, { path: 'merchants', items: merchants }, (merchant, path) => {
      const id = merchant?.id;
      // An id that two merchants share identifies neither of them.
      const isKnown = id !== undefined && ids.indexOf(id) === ids.lastIndexOf(id);
      const notOfTheWay = NOT_OF_THE_WAY.map((name) => `${path}.gateway.${name}`);
      return {
        /** Where it is in the file: `merchants[0]`. */
        path,
        ...(isKnown && { id }),
        clientKeys: part(lacking, `${path}.clientKeyFiles`, () => whole(merchant).clientKeys),
        /** How it is reached, whatever happens to sessions and is in create calls. */
        gateway: part(exceptIn(lacking, notOfTheWay), `${path}.gateway`, () => wayTo(whole(merchant))),
      };
    }),
  };
}

/** @param settings without anything that is lacking, with the contents of their files */
function egressParts(settings: Loaded<Loose<EgressDocument>>, lacking: readonly Lacking[]) {
  const egress = (settings.egress ?? {}) as Partial<Loaded<EgressSettings>>;
  const ofKeys = lacking.filter(({ path }) => !NOT_OF_THE_KEYS.test(path));
  const keysLack = ['egress.aliasKeyFiles', 'egress.clients'].flatMap((place) => lacksAt(ofKeys, place));
  return {
    broker: part(lacking, 'egress.broker', () => brokerAccess(whole(egress.broker))),
    gateway: part(lacking, 'egress.gateway', () => whole(egress.gateway)),
    management: part(lacking, 'egress.management', () => whole(egress.management)),
    /** The merchant of each client, and where the client is in the file: `egress.clients[0]`. */
    merchants: listed(lacking, { path: 'egress.clients', items: egress.clients }, (client, path) => ({
      path,
      merchant: part(lacking, `${path}.merchant`, () => whole(client).merchant),
    })),
    /** Whether any route is sealed, so that answers have to be opened. */
    hasSealed: part(lacking, 'egress.routes', () => whole(egress.routes).some(({ body }) => body === 'sealed')),
    /** The keys of the egress and of its clients. */
    keys: whenNone(keysLack, () => ({
      aliasKeys: whole(egress.aliasKeys),
      clients: whole(egress.clients).map(egressClient),
    })),
  };
}

/** @param read returns the part at the place; only called if nothing of it is lacking */
function part<Content>(lacking: readonly Lacking[], place: string, read: () => Content): Part<Content> {
  return whenNone(lacksAt(lacking, place), read);
}

function whenNone<Content>(lacks: readonly Lack[], read: () => Content): Part<Content> {
  return lacks.length === 0 ? { known: read() } : { lacks };
}

/** What is lacking at the place, inside it, or around it. */
function lacksAt(lacking: readonly Lacking[], place: string): readonly Lack[] {
  return lacking.filter(({ path }) => isWithin(path, place) || isWithin(place, path)).map(({ lack }) => lack);
}

/** Leaves out what is lacking in these places. */
function exceptIn(lacking: readonly Lacking[], places: readonly string[]): readonly Lacking[] {
  return lacking.filter(({ path }) => !places.some((place) => isWithin(path, place)));
}

/** The items of a list, of which any may be unreadable. */
function listed<Item, Content>(
  lacking: readonly Lacking[],
  { path, items }: { readonly path: string; readonly items: readonly (Item | undefined)[] | undefined },
  read: (item: Item | undefined, path: string) => Content,
): Part<readonly Content[]> {
  if (items === undefined) return { lacks: lacksAt(lacking, path) };
  return { known: items.map((item, index) => read(item, childPath(path, index))) };
}

/** Nothing is known to be lacking of it, so it is there. */
function whole<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('a part of the configuration that is not lacking is not there');
  return value;
}

type Way = Omit<Loaded<MerchantSettings>['gateway'], 'requestData' | 'supersedes' | 'largestClockSkewMs'>;

function wayTo({ gateway }: Loaded<MerchantSettings>): Way {
  const { requestData: _, supersedes: __, largestClockSkewMs: ___, ...way } = gateway;
  return way;
}
