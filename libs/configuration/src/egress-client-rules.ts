import type { Loose } from './check-settings.js';
import type { Fault } from './fault.js';
import { faultIf, repeats, type Rule, rulesAt } from './rule.js';
import type { EgressClientSettings, EgressSettings } from './settings/egress-settings.js';

type Client = Loose<EgressClientSettings> | undefined;

const CREDENTIALS = ['token', 'certificate', 'serviceCodeAlias', 'serviceCodeAliasFile'] as const;

function hasAlias(client: Client): boolean {
  return client?.serviceCodeAlias !== undefined || client?.serviceCodeAliasFile !== undefined;
}

/** Rules for one client; paths are relative to it. */
const rulesOfOne: Readonly<Record<string, Rule<EgressClientSettings>>> = {
  /** A fault of `formerToken` already says that `token` is missing. */
  hasCredential: (client) =>
    client.formerToken !== undefined || CREDENTIALS.some((setting) => client[setting] !== undefined)
      ? []
      : [
          {
            path: 'token',
            problem: 'is missing: a client needs at least one of token, certificate and serviceCodeAlias',
            unlessFaulty: [...CREDENTIALS, 'formerToken'],
          },
        ],
  formerTokenHasSuccessor: ({ token, formerToken }) =>
    faultIf(
      formerToken !== undefined && token === undefined,
      'token',
      'is missing: formerToken is only for the change to another one; if there is no other, call it token',
    ),
  oneAlias: ({ serviceCodeAlias, serviceCodeAliasFile }) =>
    faultIf(
      serviceCodeAlias !== undefined && serviceCodeAliasFile !== undefined,
      'serviceCodeAliasFile',
      'is given as well as serviceCodeAlias; give only one of them',
    ),
  aliasHasKey: (client) =>
    faultIf(
      hasAlias(client) && client.publicKeyFile === undefined,
      'publicKeyFile',
      'is missing: answers to a client with serviceCodeAlias are sealed to its public key',
    ),
  keyHasAlias: (client) =>
    hasAlias(client) || client.publicKeyFile === undefined
      ? []
      : [
          {
            path: 'serviceCodeAlias',
            problem: 'is missing: publicKeyFile has no effect without it; give it, or remove publicKeyFile',
            unlessFaulty: ['serviceCodeAliasFile'],
          },
        ],
};

/** Where each token is written, with its hash. */
function tokensOf(clients: readonly Client[]): { readonly path: string; readonly sha256: string | undefined }[] {
  return clients.flatMap((client, index) =>
    (['token', 'formerToken'] as const).map((setting) => ({
      path: `clients[${index}].${setting}`,
      sha256: client?.[setting]?.sha256,
    })),
  );
}

/** Rules between the clients, and with the other settings; paths are relative to `egress`. */
const rulesOfAll: Readonly<Record<string, Rule<EgressSettings>>> = {
  namesDiffer: ({ clients }) =>
    repeats(
      clients,
      (client) => client?.name,
      (index, first) => ({
        path: `clients[${index}].name`,
        problem: `is already the name of egress.clients[${first}]; names must be unique`,
      }),
    ),
  tokensDiffer: ({ clients = [] }) => {
    const tokens = tokensOf(clients);
    return repeats(
      tokens,
      ({ sha256 }) => sha256,
      (index, first) => ({
        path: `${tokens[index]?.path}.sha256`,
        problem: `is the same token as egress.${tokens[first]?.path}; give each its own, or remove one`,
      }),
    );
  },
  certificatesDiffer: ({ clients }) =>
    repeats(
      clients,
      (client) => client?.certificate,
      (index, first) => ({
        path: `clients[${index}].certificate`,
        problem: `is already the certificate of egress.clients[${first}]; it must name exactly one client`,
      }),
    ),
  aliasesDiffer: ({ clients }) =>
    repeats(clients, (client) => client?.serviceCodeAlias?.toLowerCase(), aliasRepeated('serviceCodeAlias')),
  certificatesNeedAuthority: ({ clients = [], listen }) => {
    const first = clients.findIndex((client) => client?.certificate !== undefined);
    return faultIf(
      first >= 0 && listen !== undefined && listen.tls?.clientCaFile === undefined,
      listen?.tls === undefined ? 'listen.tls' : 'listen.tls.clientCaFile',
      `is missing: egress.clients[${first}].certificate needs certFile, keyFile and clientCaFile`,
    );
  },
  aliasesNeedKey: ({ clients = [], aliasKeyFiles = [] }) => {
    const first = clients.findIndex(hasAlias);
    return faultIf(
      first >= 0 && aliasKeyFiles.length === 0,
      'aliasKeyFiles',
      `is missing: the alias session of egress.clients[${first}] is made from a key of the egress; make one with \`keys generate\``,
    );
  },
};

/** @param setting that holds the alias of the later client */
export function aliasRepeated(
  setting: 'serviceCodeAlias' | 'serviceCodeAliasFile',
): (index: number, first: number) => Fault {
  return (index, first) => ({
    path: `clients[${index}].${setting}`,
    problem: `${setting === 'serviceCodeAlias' ? 'is already' : 'holds'} the alias of egress.clients[${first}]; an alias must name exactly one client`,
  });
}

/** The faults of each client on its own, and of all of them together. */
export const clientFaults: Rule<EgressSettings> = (settings) => [
  ...(settings.clients ?? []).flatMap((client, index) => rulesAt(`clients[${index}]`, rulesOfOne)(client ?? {})),
  ...Object.values(rulesOfAll).flatMap((rule) => rule(settings)),
];
