import { toConfiguration, toParsed } from './arrange-options.js';
import type { BrokerConfiguration, ParsedConfiguration } from './broker-configuration.js';
import { crossFaults, keysSharedWithTest, serviceCodeRepeated } from './broker-rules.js';
import type { Loose } from './check-settings.js';
import type { ConfigurationKind, Findings } from './configuration-kind.js';
import type { Fault, Warning } from './fault.js';
import { isPair } from './file-contents.js';
import { operationWarnings } from './gateway-rules.js';
import type { Loaded } from './named-files.js';
import { quietHoursWarnings } from './quiet-hours-rules.js';
import { faultIf, repeats } from './rule.js';
import { BrokerSettings } from './settings/broker-settings.js';
import { isLoopback } from './value-rule.js';

export const brokerKind: ConfigurationKind<
  BrokerSettings,
  Omit<ParsedConfiguration, keyof Findings>,
  Omit<BrokerConfiguration, keyof Findings>
> = {
  settings: BrokerSettings,
  rule: crossFaults,
  betweenFiles,
  warningsBetweenFiles: ({ merchants }) => sharedKeyWarnings(merchants),
  toParsed: (settings) => {
    const parsed = toParsed(settings);
    return { ...parsed, warnings: warningsOf(parsed) };
  },
  toConfiguration,
};

function betweenFiles(
  { http, merchants = [] }: Loaded<Loose<BrokerSettings>>,
  { merchants: named = [] }: Loose<BrokerSettings>,
): readonly Fault[] {
  const { cert, key } = http?.tls ?? {};
  return [
    ...faultIf(
      cert !== undefined && key !== undefined && !isPair(cert, key),
      'http.tls.keyFile',
      'names a key that does not belong to the certificate',
    ),
    // The check of the file alone cannot see what stands in a `serviceCodeFile`.
    ...repeats(
      merchants,
      (merchant) => merchant?.serviceCode?.toLowerCase(),
      (index, first) =>
        named[index]?.serviceCodeFile === undefined
          ? serviceCodeRepeated(index, first)
          : {
              path: `merchants[${index}].serviceCodeFile`,
              problem: `holds the serviceCode of merchants[${first}]; their sessions would end each other`,
            },
    ),
    // The same key under two file names is still the same key.
    ...keysSharedWithTest(
      merchants.map((merchant) => ({
        environment: merchant?.gateway?.environment,
        keys: merchant?.clientKeys?.map((clientKey) => clientKey?.thumbprint) ?? [],
      })),
    ),
  ];
}

/** One for each key, where its second merchant names it: of a thousand merchants with one key, all would say the same. */
function sharedKeyWarnings(merchants: Loaded<BrokerSettings>['merchants']): Warning[] {
  const uses = new Map<string, { readonly merchant: number; readonly path: string }[]>();
  for (const [merchant, { clientKeys }] of merchants.entries()) {
    for (const [item, { thumbprint }] of clientKeys.entries()) {
      const known = uses.get(thumbprint) ?? [];
      const isNew = known.every((use) => use.merchant !== merchant);
      if (isNew) uses.set(thumbprint, [...known, { merchant, path: `merchants[${merchant}].clientKeyFiles[${item}]` }]);
    }
  }
  return [...uses.values()].flatMap(([first, second, ...others]) =>
    first === undefined || second === undefined
      ? []
      : [{ path: second.path, problem: sharedKey(first.merchant, others.length) }],
  );
}

function sharedKey(first: number, others: number): string {
  const more =
    others === 0 ? '' : others === 1 ? ', and so does one more merchant' : `, and so do ${others} more merchants`;
  return `names the key of merchants[${first}]${more}; make a key for each: one that leaks then concerns one merchant, not several`;
}

function warningsOf({ http, auth, merchants }: Omit<ParsedConfiguration, keyof Findings>): Warning[] {
  const addresses = merchants.flatMap(({ gateway }, at) => operationWarnings(`merchants[${at}].gateway`, gateway));
  return [
    ...openApiWarnings(http),
    ...accessWarnings(auth),
    ...addresses,
    ...outageWarnings(merchants),
    ...quietHoursWarnings(merchants),
  ];
}

function openApiWarnings({ host, tls }: ParsedConfiguration['http']): Warning[] {
  return [
    ...faultIf(
      tls === undefined && !isLoopback(host),
      'http.tls',
      'is missing, and http.host is not a loopback address: tokens of callers and sessions go in clear; ' +
        'give certFile and keyFile, or let something with TLS stand before it',
    ),
  ];
}

/** Replicas that create for themselves end each other's sessions, and payments made with one of those are refused. */
function outageWarnings(merchants: ParsedConfiguration['merchants']): Warning[] {
  const problem = "is authorize, but a new session may end the one before it: in an outage replicas end each other's";
  return merchants.some(({ session }) => session.onStoreOutage === 'authorize' && session.supersedes !== false)
    ? [{ path: 'store.onStoreOutage', problem }]
    : [];
}

function accessWarnings(auth: ParsedConfiguration['auth']): Warning[] {
  const permitted = new Set(auth.policies.map((policy) => policy.caller));
  const idle = auth.tokens.flatMap(({ caller }, index) =>
    permitted.has(caller)
      ? []
      : [{ path: `auth.tokens[${index}].caller`, problem: 'has no policy and may do nothing' }],
  );
  const closed = auth.tokens.length === 0 && auth.jwt === undefined && !auth.mtls && !auth.disabled;
  return closed ? [{ path: 'auth.tokens', problem: 'is empty: nobody can use the API' }] : idle;
}
