import type { Loose } from './check-settings.js';
import type { ConfigurationKind, Findings } from './configuration-kind.js';
import { aliasRepeated } from './egress-client-rules.js';
import type { EgressClient, EgressConfiguration } from './egress-configuration.js';
import { egressFaults } from './egress-rules.js';
import type { CrossFault, Fault } from './fault.js';
import { isPair } from './file-contents.js';
import type { Loaded } from './named-files.js';
import { faultIf, faultsAt, repeats } from './rule.js';
import {
  DEFAULT_MAX_BYTES,
  type EgressClientSettings,
  EgressDocument,
  type EgressRouteSettings,
  type EgressSettings,
} from './settings/egress-settings.js';
import { isLoopback, isLoopbackUrl } from './value-rule.js';

/** The file of an egress, checked in itself and across its settings; the files that it names have not been read. */
export type ParsedEgressConfiguration = EgressSettings & Findings;

export const egressKind: ConfigurationKind<
  EgressDocument,
  EgressSettings,
  Omit<EgressConfiguration, keyof Findings>
> = {
  settings: EgressDocument,
  rule: egressFaults,
  betweenFiles,
  warningsOf: ({ egress }) => warningsOf(egress),
  toParsed: ({ egress }) => egress,
  toConfiguration,
};

function toConfiguration({ egress }: Loaded<EgressDocument>): Omit<EgressConfiguration, keyof Findings> {
  const { broker, clients, routes, ...rest } = egress;
  return {
    ...rest,
    broker: brokerAccess(broker),
    clients: clients.map(clientOptions),
    routes: routes.map(withMaxBytes),
  };
}

/** How the broker is reached. */
export function brokerAccess({
  token: tokenFile,
  ...access
}: Loaded<EgressSettings>['broker']): EgressConfiguration['broker'] {
  return { ...access, ...(tokenFile === undefined ? {} : { tokenFile }) };
}

export function clientOptions(client: Loaded<EgressClientSettings>): EgressClient {
  const { name, merchant, token, formerToken, certificate, serviceCodeAlias, publicKey } = client;
  return {
    name,
    merchant,
    tokenDigests: [token, formerToken].flatMap((each) => (each === undefined ? [] : [each.sha256])),
    ...(certificate === undefined ? {} : { certificate }),
    ...(serviceCodeAlias === undefined || publicKey === undefined
      ? {}
      : { alias: { serviceCode: serviceCodeAlias.toLowerCase(), publicKey } }),
  };
}

function withMaxBytes(route: Loaded<EgressRouteSettings>): EgressConfiguration['routes'][number] {
  return { ...route, maxBytes: route.maxBytes ?? DEFAULT_MAX_BYTES[route.body] };
}

function betweenFiles(
  { egress = {} }: Loaded<Loose<EgressDocument>>,
  { egress: { clients: named = [] } = {} }: Loose<EgressDocument>,
): readonly Fault[] {
  const { listen, broker, clients = [], aliasKeys = [] } = egress;
  const ofClients = clients.map((client) => client?.publicKey?.thumbprint);
  const found = [
    ...pairFault('listen.tls.keyFile', listen?.tls),
    ...pairFault('broker.tls.keyFile', broker?.tls),
    // The check of the file alone cannot see the contents of a `serviceCodeAliasFile`.
    ...repeats(
      clients,
      (client) => client?.serviceCodeAlias?.toLowerCase(),
      (index, first) => {
        const isInFile = named[index]?.serviceCodeAliasFile !== undefined;
        return aliasRepeated(isInFile ? 'serviceCodeAliasFile' : 'serviceCodeAlias')(index, first);
      },
    ),
    ...aliasKeys.flatMap((key, index) => {
      const owner = key === undefined ? -1 : ofClients.indexOf(key.thumbprint);
      return faultIf(
        owner >= 0,
        `aliasKeyFiles[${index}]`,
        `names the private key of egress.clients[${owner}]; the egress needs a key of its own`,
      );
    }),
  ];
  return faultsAt('egress', found);
}

type Settings = Loose<EgressSettings>;

/** PEM texts, as far as they could be read. */
interface Pair {
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

function pairFault(path: string, { cert, key }: Pair = {}): readonly Fault[] {
  return faultIf(
    cert !== undefined && key !== undefined && !isPair(cert, key),
    path,
    'names a key that does not belong to the certificate',
  );
}

function warningsOf({ listen, broker, clients = [], aliasKeyFiles = [] }: Settings = {}): CrossFault[] {
  // The client with an alias may be one that could not be read.
  const hasAlias = clients.some(
    (client) => client === undefined || (client.serviceCodeAlias ?? client.serviceCodeAliasFile) !== undefined,
  );
  return [
    ...listenWarnings(listen, clients),
    ...faultIf(
      broker?.url?.protocol === 'http:' && !isLoopbackUrl(broker.url),
      'egress.broker.url',
      'is http to another machine: the token of the egress and the sessions are not encrypted; use https',
    ),
    ...faultIf(aliasKeyFiles.length > 0 && !hasAlias, 'egress.aliasKeyFiles', 'has no effect: no client has an alias'),
  ];
}

function listenWarnings({ host, tls }: NonNullable<Settings['listen']> = {}, clients: Settings['clients']): Fault[] {
  const hasCertificate = clients?.some((client) => client === undefined || client.certificate !== undefined) ?? false;
  return [
    ...faultIf(
      tls === undefined && host !== undefined && !isLoopback(host),
      'egress.listen.tls',
      'is missing, and egress.listen.host is not a loopback address: credentials and bodies of clients are not encrypted; ' +
        'give certFile and keyFile, or put something with TLS, such as a proxy, in front of it',
    ),
    ...faultIf(
      tls?.clientCaFile !== undefined && !hasCertificate,
      'egress.listen.tls.clientCaFile',
      'has no effect: no client has a certificate',
    ),
  ];
}
