import { jwtConfiguration, storeOptions } from './arrange-options.js';
import type { JwtConfiguration, MerchantConfiguration, StoreConfiguration } from './broker-configuration.js';
import type { Loose } from './check-settings.js';
import type { EgressConfiguration } from './egress-configuration.js';
import { brokerAccess, clientOptions } from './egress-kind.js';
import { childPath } from './fault.js';
import { exceptIn, type Lacking, lacksAt, type Part, part } from './lacking.js';
import type { Loaded } from './named-files.js';
import type { JwtSettings } from './settings/auth-settings.js';
import type { BrokerSettings } from './settings/broker-settings.js';
import type { EgressClientSettings, EgressDocument, EgressSettings } from './settings/egress-settings.js';
import type { MerchantSettings } from './settings/merchant-settings.js';
import type { StoreSettings } from './settings/store-settings.js';

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
  /** The merchant of each client. */
  readonly merchants: Part<readonly ClientMerchant[]>;
  /** Whether any route is sealed, so that answers have to be opened. */
  readonly hasSealed: Part<boolean>;
  /** The keys of the egress and of its clients. */
  readonly keys: Part<Pick<EgressConfiguration, 'aliasKeys' | 'clients'>>;
}

interface ClientMerchant {
  /** Where the client is in the file: `egress.clients[0]`. */
  readonly path: string;
  readonly merchant: Part<string>;
}

/** Settings that are not needed to reach what their section points to. */
const NOT_OF_THE_STORE = ['onStoreOutage'];
const NOT_OF_THE_ISSUER = ['audience', 'types', 'clockTolerance'];
const NOT_OF_THE_WAY = ['requestData', 'supersedes', 'largestClockSkew'];
/** Settings of a client that identify it, but say nothing about its keys. */
const NOT_OF_THE_KEYS = ['token', 'formerToken', 'certificate'];

/** @param settings without anything that is lacking, with the contents of their files */
export function brokerParts(
  { auth, store, merchants }: Loaded<Loose<BrokerSettings>>,
  lacking: readonly Lacking[],
): BrokerParts {
  const ofStore = exceptIn(lacking, 'store', NOT_OF_THE_STORE);
  const repeated = repeatedIn(merchants?.map((merchant) => merchant?.id) ?? []);
  return {
    issuer: part(exceptIn(lacking, 'auth.jwt', NOT_OF_THE_ISSUER), 'auth.jwt', () =>
      auth?.jwt === undefined ? undefined : jwtConfiguration(auth.jwt as Loaded<JwtSettings>),
    ),
    store: part(ofStore, 'store', () => storeOptions(store as Loaded<StoreSettings>)),
    merchants: listed(lacking, { path: 'merchants', items: merchants }, (merchant, path) => {
      const { id, clientKeys, gateway } = (merchant ?? {}) as Loaded<MerchantSettings>;
      const isKnown = lacksAt(lacking, `${path}.id`).length === 0 && !repeated.has(id);
      const ofWay = exceptIn(lacking, `${path}.gateway`, NOT_OF_THE_WAY);
      return {
        path,
        ...(isKnown ? { id } : {}),
        clientKeys: part(lacking, `${path}.clientKeyFiles`, () => clientKeys),
        gateway: part(ofWay, `${path}.gateway`, () => wayTo(gateway)),
      };
    }),
  };
}

/** @param settings without anything that is lacking, with the contents of their files */
export function egressParts({ egress }: Loaded<Loose<EgressDocument>>, lacking: readonly Lacking[]): EgressParts {
  const settings = (egress ?? {}) as Loaded<EgressSettings>;
  const { clients } = egress ?? {};
  return {
    broker: part(lacking, 'egress.broker', () => brokerAccess(settings.broker)),
    gateway: part(lacking, 'egress.gateway', () => settings.gateway),
    management: part(lacking, 'egress.management', () => settings.management),
    merchants: listed(lacking, { path: 'egress.clients', items: clients }, (client, path) => ({
      path,
      merchant: part(lacking, `${path}.merchant`, () => (client as Loaded<EgressClientSettings>).merchant),
    })),
    hasSealed: part(lacking, 'egress.routes', () => settings.routes.some(({ body }) => body === 'sealed')),
    keys: egressKeys(settings, ofKeys(lacking, clients?.length ?? 0)),
  };
}

function egressKeys({ aliasKeys, clients }: Loaded<EgressSettings>, lacking: readonly Lacking[]): EgressParts['keys'] {
  const lacks = ['egress.aliasKeyFiles', 'egress.clients'].flatMap((place) => lacksAt(lacking, place));
  return lacks.length > 0 ? { lacks } : { known: { aliasKeys, clients: clients.map(clientOptions) } };
}

function ofKeys(lacking: readonly Lacking[], clients: number): readonly Lacking[] {
  const places = Array.from({ length: clients }, (_, index) => childPath('egress.clients', index));
  return places.reduce((rest, place) => exceptIn(rest, place, NOT_OF_THE_KEYS), lacking);
}

interface Listed<Item> {
  readonly path: string;
  readonly items: readonly (Item | undefined)[] | undefined;
}

function listed<Item, Content>(
  lacking: readonly Lacking[],
  { path, items }: Listed<Item>,
  read: (item: Item | undefined, path: string) => Content,
): Part<readonly Content[]> {
  if (items === undefined) return { lacks: lacksAt(lacking, path) };
  return { known: items.map((item, index) => read(item, childPath(path, index))) };
}

/** An id that two merchants share identifies neither of them. */
function repeatedIn(ids: readonly (string | undefined)[]): ReadonlySet<string | undefined> {
  return new Set(ids.filter((id, index) => ids.indexOf(id) < index));
}

function wayTo({
  requestData: _,
  supersedes: __,
  largestClockSkewMs: ___,
  ...way
}: Loaded<MerchantSettings>['gateway']): typeof way {
  return way;
}
