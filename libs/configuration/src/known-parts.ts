import type { JwtConfiguration, MerchantConfiguration, StoreConfiguration } from './broker-configuration.js';
import { jwtConfiguration, storeConfiguration } from './broker-configuration.js';
import type { Loose } from './check-settings.js';
import { brokerAccess, egressClient, type EgressConfiguration } from './egress-configuration.js';
import { childPath, isWithin } from './fault.js';
import type { Loaded } from './named-files.js';
import type { BrokerSettings } from './settings/broker-settings.js';
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

/** A setting or section that is not known, and why. */
export interface Lacking {
  readonly path: string;
  readonly lack: Lack;
}

/** What can be known of a broker's configuration with unset variables, or faulty settings or files. */
export interface BrokerParts {
  /** Who issues the callers' tokens, and where its keys are; undefined: nobody. */
  readonly issuer: Part<Pick<JwtConfiguration, 'issuer' | 'keys'> | undefined>;
  readonly store: Part<StoreConfiguration>;
  readonly merchants: Part<readonly MerchantParts[]>;
}

export interface MerchantParts {
  /** Where it is in the file: `merchants[0]`. */
  readonly path: string;
  /** Absent if it is not known. */
  readonly id?: string;
  readonly clientKeys: Part<MerchantConfiguration['clientKeys']>;
  /** How it is reached: without what create calls contain in addition to that, and without what happens to sessions. */
  readonly gateway: Part<Omit<MerchantConfiguration['gateway'], 'requestData' | 'supersedes'>>;
}

/** What can be known of an egress's configuration with unset variables, or faulty settings or files. */
export interface EgressParts {
  readonly broker: Part<EgressConfiguration['broker']>;
  readonly gateway: Part<EgressConfiguration['gateway']>;
  readonly management: Part<EgressConfiguration['management']>;
  /** The merchant of each client, and where the client is in the file: `egress.clients[0]`. */
  readonly merchants: Part<readonly { readonly path: string; readonly merchant: Part<string> }[]>;
  /** Whether any route is sealed, so that answers have to be opened. */
  readonly hasSealed: Part<boolean>;
  /** The keys of the egress and of its clients. */
  readonly keys: Part<Pick<EgressConfiguration, 'aliasKeys' | 'clients'>>;
}

/** Settings that are not needed to reach what their section points to. */
const NOT_OF_THE_ISSUER = ['audience', 'types', 'clockTolerance'].map((name) => `auth.jwt.${name}`);
const NOT_OF_THE_WAY = ['requestData', 'supersedes', 'largestClockSkew'];
/** Settings of a client that identify it, but say nothing about its keys. */
const NOT_OF_THE_KEYS = /^egress\.clients\[\d+\]\.(?:token|formerToken|certificate)\b/;

/** @param settings without anything that is lacking, with the contents of their files */
export function brokerParts(settings: Loaded<Loose<BrokerSettings>>, lacking: readonly Lacking[]): BrokerParts {
  const { auth, store, merchants } = settings as Partial<Loaded<BrokerSettings>>;
  const ids = merchants?.map((merchant: Merchant | undefined) => merchant?.id) ?? [];
  return {
    issuer: part(exceptIn(lacking, NOT_OF_THE_ISSUER), 'auth.jwt', () => auth?.jwt && jwtConfiguration(auth.jwt)),
    store: part(exceptIn(lacking, ['store.onStoreOutage']), 'store', () => storeConfiguration(whole(store))),
    merchants: listed(
      lacking,
      'merchants',
      merchants,
    )((merchant, path) => {
      const id = merchant?.id;
      // An id that two merchants share identifies neither of them.
      const isKnown = id !== undefined && ids.indexOf(id) === ids.lastIndexOf(id);
      const ofWay = exceptIn(
        lacking,
        NOT_OF_THE_WAY.map((name) => `${path}.gateway.${name}`),
      );
      return {
        path,
        ...(isKnown && { id }),
        clientKeys: part(lacking, `${path}.clientKeyFiles`, () => whole(merchant).clientKeys),
        gateway: part(ofWay, `${path}.gateway`, () => wayTo(whole(merchant).gateway)),
      };
    }),
  };
}

/** @param settings without anything that is lacking, with the contents of their files */
export function egressParts(settings: Loaded<Loose<EgressDocument>>, lacking: readonly Lacking[]): EgressParts {
  const egress = (settings.egress ?? {}) as Partial<Loaded<EgressSettings>>;
  const { clients, aliasKeys } = egress;
  const ofKeys = lacking.filter(({ path }) => !NOT_OF_THE_KEYS.test(path));
  const keysLack = ['egress.aliasKeyFiles', 'egress.clients'].flatMap((place) => lacksAt(ofKeys, place));
  return {
    broker: part(lacking, 'egress.broker', () => brokerAccess(whole(egress.broker))),
    gateway: part(lacking, 'egress.gateway', () => whole(egress.gateway)),
    management: part(lacking, 'egress.management', () => whole(egress.management)),
    merchants: listed(
      lacking,
      'egress.clients',
      clients,
    )((client, path) => ({
      path,
      merchant: part(lacking, `${path}.merchant`, () => whole(client).merchant),
    })),
    hasSealed: part(lacking, 'egress.routes', () => whole(egress.routes).some(({ body }) => body === 'sealed')),
    keys:
      keysLack.length > 0
        ? { lacks: keysLack }
        : { known: { aliasKeys: whole(aliasKeys), clients: whole(clients).map(egressClient) } },
  };
}

type Merchant = Loaded<BrokerSettings>['merchants'][number];

/** @param read returns the part at the place; only called if nothing of it is lacking */
function part<Content>(lacking: readonly Lacking[], place: string, read: () => Content): Part<Content> {
  const lacks = lacksAt(lacking, place);
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

/** The items of a list, of which any may be unreadable; for the list as a whole, see `part`. */
function listed<Item>(lacking: readonly Lacking[], path: string, items: readonly (Item | undefined)[] | undefined) {
  return <Content>(read: (item: Item | undefined, path: string) => Content): Part<readonly Content[]> =>
    items === undefined
      ? { lacks: lacksAt(lacking, path) }
      : { known: items.map((item, index) => read(item, childPath(path, index))) };
}

/** Nothing is known to be lacking of it, so it is there. */
function whole<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('a part of the configuration that is not lacking is not there');
  return value;
}

function wayTo({ requestData: _, supersedes: __, largestClockSkewMs: ___, ...way }: Merchant['gateway']): typeof way {
  return way;
}
