import { toConfiguration, toParsed } from './arrange-options.js';
import type { BrokerConfiguration, ParsedConfiguration } from './broker-configuration.js';
import { crossFaults, keysSharedWithTest, serviceCodeRepeated } from './broker-rules.js';
import type { Loose } from './check-settings.js';
import type { ConfigurationKind, Findings } from './configuration-kind.js';
import type { CrossFault, Fault, Warning } from './fault.js';
import { isPair } from './file-contents.js';
import type { Loaded } from './named-files.js';
import { faultIf, repeats } from './rule.js';
import type { AuthSettings } from './settings/auth-settings.js';
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
  warningsOf,
  warningsBetweenFiles: ({ merchants = [] }) => sharedKeyWarnings(merchants),
  toParsed,
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
    // The check of the file alone cannot see the contents of a `serviceCodeFile`.
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

/** One per key, at the second merchant that names it: with a thousand merchants on one key, all would say the same. */
function sharedKeyWarnings(merchants: NonNullable<Loaded<Loose<BrokerSettings>>['merchants']>): Warning[] {
  const uses = new Map<string, { readonly merchant: number; readonly path: string }[]>();
  for (const [merchant, settings] of merchants.entries()) {
    for (const [item, key] of (settings?.clientKeys ?? []).entries()) {
      if (key === undefined) continue;
      const { thumbprint } = key;
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
  return `names the key of merchants[${first}]${more}; make a key for each: then one that leaks affects one merchant, not several`;
}

function warningsOf({ http, auth, store, merchants = [] }: Loose<BrokerSettings>): CrossFault[] {
  return [...openApiWarnings(http), ...accessWarnings(auth), ...outageWarnings(store, merchants)];
}

function openApiWarnings({ host, tls }: Loose<BrokerSettings['http']> = {}): Warning[] {
  return [
    ...faultIf(
      tls === undefined && host !== undefined && !isLoopback(host),
      'http.tls',
      'is missing, and http.host is not a loopback address: tokens of callers and sessions are not encrypted; ' +
        'give certFile and keyFile, or put something with TLS, such as a proxy, in front of it',
    ),
  ];
}

/** Replicas that create on their own end each other's sessions, and payments made with an ended one are refused. */
function outageWarnings(
  store: Loose<BrokerSettings>['store'],
  merchants: NonNullable<Loose<BrokerSettings>['merchants']>,
): Warning[] {
  const problem =
    "is authorize, but a new session may end the one before it: in an outage, replicas end each other's sessions";
  const mayEndAnother = merchants.some((merchant) => (merchant?.gateway?.supersedes ?? false) !== false);
  return store?.onStoreOutage === 'authorize' && mayEndAnother ? [{ path: 'store.onStoreOutage', problem }] : [];
}

function accessWarnings(auth: Loose<AuthSettings> = {}): CrossFault[] {
  const { tokens, policies, jwt, mtls, disabled } = auth;
  if (tokens === undefined || policies === undefined) return [];
  const permitted = new Set(policies.map((policy) => policy?.caller));
  // The missing policy may be one whose caller could not be read.
  const idle = tokens.flatMap((token, index) =>
    token?.caller === undefined || permitted.has(token.caller) || permitted.has(undefined)
      ? []
      : [{ path: `auth.tokens[${index}].caller`, problem: 'has no policy and may do nothing' }],
  );
  const closed = tokens.length === 0 && jwt === undefined && mtls === false && disabled === false;
  const nobody = { path: 'auth.tokens', problem: 'is empty: nobody can use the API', unlessFaulty: ['auth.jwt'] };
  return closed ? [nobody] : idle;
}
