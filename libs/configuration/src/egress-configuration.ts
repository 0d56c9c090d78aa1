import type { RecipientKey } from '#libs/jwe';
import type { ConfigurationKind, Findings } from './configuration-kind.js';
import { egressFileFaults, egressRules, egressWarnings } from './egress-rules.js';
import type { Loaded } from './named-files.js';
import {
  DEFAULT_MAX_BYTES,
  type EgressClientSettings,
  type EgressDocument,
  egressDocument,
  type EgressSettings,
} from './settings/egress-settings.js';

/** Who may use the egress, and as which merchant. At least one of token, certificate and serviceCodeAlias is set. */
export interface EgressClient extends Pick<EgressClientSettings, 'name' | 'merchant' | 'certificate'> {
  /** SHA-256 of the bearer token and, while it is being replaced, of the previous one; lower-case hexadecimal. */
  readonly tokenDigests: readonly string[];
  /** For a client that authorizes for itself: answers are sealed to its key. */
  readonly alias?: { readonly serviceCode: string; readonly publicKey: RecipientKey };
}

/** `maxBytes`: the longest body in either direction. */
export type EgressRoute = Loaded<EgressSettings>['routes'][number] & { readonly maxBytes: number };

/** Everything that the egress needs to know before it starts; every file has been read. Frozen. */
export interface EgressConfiguration extends Omit<Loaded<EgressSettings>, 'broker' | 'clients' | 'routes'>, Findings {
  /** `tokenFile`: an absolute path, read again when it changes. */
  readonly broker: Omit<Loaded<EgressSettings>['broker'], 'token'> & { readonly tokenFile?: string };
  readonly clients: readonly EgressClient[];
  readonly routes: readonly EgressRoute[];
}

export const egressKind: ConfigurationKind<EgressDocument, Omit<EgressConfiguration, keyof Findings>> = {
  fields: egressDocument,
  rules: egressRules,
  modules: () => [],
  fileFaults: egressFileFaults,
  warnings: egressWarnings,
  fileWarnings: () => [],
  toConfiguration: ({ egress: { broker, clients, routes, ...rest } }) => ({
    ...rest,
    broker: brokerAccess(broker),
    clients: clients.map(egressClient),
    routes: routes.map((route) => ({ ...route, maxBytes: route.maxBytes ?? DEFAULT_MAX_BYTES[route.body] })),
  }),
};

function brokerAccess({ token, ...access }: Loaded<EgressSettings>['broker']): EgressConfiguration['broker'] {
  return { ...access, ...(token !== undefined && { tokenFile: token }) };
}

function egressClient(client: Loaded<EgressClientSettings>): EgressClient {
  const { name, merchant, token, formerToken, certificate, serviceCodeAlias, publicKey } = client;
  const hasAlias = serviceCodeAlias !== undefined && publicKey !== undefined;
  return {
    name,
    merchant,
    tokenDigests: [token, formerToken].flatMap((each) => (each === undefined ? [] : [each.sha256])),
    ...(certificate !== undefined && { certificate }),
    ...(hasAlias && { alias: { serviceCode: serviceCodeAlias.toLowerCase(), publicKey } }),
  };
}
