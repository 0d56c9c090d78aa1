import { normalize } from 'node:path';
import { someOf } from '#libs/errors';
import type { Loose } from './check-settings.js';
import { merchantFaults } from './merchant-rules.js';
import type { Loaded } from './named-files.js';
import { identityFaults, pairFaults, repeats, type Rule } from './rule.js';
import {
  type AuthSettings,
  type BrokerSettings,
  EVERY_MERCHANT,
  type StoreSettings,
} from './settings/broker-settings.js';
import { isLoopback } from './value-rule.js';

type Settings = Loose<BrokerSettings>;

const MAX_NAMED = 3;
const NO_OTHERS = 'their sessions would end each other';

function isOpenToNetwork(http: Settings['http']): boolean {
  return http?.host !== undefined && !isLoopback(http.host);
}

type IsFaulty = Parameters<Rule<BrokerSettings>>[1];

/**
 * Whether callers can be named by anything other than this file. A setting that could not be read counts: its own fault
 * has already been reported.
 */
function hasCallersFromOutside({ jwt, mtls }: Loose<AuthSettings>, isFaulty: IsFaulty): boolean {
  return jwt !== undefined || isFaulty('auth.jwt') || mtls !== false;
}

function* ports({ http, management }: Settings): Iterable<string> {
  if (http?.port !== undefined && http.port !== 0 && http.port === management?.port)
    yield 'management.port must differ from http.port';
}

function* openness({ http, auth }: Settings, isFaulty: IsFaulty): Iterable<string> {
  if (auth === undefined) return;
  const { tokens, policies, jwt, mtls } = auth;
  if (auth.disabled === true) {
    if (isOpenToNetwork(http))
      yield 'auth.disabled is accepted only while http.host is a loopback address; remove it, or set http.host to 127.0.0.1';
    if ([tokens, policies].some((list) => (list ?? []).length > 0) || jwt !== undefined || mtls === true)
      yield 'auth.disabled makes tokens, jwt, mtls and policies ineffective; remove either it or them';
  } else if (
    auth.disabled === false &&
    tokens?.length === 0 &&
    !hasCallersFromOutside(auth, isFaulty) &&
    isOpenToNetwork(http)
  ) {
    yield 'auth.tokens must have at least one token unless auth.jwt or auth.mtls is set, because http.host is not a loopback address';
  }
}

function* tokens({ auth }: Settings): Iterable<string> {
  for (const [index, first] of repeats(auth?.tokens, (token) => token?.sha256))
    yield `auth.tokens[${index}].sha256 is the same token as auth.tokens[${first}]; every token must belong to one caller`;
}

function* callersOfPolicies({ auth }: Settings, isFaulty: IsFaulty): Iterable<string> {
  // An issuer or a certificate authority names callers that are not in this file.
  if (auth?.tokens === undefined || auth.disabled !== false || hasCallersFromOutside(auth, isFaulty)) return;
  const callers = new Set(auth.tokens.map((token) => token?.caller));
  // A caller that could not be read may be the one that a policy names.
  if (callers.has(undefined)) return;
  for (const [index, policy] of (auth.policies ?? []).entries()) {
    if (policy?.caller !== undefined && !callers.has(policy.caller))
      yield `auth.policies[${index}].caller names a caller that has no token in auth.tokens`;
  }
}

function* boundTokens({ auth }: Settings): Iterable<string> {
  if (auth?.mtls !== false) return;
  for (const [index, policy] of (auth.policies ?? []).entries()) {
    if (policy?.boundTokens === true)
      yield `auth.policies[${index}].boundTokens needs auth.mtls: without client certificates there is nothing that a token could be bound to`;
  }
}

function* merchantsOfPolicies({ auth, merchants }: Settings): Iterable<string> {
  const ids = merchants?.map((merchant) => merchant?.id) ?? [undefined];
  // If two merchants have the same id, one of them may be meant to have the id that a policy names.
  if (ids.includes(undefined) || new Set(ids).size < ids.length) return;
  const known = new Set<string | undefined>([...ids, EVERY_MERCHANT, undefined]);
  for (const [index, policy] of (auth?.policies ?? []).entries()) {
    for (const [item, merchant] of (policy?.merchants ?? []).entries()) {
      if (!known.has(merchant))
        yield `auth.policies[${index}].merchants[${item}] names a merchant that is not configured`;
    }
  }
}

function* issuerKeys({ auth: { jwt } = {} }: Settings): Iterable<string> {
  if (jwt === undefined) return;
  const { jwksUri, jwksFile, jwksCaFile } = jwt;
  if (jwksFile === undefined) {
    if (jwksUri === undefined)
      yield 'auth.jwt.jwksUri is missing: the keys of the issuer come from jwksUri or jwksFile';
    if (jwksUri?.protocol === 'http:' && jwksCaFile !== undefined)
      yield 'auth.jwt.jwksCaFile has no effect on an http jwksUri; use https, or remove it';
    return;
  }
  if (jwksUri !== undefined) yield 'auth.jwt.jwksFile is given as well as auth.jwt.jwksUri; give only one of them';
  for (const setting of ['jwksTokenFile', 'jwksCaFile'] as const) {
    if (jwt[setting] !== undefined) yield `auth.jwt.${setting} has no effect with jwksFile; remove it`;
  }
}

function* clientCertificates({ auth, http }: Settings): Iterable<string> {
  const tls = http?.tls;
  if (auth?.mtls === true && http !== undefined && tls?.clientCaFile === undefined)
    yield `${tls === undefined ? 'http.tls' : 'http.tls.clientCaFile'} is missing: auth.mtls needs certFile, keyFile and clientCaFile`;
  if (auth?.mtls === false && tls?.clientCaFile !== undefined)
    yield 'http.tls.clientCaFile has no effect without auth.mtls; set auth.mtls, or remove this';
}

function* merchantsDiffer({ merchants = [] }: Settings): Iterable<string> {
  for (const [index, first] of repeats(merchants, (merchant) => merchant?.id))
    yield `merchants[${index}].id is already the id of merchants[${first}]; ids must be unique`;
  for (const [index, first] of repeats(merchants, (merchant) => merchant?.serviceCode?.toLowerCase()))
    yield `merchants[${index}].serviceCode is already the serviceCode of merchants[${first}]; ${NO_OTHERS}`;
  const fileOf = (merchant: (typeof merchants)[number]): string | undefined =>
    merchant?.serviceCodeFile === undefined ? undefined : normalize(merchant.serviceCodeFile);
  // Known before any file is read, so that `--structure` can report it too.
  for (const [index, first] of repeats(merchants, fileOf))
    yield `merchants[${index}].serviceCodeFile is already the file of merchants[${first}]; ${NO_OTHERS}`;
  yield* keysSharedWithTest(merchants, (merchant) => merchant?.clientKeyFiles);
}

/**
 * A production merchant and a test merchant must not share a key: the test-only helper requests send the private key
 * away (interface description, "Test-only helper requests").
 * @param keysOf by file name before the files are read, by thumbprint afterwards
 */
function* keysSharedWithTest<Merchant extends { readonly gateway?: Loose<{ environment: string }> | undefined }>(
  merchants: readonly (Merchant | undefined)[],
  keysOf: (merchant: Merchant | undefined) => readonly (string | undefined)[] | undefined,
): Iterable<string> {
  const uses = merchants.flatMap((merchant, index) =>
    (keysOf(merchant) ?? []).map((key, item) => {
      return { key, environment: merchant?.gateway?.environment, path: `merchants[${index}].clientKeyFiles[${item}]` };
    }),
  );
  const inProduction = uses.filter(({ environment }) => environment === 'production');
  const production = new Map(inProduction.map(({ key, path }) => [key, path]));
  for (const { key, environment, path } of uses) {
    if (key !== undefined && environment === 'test' && production.has(key))
      yield `${path} is also a production key (${production.get(key)}); a test merchant needs a key of its own`;
  }
}

/** The ways to say where Redis is; exactly one must be given. */
function addressesOf({ url, sentinels, cluster }: Loose<StoreSettings>): string[] {
  const given = { url: url !== undefined, sentinels: sentinels?.length, cluster: cluster?.length };
  return Object.entries(given).flatMap(([setting, isGiven]) => (isGiven ? [setting] : []));
}

function* storePlace({ store = {} }: Settings): Iterable<string> {
  const addresses = addressesOf(store);
  if (store.type === 'memory') {
    const others = (['name', 'username', 'passwordFile', 'tls'] as const).filter((name) => store[name] !== undefined);
    for (const setting of [...addresses, ...others])
      yield `store.${setting} has no effect with store.type memory; remove it, or set store.type to redis`;
  } else if (store.type === 'redis') {
    const [first, ...others] = addresses;
    if (first === undefined)
      yield 'store.url is missing: store.type redis needs url, or sentinels with name, or cluster';
    for (const setting of others)
      yield `store.${setting} is given as well as store.${first}; give only one of url, sentinels and cluster`;
    const isSentinel = addresses.includes('sentinels');
    if (isSentinel && store.name === undefined)
      yield 'store.name is missing: it is the name under which the sentinels watch the primary';
    if (!isSentinel && store.name !== undefined) yield 'store.name has no effect without store.sentinels; remove it';
  }
}

/** One place for each credential, and none is sent in the clear unless the configuration says so. */
function* storeCredentials({ store = {} }: Settings): Iterable<string> {
  const { type, url = '', username, passwordFile, tls } = store;
  if (type !== 'redis') return;
  if (username !== undefined && passwordFile === undefined)
    yield 'store.passwordFile is missing: store.username needs it';
  if (/^rediss?:\/\/[^/]*@/.test(url) && (username ?? passwordFile) !== undefined)
    yield 'store.url has a user or password as well as username or passwordFile; remove it from the URL';
  if (tls !== undefined && url.startsWith('redis:'))
    yield 'store.tls has no effect on a redis: URL; use rediss:, or remove it';
  yield* identityFaults('store.tls', tls);
}

function* eachMerchant({ merchants = [] }: Settings): Iterable<string> {
  for (const [index, merchant] of merchants.entries()) yield* merchantFaults(`merchants[${index}]`, merchant ?? {});
}

/** Contradictions between settings. */
export const brokerRules: readonly Rule<BrokerSettings>[] = [
  ...[ports, openness, tokens, callersOfPolicies, boundTokens, merchantsOfPolicies, issuerKeys, clientCertificates],
  ...[merchantsDiffer, storePlace, storeCredentials],
  eachMerchant,
];

/** Contradictions between the contents of files, as far as they could be read. */
export function* brokerFileFaults(
  { http, store, merchants = [] }: Loaded<Settings>,
  { merchants: named = [] }: Settings,
): Iterable<string> {
  yield* pairFaults('http.tls', http?.tls);
  yield* pairFaults('store.tls', store?.tls);
  // The check of the file alone cannot see the contents of a `serviceCodeFile`.
  for (const [index, first] of repeats(merchants, (merchant) => merchant?.serviceCode?.toLowerCase())) {
    const isInFile = named[index]?.serviceCodeFile !== undefined;
    yield isInFile
      ? `merchants[${index}].serviceCodeFile holds the serviceCode of merchants[${first}]; ${NO_OTHERS}`
      : `merchants[${index}].serviceCode is already the serviceCode of merchants[${first}]; ${NO_OTHERS}`;
  }
  // The same key under two file names is still the same key.
  yield* keysSharedWithTest(merchants, (merchant) => merchant?.clientKeys?.map((key) => key?.thumbprint));
}

function* openApi({ http }: Settings): Iterable<string> {
  if (http?.tls === undefined && isOpenToNetwork(http))
    yield 'http.tls is missing, and http.host is not a loopback address: tokens of callers and sessions are not encrypted; give certFile and keyFile, or put something with TLS, such as a proxy, in front of it';
}

function* access({ auth }: Settings, isFaulty: IsFaulty): Iterable<string> {
  const { tokens, policies, disabled } = auth ?? {};
  if (auth === undefined || tokens === undefined || policies === undefined) return;
  const isKnown = tokens.length > 0 || hasCallersFromOutside(auth, isFaulty);
  if (!isKnown && disabled === false) yield 'auth.tokens is empty: nobody can use the API';
  yield* idleCallers(tokens, new Set(policies.map((policy) => policy?.caller)));
}

function* idleCallers(
  tokens: NonNullable<Loose<AuthSettings>['tokens']>,
  permitted: ReadonlySet<string | undefined>,
): Iterable<string> {
  // The missing policy may be one whose caller could not be read.
  if (permitted.has(undefined)) return;
  for (const [index, token] of tokens.entries()) {
    if (token?.caller !== undefined && !permitted.has(token.caller))
      yield `auth.tokens[${index}].caller has no policy and may do nothing`;
  }
}

/** What does not stop the start. */
export const brokerWarnings: readonly Rule<BrokerSettings>[] = [openApi, access];

/** One per key, at the second merchant that names it: with a thousand merchants on one key, all would say the same. */
export function* sharedKeyWarnings({ merchants = [] }: Loaded<Settings>): Iterable<string> {
  const uses = merchants.flatMap((merchant, index) => {
    const prints = (merchant?.clientKeys ?? []).map((key) => key?.thumbprint);
    return prints.flatMap((key, item) => (prints.indexOf(key) === item ? [{ key, index, item }] : []));
  });
  for (const [key, [first, second, ...others]] of Map.groupBy(uses, (use) => use.key)) {
    if (key === undefined || first === undefined || second === undefined) continue;
    const more = [first.index, ...others.map(({ index }) => index)].map((index) => `merchants[${index}]`);
    yield `merchants[${second.index}].clientKeyFiles[${second.item}] names the key of ${someOf(more, MAX_NAMED)}; make a key for each: then one that leaks affects one merchant, not several`;
  }
}
