import type { LeadTime } from '#libs/session';
import type { Loose } from './check-settings.js';
import type { Loaded } from './named-files.js';
import { gatewayFaults, identityFaults, pairFaults, repeats, type Rule } from './rule.js';
import {
  type AuthSettings,
  type BrokerSettings,
  EVERY_MERCHANT,
  type MerchantSettings,
} from './settings/broker-settings.js';
import { isLoopback } from './value-rule.js';

type Settings = Loose<BrokerSettings>;
type Merchant = Loose<MerchantSettings>;

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
  const { jwksUri, jwksFile } = jwt;
  if ((jwksFile ?? jwksUri) === undefined)
    yield 'auth.jwt.jwksUri is missing: the keys of the issuer come from jwksUri or jwksFile';
  if (jwksFile !== undefined && jwksUri !== undefined)
    yield 'auth.jwt.jwksFile is given as well as auth.jwt.jwksUri; give only one of them';
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
  yield* sharedServiceCodes(merchants);
}

/** Asked of the file alone, and again with the codes that files hold. */
function* sharedServiceCodes(
  merchants: readonly ({ readonly serviceCode?: string | undefined } | undefined)[],
): Iterable<string> {
  for (const [index, first] of repeats(merchants, (merchant) => merchant?.serviceCode?.toLowerCase()))
    yield `merchants[${index}].serviceCode is already the serviceCode of merchants[${first}]; their sessions would end each other`;
}

/**
 * A production merchant and a test merchant must not share a key: the test-only helper requests send the private key
 * away (interface description, "Test-only helper requests").
 */
function* keysSharedWithTest({ merchants = [] }: Loaded<Settings>): Iterable<string> {
  const uses = merchants.flatMap((merchant, index) =>
    (merchant?.clientKeys ?? []).map((key, item) => {
      const path = `merchants[${index}].clientKeyFiles[${item}]`;
      return { key: key?.thumbprint, environment: merchant?.gateway?.environment, path };
    }),
  );
  const inProduction = uses.filter(({ environment }) => environment === 'production');
  const production = new Map(inProduction.map(({ key, path }) => [key, path]));
  for (const { key, environment, path } of uses) {
    if (key !== undefined && environment === 'test' && production.has(key))
      yield `${path} is also a production key (${production.get(key)}); a test merchant needs a key of its own`;
  }
}

function* storePlace({ store = {} }: Settings): Iterable<string> {
  const { url, sentinels, cluster } = store;
  const given = { url: url !== undefined, sentinels: sentinels?.length, cluster: cluster?.length };
  const addresses = Object.entries(given).flatMap(([setting, isGiven]) => (isGiven ? [setting] : []));
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
    if (addresses.includes('sentinels') && store.name === undefined)
      yield 'store.name is missing: it is the name under which the sentinels watch the primary';
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

/** The defaults as the renewer applies them: `renewBefore` 20 %, at least two timeouts, `safetyMargin` at most 5 %. */
const DEFAULT_RENEW_BEFORE: LeadTime = { kind: 'share', share: 0.2 };
const DEFAULT_SAFETY_MARGIN: LeadTime = { kind: 'share', share: 0.05 };
const DEFAULT_LEAD_TIMEOUTS = 2;

/** The faults between the settings of one merchant, at its path. */
function* merchantFaults(path: string, merchant: Merchant): Iterable<string> {
  yield* filesOf(path, merchant);
  yield* gatewayFaults(`${path}.gateway`, merchant.gateway);
  if (merchant.gateway?.environment === 'production' && merchant.gateway.testBaseUrl !== undefined)
    yield `${path}.gateway.testBaseUrl is accepted only with environment: test; remove it`;
  yield* requestDataFaults(`${path}.gateway.requestData`, merchant.gateway?.requestData);
  yield* leadTimes(`${path}.session`, merchant.session);
  yield* lifetimes(`${path}.session`, merchant.session);
  yield* renewals(`${path}.session`, merchant);
}

function* filesOf(path: string, { serviceCode, serviceCodeFile }: Merchant): Iterable<string> {
  if (serviceCode !== undefined && serviceCodeFile !== undefined)
    yield `${path}.serviceCodeFile is given as well as serviceCode; give only one of them`;
  if ((serviceCode ?? serviceCodeFile) === undefined)
    yield `${path}.serviceCode is missing: give the UUID that the bank assigned, or serviceCodeFile`;
}

function* requestDataFaults(
  path: string,
  { attach, name, recipientKeyFile }: NonNullable<Merchant['gateway']>['requestData'] = {},
): Iterable<string> {
  if (attach === undefined) return;
  for (const [setting, value] of Object.entries({ name, recipientKeyFile })) {
    if (attach === 'none' && value !== undefined)
      yield `${path}.${setting} has no effect with attach: none; remove it, or set attach to body or header`;
    if (attach !== 'none' && value === undefined) yield `${path}.${setting} is missing: attach: ${attach} needs it`;
  }
}

/** Compares only if the result holds for every lifetime: two shares, or two durations. */
function isLonger(margin: LeadTime, lead: LeadTime): boolean {
  if (margin.kind === 'share' && lead.kind === 'share') return margin.share >= lead.share;
  return margin.kind === 'duration' && lead.kind === 'duration' && margin.durationMs >= lead.durationMs;
}

function* leadTimes(path: string, session: Merchant['session'] = {}): Iterable<string> {
  const { renewBefore, safetyMargin, fallbackLifetimeMs = NaN } = session;
  if (isLonger(safetyMargin ?? DEFAULT_SAFETY_MARGIN, renewBefore ?? DEFAULT_RENEW_BEFORE)) {
    yield safetyMargin === undefined
      ? `${path}.renewBefore must be more than safetyMargin (5% by default)`
      : `${path}.safetyMargin must be less than renewBefore (20% by default)`;
  }
  // Otherwise a session without an expiry would be due for renewal, or not servable, from its first moment.
  for (const [setting, lead] of Object.entries({ renewBefore, safetyMargin })) {
    if (lead?.kind === 'duration' && lead.durationMs >= fallbackLifetimeMs)
      yield `${path}.${setting} must be shorter than session.fallbackLifetime; shorten it, or raise fallbackLifetime`;
  }
}

function* lifetimes(path: string, session: Merchant['session'] = {}): Iterable<string> {
  if ((session.fallbackLifetimeMs ?? NaN) > (session.longestLifetimeMs ?? NaN))
    yield `${path}.longestLifetime must be at least session.fallbackLifetime; raise it, or shorten fallbackLifetime`;
}

function* renewals(path: string, { session, gateway }: Merchant): Iterable<string> {
  const { quietHours, renewBefore, renewEveryMs = Infinity } = session ?? {};
  if (quietHours?.from !== undefined && quietHours.from === quietHours.to)
    yield `${path}.quietHours.to must not be the same time as from`;
  // A share of a lifetime is not a fixed time: the renewer makes sure that no session is renewed in the first half of
  // its life because of quiet hours.
  const lead = renewBefore ?? { kind: 'duration', durationMs: DEFAULT_LEAD_TIMEOUTS * (gateway?.timeoutMs ?? 0) };
  if (lead.kind === 'duration' && renewEveryMs < 2 * lead.durationMs)
    yield `${path}.renewEvery must be at least twice renewBefore (two gateway timeouts by default); raise it, or shorten renewBefore`;
}

function* eachMerchant({ merchants = [] }: Settings): Iterable<string> {
  for (const [index, merchant] of merchants.entries()) yield* merchantFaults(`merchants[${index}]`, merchant ?? {});
}

/** Contradictions between settings. */
export const brokerRules: readonly Rule<BrokerSettings>[] = [
  ...[ports, openness, tokens, callersOfPolicies, merchantsOfPolicies, issuerKeys, clientCertificates],
  ...[merchantsDiffer, storePlace, storeCredentials],
  eachMerchant,
];

/** Contradictions between the contents of files, as far as they could be read. */
export function* brokerFileFaults(settings: Loaded<Settings>): Iterable<string> {
  yield* pairFaults('http.tls', settings.http?.tls);
  yield* pairFaults('store.tls', settings.store?.tls);
  yield* sharedServiceCodes(settings.merchants ?? []);
  yield* keysSharedWithTest(settings);
}

function* openApi({ http }: Settings): Iterable<string> {
  if (http?.tls === undefined && isOpenToNetwork(http))
    yield 'http.tls is missing, and http.host is not a loopback address: tokens of callers and sessions are not encrypted; give certFile and keyFile, or put something with TLS, such as a proxy, in front of it';
}

/** What does not stop the start. */
export const brokerWarnings: readonly Rule<BrokerSettings>[] = [openApi];
