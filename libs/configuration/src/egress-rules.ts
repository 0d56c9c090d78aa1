import type { Loose } from './check-settings.js';
import type { Loaded } from './named-files.js';
import { gatewayFaults, identityFaults, pairFaults, repeats, type Rule } from './rule.js';
import type { EgressClientSettings, EgressDocument, EgressSettings } from './settings/egress-settings.js';
import { MAX_SEALED_BYTES } from './settings/egress-settings.js';
import { covers, isLoopback, isLoopbackUrl } from './value-rule.js';

type Settings = Loose<EgressSettings>;
type Client = Loose<EgressClientSettings>;
type IsFaulty = Parameters<Rule<EgressDocument>>[1];

/** Answered by the egress itself (interface description, "Create a technical session"). */
const CREATE_CALL = '/api-gateway/authorize_virtual_device';
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

function* routes({ routes = [] }: Settings): Iterable<string> {
  for (const [index, route] of routes.entries()) {
    if (route?.path === undefined) continue;
    const { path } = route;
    const first = routes.findIndex((other) => other?.path !== undefined && covers(other.path, path));
    if (first < index)
      yield `egress.routes[${index}].path is never reached: egress.routes[${first}] comes first and matches all of it; put this one before that, or remove it`;
    if (path === CREATE_CALL)
      yield `egress.routes[${index}].path is the create call, which the egress answers itself and never sends to the bank; remove the route`;
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
  if (client.formerToken !== undefined && client.token === undefined)
    yield `${path}.token is missing: formerToken is only for the change to another one; if there is no other, call it token`;
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
  for (const [index, first] of repeats(clients, (client) => client?.serviceCodeAlias?.toLowerCase()))
    yield aliasRepeated('serviceCodeAlias is already', index, first);
}

const aliasRepeated = (what: string, index: number, first: number): string =>
  `egress.clients[${index}].${what} the alias of egress.clients[${first}]; an alias must name exactly one client`;

function* needsOfClients({ clients = [], listen, aliasKeyFiles = [] }: Settings): Iterable<string> {
  const certified = clients.findIndex((client) => client?.certificate !== undefined);
  if (certified >= 0 && listen !== undefined && listen.tls?.clientCaFile === undefined)
    yield `egress.listen.tls${listen.tls === undefined ? '' : '.clientCaFile'} is missing: egress.clients[${certified}].certificate needs certFile, keyFile and clientCaFile`;
  const aliased = clients.findIndex(hasAlias);
  if (aliased >= 0 && aliasKeyFiles.length === 0)
    yield `egress.aliasKeyFiles is missing: the alias session of egress.clients[${aliased}] is made from a key of the egress; make one with \`keys generate\``;
  for (const [index, first] of repeats(aliasKeyFiles, (file) => file))
    yield `egress.aliasKeyFiles[${index}] is the same file as egress.aliasKeyFiles[${first}]; remove one`;
}

const rules = [ports, broker, routes, bodies, clients, clientsDiffer, needsOfClients];

function* egressFaults({ egress = {} }: Loose<EgressDocument>, isFaulty: IsFaulty): Iterable<string> {
  for (const rule of rules) yield* rule(egress, isFaulty);
  yield* gatewayFaults('egress.gateway', egress.gateway);
}

/** Contradictions between settings. */
export const egressRules: readonly Rule<EgressDocument>[] = [egressFaults];

/** Contradictions between the contents of files, as far as they could be read. */
export function* egressFileFaults(
  { egress = {} }: Loaded<Loose<EgressDocument>>,
  { egress: { clients: named = [] } = {} }: Loose<EgressDocument>,
): Iterable<string> {
  const { listen, broker, clients = [], aliasKeys = [] } = egress;
  yield* pairFaults('egress.listen.tls', listen?.tls);
  yield* pairFaults('egress.broker.tls', broker?.tls);
  // The check of the file alone cannot see the contents of a `serviceCodeAliasFile`.
  for (const [index, first] of repeats(clients, (client) => client?.serviceCodeAlias?.toLowerCase())) {
    const isInFile = named[index]?.serviceCodeAliasFile !== undefined;
    yield aliasRepeated(isInFile ? 'serviceCodeAliasFile holds' : 'serviceCodeAlias is already', index, first);
  }
  yield* sharedAliasKeys(clients, aliasKeys);
}

type Keys = readonly ({ readonly thumbprint: string } | undefined)[];

function* sharedAliasKeys(
  clients: readonly ({ readonly publicKey?: Keys[number] } | undefined)[],
  own: Keys,
): Iterable<string> {
  const ofClients = clients.map((client) => client?.publicKey?.thumbprint);
  for (const [index, key] of own.entries()) {
    const owner = key === undefined ? -1 : ofClients.indexOf(key.thumbprint);
    if (owner >= 0)
      yield `egress.aliasKeyFiles[${index}] names the private key of egress.clients[${owner}]; the egress needs a key of its own`;
  }
}

function* listenWarnings({ egress: { listen, clients = [] } = {} }: Loose<EgressDocument>): Iterable<string> {
  const { host, tls } = listen ?? {};
  if (tls === undefined && host !== undefined && !isLoopback(host))
    yield 'egress.listen.tls is missing, and egress.listen.host is not a loopback address: credentials and bodies of clients are not encrypted; give certFile and keyFile, or put something with TLS, such as a proxy, in front of it';
  const isUsed = clients.some((client) => client === undefined || client.certificate !== undefined);
  if (tls?.clientCaFile !== undefined && !isUsed)
    yield 'egress.listen.tls.clientCaFile has no effect: no client has a certificate';
}

function* keyWarnings({
  egress: { broker, clients = [], aliasKeyFiles = [] } = {},
}: Loose<EgressDocument>): Iterable<string> {
  if (broker?.url?.protocol === 'http:' && !isLoopbackUrl(broker.url))
    yield 'egress.broker.url is http to another machine: the token of the egress and the sessions are not encrypted; use https';
  // The client with an alias may be one that could not be read.
  if (aliasKeyFiles.length > 0 && !clients.some((client) => client === undefined || hasAlias(client)))
    yield 'egress.aliasKeyFiles has no effect: no client has an alias';
}

/** What does not stop the start. */
export const egressWarnings: readonly Rule<EgressDocument>[] = [listenWarnings, keyWarnings];
