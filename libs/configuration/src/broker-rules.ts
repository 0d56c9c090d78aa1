import type { BrokerRule } from './broker-rule.js';
import { EVERY_MERCHANT } from './settings/auth-settings.js';
import { authRules, hasCallersFromOutside } from './auth-rules.js';
import { isLoopback } from './value-rule.js';

const portsDiffer: BrokerRule = ({ http, management }) =>
  http?.port !== undefined && http.port !== 0 && http.port === management?.port
    ? [{ path: 'management.port', problem: 'must differ from http.port' }]
    : [];

const disabledOnlyOnLoopback: BrokerRule = ({ http, auth }) =>
  auth?.disabled === true && http?.host !== undefined && !isLoopback(http.host)
    ? [
        {
          path: 'auth.disabled',
          problem: 'is accepted only while http.host is a loopback address; remove it, or set http.host to 127.0.0.1',
        },
      ]
    : [];

const disabledWithoutRules: BrokerRule = ({ auth }) =>
  auth?.disabled === true &&
  (auth.tokens?.length || auth.policies?.length || auth.jwt !== undefined || auth.mtls === true)
    ? [{ path: 'auth.disabled', problem: 'makes tokens, jwt, mtls and policies ineffective; remove either it or them' }]
    : [];

const tokensBeyondLoopback: BrokerRule = ({ http, auth }) =>
  auth?.tokens?.length === 0 &&
  auth.disabled !== true &&
  !hasCallersFromOutside(auth) &&
  http?.host !== undefined &&
  !isLoopback(http.host)
    ? [
        {
          path: 'auth.tokens',
          problem: 'must have at least one token, or auth jwt or mtls, because http.host is not a loopback address',
        },
      ]
    : [];

const tokensDiffer: BrokerRule = ({ auth }) =>
  repeats(auth?.tokens ?? [], (token) => token?.sha256?.toLowerCase()).map(({ index, first }) => ({
    path: `auth.tokens[${index}].sha256`,
    problem: `is the same token as auth.tokens[${first}]; every token must belong to one caller`,
  }));

const policiesNameCallers: BrokerRule = ({ auth }) => {
  const callers = new Set(auth?.tokens?.map((token) => token?.caller));
  // An issuer or an authority names callers that are not in this file.
  if (auth !== undefined && hasCallersFromOutside(auth)) return [];
  // A caller that could not be read may be the very one that a policy names.
  if (auth?.disabled === true || auth?.tokens === undefined || callers.has(undefined)) return [];
  return (auth.policies ?? []).flatMap((policy, index) =>
    policy?.caller === undefined || callers.has(policy.caller)
      ? []
      : [{ path: `auth.policies[${index}].caller`, problem: 'names a caller that has no token in auth.tokens' }],
  );
};

const policiesNameMerchants: BrokerRule = ({ auth, merchants }) => {
  const ids = merchants?.map((merchant) => merchant?.id) ?? [undefined];
  if (ids.includes(undefined)) return [];
  const known = new Set<string | undefined>([...ids, EVERY_MERCHANT, undefined]);
  return (auth?.policies ?? []).flatMap((policy, index) =>
    (policy?.merchants ?? []).flatMap((merchant, item) =>
      known.has(merchant)
        ? []
        : [{ path: `auth.policies[${index}].merchants[${item}]`, problem: 'names a merchant that is not configured' }],
    ),
  );
};

const merchantIdsDiffer: BrokerRule = ({ merchants = [] }) =>
  repeats(merchants, (merchant) => merchant?.id).map(({ index, first }) => ({
    path: `merchants[${index}].id`,
    problem: `is the id of merchants[${first}] already; ids must be unique`,
  }));

const serviceCodesDiffer: BrokerRule = ({ merchants = [] }) =>
  repeats(merchants, (merchant) => merchant?.serviceCode?.toLowerCase()).map(({ index, first }) => ({
    path: `merchants[${index}].serviceCode`,
    problem: `is the serviceCode of merchants[${first}] already; their sessions would end each other`,
  }));

export interface Repeat {
  readonly index: number;
  readonly first: number;
}

/** Items whose key was there before, with the index of its first appearance; items without a key are passed over. */
export function repeats<T>(items: readonly T[], keyOf: (item: T) => string | undefined): Repeat[] {
  const firstOf = new Map<string, number>();
  return items.flatMap((item, index) => {
    const key = keyOf(item);
    if (key === undefined) return [];
    const first = firstOf.get(key);
    if (first === undefined) firstOf.set(key, index);
    return first === undefined ? [] : [{ index, first }];
  });
}

export const brokerRules: readonly BrokerRule[] = [
  portsDiffer,
  disabledOnlyOnLoopback,
  disabledWithoutRules,
  tokensBeyondLoopback,
  tokensDiffer,
  policiesNameCallers,
  policiesNameMerchants,
  merchantIdsDiffer,
  serviceCodesDiffer,
  ...authRules,
];
