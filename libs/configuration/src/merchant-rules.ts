import type { LeadTime } from '#libs/session';
import type { Loose } from './check-settings.js';
import { gatewayFaults, repeats } from './rule.js';
import type { MerchantSettings } from './settings/broker-settings.js';

type Settings = Loose<MerchantSettings>;

/** Names that the create-session call uses itself (interface description, "Create a technical session"). */
const TAKEN_NAMES = {
  none: /^$/,
  body: /^serviceCode$/,
  header:
    /^(?:x-api_version|content-(?:type|length|encoding)|host|connection|transfer-encoding|accept|accept-encoding|expect|upgrade|te|trailer|keep-alive|user-agent)$/i,
} as const;

/** The defaults as the renewer applies them: `renewBefore` 20 %, at least two timeouts, `safetyMargin` at most 5 %. */
const DEFAULT_RENEW_BEFORE: LeadTime = { kind: 'share', share: 0.2 };
const DEFAULT_SAFETY_MARGIN: LeadTime = { kind: 'share', share: 0.05 };
const DEFAULT_LEAD_TIMEOUTS = 2;

/** The faults between the settings of one merchant, at its path. */
export function* merchantFaults(path: string, merchant: Settings): Iterable<string> {
  yield* filesOf(path, merchant);
  yield* gatewayFaults(`${path}.gateway`, merchant.gateway);
  if (merchant.gateway?.environment === 'production' && merchant.gateway.testBaseUrl !== undefined)
    yield `${path}.gateway.testBaseUrl is accepted only with environment: test; remove it`;
  yield* requestDataFaults(`${path}.gateway.requestData`, merchant.gateway?.requestData);
  yield* leadTimes(`${path}.session`, merchant.session);
  yield* lifetimes(`${path}.session`, merchant.session);
  yield* renewals(`${path}.session`, merchant);
}

function* filesOf(path: string, { serviceCode, serviceCodeFile, clientKeyFiles }: Settings): Iterable<string> {
  if (serviceCode !== undefined && serviceCodeFile !== undefined)
    yield `${path}.serviceCodeFile is given as well as serviceCode; give only one of them`;
  if ((serviceCode ?? serviceCodeFile) === undefined)
    yield `${path}.serviceCode is missing: give the UUID that the bank assigned, or serviceCodeFile`;
  for (const [index, first] of repeats(clientKeyFiles, (file) => file))
    yield `${path}.clientKeyFiles[${index}] is the same file as clientKeyFiles[${first}]; remove one`;
}

function* requestDataFaults(
  path: string,
  { attach, name, recipientKeyFile }: NonNullable<Settings['gateway']>['requestData'] = {},
): Iterable<string> {
  if (attach === undefined) return;
  for (const [setting, value] of Object.entries({ name, recipientKeyFile })) {
    if (attach === 'none' && value !== undefined)
      yield `${path}.${setting} has no effect with attach: none; remove it, or set attach to body or header`;
    if (attach !== 'none' && value === undefined) yield `${path}.${setting} is missing: attach: ${attach} needs it`;
  }
  if (name !== undefined && TAKEN_NAMES[attach].test(name))
    yield `${path}.name is a name that the request uses itself; choose another`;
}

/** Compares only if the result holds for every lifetime: two shares, or two durations. */
function isLonger(margin: LeadTime, lead: LeadTime): boolean {
  if (margin.kind === 'share' && lead.kind === 'share') return margin.share >= lead.share;
  return margin.kind === 'duration' && lead.kind === 'duration' && margin.durationMs >= lead.durationMs;
}

function* leadTimes(path: string, session: Settings['session'] = {}): Iterable<string> {
  const { renewBefore, safetyMargin, fallbackLifetimeMs = Infinity } = session;
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

/** Otherwise a session without an expiry would be cut short of the lifetime that was configured for it. */
function* lifetimes(
  path: string,
  { fallbackLifetimeMs, longestLifetimeMs }: Settings['session'] = {},
): Iterable<string> {
  if ((fallbackLifetimeMs ?? 0) > (longestLifetimeMs ?? Infinity))
    yield `${path}.longestLifetime must be at least session.fallbackLifetime; raise it, or shorten fallbackLifetime`;
}

function* renewals(path: string, { session, gateway }: Settings): Iterable<string> {
  const { budget, quietHours, renewBefore, renewEveryMs = Infinity } = session ?? {};
  // Of two windows of the same length, the more generous one never refuses anything, so one of them is a mistake.
  for (const [index, first] of repeats(budget, (window) => window?.perMs?.toString()))
    yield `${path}.budget[${index}].per is the length of session.budget[${first}] as well; give each window a different one, or remove one`;
  if (quietHours?.from !== undefined && quietHours.from === quietHours.to)
    yield `${path}.quietHours.to must not be the same time as from`;
  // A share of a lifetime is not a fixed time: the renewer makes sure that no session is renewed in the first half of
  // its life because of quiet hours.
  const lead = renewBefore ?? { kind: 'duration', durationMs: DEFAULT_LEAD_TIMEOUTS * (gateway?.timeoutMs ?? 0) };
  if (lead.kind === 'duration' && renewEveryMs < 2 * lead.durationMs)
    yield `${path}.renewEvery must be at least twice renewBefore (two gateway timeouts by default); raise it, or shorten renewBefore`;
}
