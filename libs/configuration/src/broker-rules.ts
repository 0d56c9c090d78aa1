import { normalize } from 'node:path';
import type { Loose } from './check-settings.js';
import type { Fault } from './fault.js';
import { merchantFaults } from './merchant-rules.js';
import { faultIf, repeats, type Rule } from './rule.js';
import { type AuthSettings, EVERY_MERCHANT } from './settings/auth-settings.js';
import type { BrokerSettings } from './settings/broker-settings.js';
import { storeRule } from './store-rules.js';
import { isLoopback } from './value-rule.js';

function isOpenToNetwork(http: Loose<BrokerSettings>['http']): boolean {
  return http?.host !== undefined && !isLoopback(http.host);
}

/**
 * Whether callers can be named by anything other than this file. A setting that could not be read counts: its own fault
 * has already been reported.
 */
function hasCallersFromOutside({ jwt, mtls }: Loose<AuthSettings>): boolean {
  return jwt !== undefined || mtls !== false;
}

export function serviceCodeRepeated(index: number, first: number): Fault {
  return {
    path: `merchants[${index}].serviceCode`,
    problem: `is already the serviceCode of merchants[${first}]; their sessions would end each other`,
  };
}

/** The client keys of a merchant: by file name before the files are read, by thumbprint afterwards. */
interface KeysInUse {
  readonly environment: 'production' | 'test' | undefined;
  readonly keys: readonly (string | undefined)[];
}

/**
 * A production merchant and a test merchant must not share a key: the test-only helper requests send the private key
 * away (interface description, "Test-only helper requests").
 */
export function keysSharedWithTest(merchants: readonly KeysInUse[]): readonly Fault[] {
  const uses = merchants.flatMap(({ environment, keys }, index) =>
    keys.map((key, item) => ({ key, environment, path: `merchants[${index}].clientKeyFiles[${item}]` })),
  );
  const production = new Map(
    uses.filter(({ environment }) => environment === 'production').map((use) => [use.key, use.path]),
  );
  return uses.flatMap(({ key, environment, path }) =>
    faultIf(
      key !== undefined && environment === 'test' && production.has(key),
      path,
      `is also a production key (${production.get(key)}); a test merchant needs a key of its own`,
    ),
  );
}

const rules: Readonly<Record<string, Rule<BrokerSettings>>> = {
  portsDiffer: ({ http, management }) =>
    faultIf(
      http?.port !== undefined && http.port !== 0 && http.port === management?.port,
      'management.port',
      'must differ from http.port',
    ),
  disabledOnlyOnLoopback: ({ http, auth }) =>
    faultIf(
      auth?.disabled === true && isOpenToNetwork(http),
      'auth.disabled',
      'is accepted only while http.host is a loopback address; remove it, or set http.host to 127.0.0.1',
    ),
  disabledWithoutRules: ({ auth: { disabled, tokens = [], policies = [], jwt, mtls } = {} }) =>
    faultIf(
      disabled === true && (tokens.length > 0 || policies.length > 0 || jwt !== undefined || mtls === true),
      'auth.disabled',
      'makes tokens, jwt, mtls and policies ineffective; remove either it or them',
    ),
  tokensBeyondLoopback: ({ http, auth = {} }) =>
    faultIf(
      auth.tokens?.length === 0 && auth.disabled !== true && !hasCallersFromOutside(auth) && isOpenToNetwork(http),
      'auth.tokens',
      'must have at least one token unless auth.jwt or auth.mtls is set, because http.host is not a loopback address',
    ),
  tokensDiffer: ({ auth }) =>
    repeats(
      auth?.tokens,
      (token) => token?.sha256,
      (index, first) => ({
        path: `auth.tokens[${index}].sha256`,
        problem: `is the same token as auth.tokens[${first}]; every token must belong to one caller`,
      }),
    ),
  policiesNameCallers: ({ auth = {} }) => {
    const callers = new Set(auth.tokens?.map((token) => token?.caller));
    // An issuer or a certificate authority names callers that are not in this file.
    if (hasCallersFromOutside(auth)) return [];
    // A caller that could not be read may be the one that a policy names.
    if (auth.disabled === true || auth.tokens === undefined || callers.has(undefined)) return [];
    return (auth.policies ?? []).flatMap((policy, index) =>
      faultIf(
        policy?.caller !== undefined && !callers.has(policy.caller),
        `auth.policies[${index}].caller`,
        'names a caller that has no token in auth.tokens',
      ),
    );
  },
  boundTokensNeedCertificates: ({ auth }) =>
    (auth?.mtls === false ? (auth.policies ?? []) : []).flatMap((policy, index) =>
      faultIf(
        policy?.boundTokens === true,
        `auth.policies[${index}].boundTokens`,
        'needs auth.mtls: without client certificates there is nothing that a token could be bound to',
      ),
    ),
  policiesNameMerchants: ({ auth, merchants }) => {
    const ids = merchants?.map((merchant) => merchant?.id) ?? [undefined];
    // If two merchants have the same id, one of them may be meant to have the id that a policy names.
    if (ids.includes(undefined) || new Set(ids).size < ids.length) return [];
    const known = new Set<string | undefined>([...ids, EVERY_MERCHANT, undefined]);
    return (auth?.policies ?? []).flatMap((policy, index) =>
      (policy?.merchants ?? []).flatMap((merchant, item) =>
        faultIf(
          !known.has(merchant),
          `auth.policies[${index}].merchants[${item}]`,
          'names a merchant that is not configured',
        ),
      ),
    );
  },
  keysHaveOnePlace: ({ auth }) => {
    if (auth?.jwt === undefined) return [];
    const { jwksUri, jwksFile } = auth.jwt;
    return [
      ...faultIf(
        jwksUri === undefined && jwksFile === undefined,
        'auth.jwt.jwksUri',
        'is missing: the keys of the issuer come from jwksUri or jwksFile',
      ),
      ...faultIf(
        jwksUri !== undefined && jwksFile !== undefined,
        'auth.jwt.jwksFile',
        'is given as well as auth.jwt.jwksUri; give only one of them',
      ),
    ];
  },
  fetchSettingsNeedUri: ({ auth: { jwt = {} } = {} }) =>
    (['jwksTokenFile', 'jwksCaFile'] as const).flatMap((setting) =>
      faultIf(
        jwt.jwksFile !== undefined && jwt[setting] !== undefined,
        `auth.jwt.${setting}`,
        'has no effect with jwksFile; remove it',
      ),
    ),
  caNeedsHttps: ({ auth: { jwt = {} } = {} }) =>
    faultIf(
      jwt.jwksCaFile !== undefined && jwt.jwksUri?.protocol === 'http:',
      'auth.jwt.jwksCaFile',
      'has no effect on an http jwksUri; use https, or remove it',
    ),
  certificatesNeedAuthority: ({ auth, http }) =>
    faultIf(
      auth?.mtls === true && http !== undefined && http.tls?.clientCaFile === undefined,
      http?.tls === undefined ? 'http.tls' : 'http.tls.clientCaFile',
      'is missing: auth.mtls needs certFile, keyFile and clientCaFile',
    ),
  authorityNeedsUse: ({ auth, http }) =>
    faultIf(
      auth?.mtls === false && http?.tls?.clientCaFile !== undefined,
      'http.tls.clientCaFile',
      'has no effect without auth.mtls; set auth.mtls, or remove this',
    ),
  merchantIdsDiffer: ({ merchants }) =>
    repeats(
      merchants,
      (merchant) => merchant?.id,
      (index, first) => ({
        path: `merchants[${index}].id`,
        problem: `is already the id of merchants[${first}]; ids must be unique`,
      }),
    ),
  serviceCodesDiffer: ({ merchants }) =>
    repeats(merchants, (merchant) => merchant?.serviceCode?.toLowerCase(), serviceCodeRepeated),
  /** Known before any file is read, so that `--structure` can report it too. */
  serviceCodeFilesDiffer: ({ merchants }) =>
    repeats(
      merchants,
      (merchant) => (merchant?.serviceCodeFile === undefined ? undefined : normalize(merchant.serviceCodeFile)),
      (index, first) => ({
        path: `merchants[${index}].serviceCodeFile`,
        problem: `is already the file of merchants[${first}]; their sessions would end each other`,
      }),
    ),
  keyFilesNotShared: ({ merchants = [] }) =>
    keysSharedWithTest(
      merchants.map((merchant) => ({
        environment: merchant?.gateway?.environment,
        keys: merchant?.clientKeyFiles ?? [],
      })),
    ),
  storeRule,
  merchantFaults,
};

/** Contradictions between settings that are each correct on their own. */
export const crossFaults: Rule<BrokerSettings> = (settings) => Object.values(rules).flatMap((rule) => rule(settings));
