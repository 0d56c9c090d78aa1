import type { RecipientKey } from '#libs/jwe';
import type { Loose } from './check-settings.js';
import type { Loaded } from './named-files.js';
import {
  type ConfigurationKind,
  type Findings,
  gatewayFaults,
  identityFaults,
  pairFaults,
  repeats,
  type Rule,
} from './rule.js';
import {
  DEFAULT_MAX_BYTES,
  type EgressClientSettings,
  type EgressDocument,
  egressDocument,
  type EgressSettings,
  MAX_SEALED_BYTES,
} from './settings/egress-settings.js';
import { isLoopback, isLoopbackUrl } from './value-rule.js';

/** Who may use the egress, and as which merchant. At least one of token, certificate and serviceCodeAlias is set. */
export interface EgressClient extends Pick<EgressClientSettings, 'name' | 'merchant' | 'certificate'> {
  /** SHA-256 of the bearer token and, while it is being replaced, of the previous one; lower-case hexadecimal. */
  readonly tokenDigests: readonly string[];
  /** For a client that authorizes for itself: answers are sealed to its key. */
  readonly alias?: { readonly serviceCode: string; readonly publicKey: RecipientKey };
}

/** `maxBytes`: the longest body in either direction. */
export type EgressRoute = Loaded<EgressSettings>['routes'][number] & { readonly maxBytes: number };

/** Everything that the egress needs to know before it starts; every file has been read. */
export interface EgressConfiguration extends Omit<Loaded<EgressSettings>, 'broker' | 'clients' | 'routes'>, Findings {
  /** `tokenFile`: an absolute path, read again when it changes. */
  readonly broker: Omit<Loaded<EgressSettings>['broker'], 'token'> & { readonly tokenFile?: string };
  readonly clients: readonly EgressClient[];
  readonly routes: readonly EgressRoute[];
}

type Settings = Loose<EgressSettings>;
type Client = Loose<EgressClientSettings>;
type IsFaulty = Parameters<Rule<EgressDocument>>[1];

const CREDENTIALS = ['token', 'certificate', 'serviceCodeAlias', 'serviceCodeAliasFile', 'formerToken'] as const;

function* ports({ listen, management }: Settings): Iterable<string> {
  if (listen?.port !== undefined && listen.port !== 0 && listen.port === management?.port)
    yield 'egress.management.port must differ from egress.listen.port';
}

function* broker({ broker: { url, tokenFile, tls = {} } = {} }: Settings, isFaulty: IsFaulty): Iterable<string> {
  const isKnown = (tokenFile ?? tls.certFile ?? tls.keyFile) !== undefined;
  const mayBeKnown = ['tls', 'tls.certFile', 'tls.keyFile'].some((setting) => isFaulty(`egress.broker.${setting}`));
  if (url !== undefined && !isLoopbackUrl(url) && !isKnown && !mayBeKnown)
    yield 'egress.broker.tokenFile is missing: name the file with the token of the egress, or give broker.tls a certFile and a keyFile';
  if (url?.protocol === 'http:' && Object.values(tls).some((file) => file !== undefined))
    yield 'egress.broker.tls has no effect on an http url; use https, or remove it';
  yield* identityFaults('egress.broker.tls', tls);
}

/** Two routes that only wildcards within them make the same are left alone. */
function covers(earlier: string, later: string): boolean {
  return earlier === later || (earlier.endsWith('/**') && later.startsWith(earlier.slice(0, -2)));
}

function* routes({ routes = [] }: Settings): Iterable<string> {
  const paths = routes.map((route) => route?.path);
  for (const [index, path] of paths.entries()) {
    const first = paths.findIndex((other) => other !== undefined && path !== undefined && covers(other, path));
    if (first >= 0 && first < index)
      yield `egress.routes[${index}].path is never reached: egress.routes[${first}] comes first and matches all of it; put this one before that, or remove it`;
  }
}

function* bodies({ routes = [] }: Settings): Iterable<string> {
  for (const [index, route = {}] of routes.entries()) {
    if (route.body === 'sealed' && (route.maxBytes ?? 0) > MAX_SEALED_BYTES)
      yield `egress.routes[${index}].maxBytes must be at most ${MAX_SEALED_BYTES} with body: sealed`;
  }
}

function hasAlias(client: Client | undefined): boolean {
  return (client?.serviceCodeAlias ?? client?.serviceCodeAliasFile) !== undefined;
}

function* clients({ clients = [] }: Settings, isFaulty: IsFaulty): Iterable<string> {
  for (const [index, client = {}] of clients.entries()) {
    const path = `egress.clients[${index}]`;
    yield* credentials(path, client, isFaulty);
    yield* alias(path, client, isFaulty);
  }
}

function* credentials(path: string, client: Client, isFaulty: IsFaulty): Iterable<string> {
  if (CREDENTIALS.every((setting) => client[setting] === undefined && !isFaulty(`${path}.${setting}`)))
    yield `${path}.token is missing: a client needs at least one of token, certificate and serviceCodeAlias`;
}

function* alias(path: string, client: Client, isFaulty: IsFaulty): Iterable<string> {
  if (client.serviceCodeAlias !== undefined && client.serviceCodeAliasFile !== undefined)
    yield `${path}.serviceCodeAliasFile is given as well as serviceCodeAlias; give only one of them`;
  if (hasAlias(client) && client.publicKeyFile === undefined)
    yield `${path}.publicKeyFile is missing: answers to a client with serviceCodeAlias are sealed to its public key`;
  if (!hasAlias(client) && client.publicKeyFile !== undefined && !isFaulty(`${path}.serviceCodeAliasFile`))
    yield `${path}.serviceCodeAlias is missing: publicKeyFile has no effect without it; give it, or remove publicKeyFile`;
}

function* clientsDiffer({ clients = [] }: Settings): Iterable<string> {
  for (const [index, first] of repeats(clients, (client) => client?.name))
    yield `egress.clients[${index}].name is already the name of egress.clients[${first}]; names must be unique`;
  const tokens = clients.flatMap((client, index) => [
    { path: `egress.clients[${index}].token`, sha256: client?.token?.sha256 },
    { path: `egress.clients[${index}].formerToken`, sha256: client?.formerToken?.sha256 },
  ]);
  for (const [index, first] of repeats(tokens, ({ sha256 }) => sha256))
    yield `${tokens[index]?.path}.sha256 is the same token as ${tokens[first]?.path}; give each its own, or remove one`;
  for (const [index, first] of repeats(clients, (client) => client?.certificate))
    yield `egress.clients[${index}].certificate is already the certificate of egress.clients[${first}]; it must name exactly one client`;
  yield* sharedAliases(clients);
}

/** Asked of the file alone, and again with the aliases that files hold. */
function* sharedAliases(
  clients: readonly ({ readonly serviceCodeAlias?: string | undefined } | undefined)[],
): Iterable<string> {
  for (const [index, first] of repeats(clients, (client) => client?.serviceCodeAlias?.toLowerCase()))
    yield `egress.clients[${index}].serviceCodeAlias is already the alias of egress.clients[${first}]; an alias must name exactly one client`;
}

function* needsOfClients({ clients = [], listen, aliasKeyFiles = [] }: Settings): Iterable<string> {
  const certified = clients.findIndex((client) => client?.certificate !== undefined);
  if (certified >= 0 && listen !== undefined && listen.tls?.clientCaFile === undefined)
    yield `egress.listen.tls${listen.tls === undefined ? '' : '.clientCaFile'} is missing: egress.clients[${certified}].certificate needs certFile, keyFile and clientCaFile`;
  const aliased = clients.findIndex(hasAlias);
  if (aliased >= 0 && aliasKeyFiles.length === 0)
    yield `egress.aliasKeyFiles is missing: the alias session of egress.clients[${aliased}] is made from a key of the egress; make one with \`keys generate\``;
}

const rules = [ports, broker, routes, bodies, clients, clientsDiffer, needsOfClients];

function* egressFaults({ egress = {} }: Loose<EgressDocument>, isFaulty: IsFaulty): Iterable<string> {
  for (const rule of rules) yield* rule(egress, isFaulty);
  yield* gatewayFaults('egress.gateway', egress.gateway);
}

function* egressFileFaults({
  egress: { listen, broker: access, clients = [] } = {},
}: Loaded<Loose<EgressDocument>>): Iterable<string> {
  yield* pairFaults('egress.listen.tls', listen?.tls);
  yield* pairFaults('egress.broker.tls', access?.tls);
  yield* sharedAliases(clients);
}

function* clearText({ egress: { listen, broker: access } = {} }: Loose<EgressDocument>): Iterable<string> {
  if (listen?.host !== undefined && listen.tls === undefined && !isLoopback(listen.host))
    yield 'egress.listen.tls is missing, and egress.listen.host is not a loopback address: credentials and bodies of clients are not encrypted; give certFile and keyFile, or put something with TLS, such as a proxy, in front of it';
  if (access?.url?.protocol === 'http:' && !isLoopbackUrl(access.url))
    yield 'egress.broker.url is http to another machine: the token of the egress and the sessions are not encrypted; use https';
}

export const egressKind: ConfigurationKind<EgressDocument, Omit<EgressConfiguration, keyof Findings>> = {
  fields: egressDocument,
  rules: [egressFaults],
  modules: () => [],
  fileFaults: egressFileFaults,
  warnings: [clearText],
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
