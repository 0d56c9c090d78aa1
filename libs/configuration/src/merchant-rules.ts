import type { LeadTime } from '#libs/session';
import { gatewayRules } from './gateway-rules.js';
import { momentRules } from './quiet-hours-rules.js';
import { faultIf, repeats, type Rule, rulesAt } from './rule.js';
import type { BrokerSettings } from './settings/broker-settings.js';
import type { MerchantSettings } from './settings/merchant-settings.js';

/** Names that the create-session call uses itself (interface description, "Create a technical session"). */
const TAKEN_NAMES = {
  none: /^$/,
  body: /^serviceCode$/,
  header:
    /^(?:x-api_version|content-(?:type|length|encoding)|host|connection|transfer-encoding|accept|accept-encoding|expect|upgrade|te|trailer|keep-alive|user-agent)$/i,
} as const;

/** The defaults as the renewer applies them: `renewBefore` 20 %, `safetyMargin` at most 5 %. */
const DEFAULT_RENEW_BEFORE: LeadTime = { kind: 'share', share: 0.2 };
const DEFAULT_SAFETY_MARGIN: LeadTime = { kind: 'share', share: 0.05 };

/** Compares only if the result holds for every lifetime: two shares, or two durations. */
function isLonger(margin: LeadTime, lead: LeadTime): boolean {
  if (margin.kind === 'share' && lead.kind === 'share') return margin.share >= lead.share;
  if (margin.kind === 'duration' && lead.kind === 'duration') return margin.durationMs >= lead.durationMs;
  return false;
}

/** Between the settings of one merchant; paths are relative to the merchant. */
const rules: Readonly<Record<string, Rule<MerchantSettings>>> = {
  oneServiceCode: ({ serviceCode, serviceCodeFile }) => [
    ...faultIf(
      serviceCode !== undefined && serviceCodeFile !== undefined,
      'serviceCodeFile',
      'is given as well as serviceCode; give only one of them',
    ),
    ...faultIf(
      serviceCode === undefined && serviceCodeFile === undefined,
      'serviceCode',
      'is missing: give the UUID that the bank assigned, or serviceCodeFile',
    ),
  ],
  keyFilesDiffer: ({ clientKeyFiles }) =>
    repeats(
      clientKeyFiles,
      (file) => file,
      (index, first) => ({
        path: `clientKeyFiles[${index}]`,
        problem: `is the same file as clientKeyFiles[${first}]; remove one`,
      }),
    ),
  ...gatewayRules,
  helpersOnlyInTest: ({ gateway }) =>
    faultIf(
      gateway?.environment === 'production' && gateway.testBaseUrl !== undefined,
      'gateway.testBaseUrl',
      'is accepted only with environment: test; remove it',
    ),
  requestDataComplete: ({ gateway }) => {
    const { attach, name, recipientKeyFile } = gateway?.requestData ?? {};
    return Object.entries({ name, recipientKeyFile }).flatMap(([setting, value]) =>
      faultIf(
        attach !== undefined && (attach === 'none') === (value !== undefined),
        `gateway.requestData.${setting}`,
        attach === 'none'
          ? 'has no effect with attach: none; remove it, or set attach to body or header'
          : `is missing: attach: ${attach} needs it`,
      ),
    );
  },
  requestDataNameFree: ({ gateway }) => {
    const { attach = 'none', name } = gateway?.requestData ?? {};
    return faultIf(
      name !== undefined && TAKEN_NAMES[attach].test(name),
      'gateway.requestData.name',
      'is a name that the request uses itself; choose another',
    );
  },
  marginInsideLeadTime: ({ session: { renewBefore, safetyMargin } = {} }) => {
    if (!isLonger(safetyMargin ?? DEFAULT_SAFETY_MARGIN, renewBefore ?? DEFAULT_RENEW_BEFORE)) return [];
    return safetyMargin === undefined
      ? [{ path: 'session.renewBefore', problem: 'must be more than safetyMargin (5% by default)' }]
      : [{ path: 'session.safetyMargin', problem: 'must be less than renewBefore (20% by default)' }];
  },
  /** Otherwise a session without an expiry would be due for renewal, or not servable, from its first moment. */
  leadTimesInsideFallback: ({ session = {} }) =>
    (['renewBefore', 'safetyMargin'] as const).flatMap((setting) => {
      const lead = session[setting];
      return faultIf(
        lead?.kind === 'duration' && lead.durationMs >= (session.fallbackLifetimeMs ?? Infinity),
        `session.${setting}`,
        'must be shorter than session.fallbackLifetime; shorten it, or raise fallbackLifetime',
      );
    }),
  /** Of two windows of the same length, the more generous one never refuses anything, so one of them is a mistake. */
  windowsDiffer: ({ session: { budget } = {} }) =>
    repeats(
      budget,
      (window) => window?.perMs?.toString(),
      (index, first) => ({
        path: `session.budget[${index}].per`,
        problem: `is the length of session.budget[${first}] as well; give each window a different one, or remove one`,
      }),
    ),
  ...momentRules,
  /** Otherwise a session without an expiry would be cut short of the lifetime that was configured for it. */
  fallbackInsideLongest: ({ session: { fallbackLifetimeMs = 0, longestLifetimeMs } = {} }) =>
    faultIf(
      fallbackLifetimeMs > (longestLifetimeMs ?? Infinity),
      'session.longestLifetime',
      'must be at least session.fallbackLifetime; raise it, or shorten fallbackLifetime',
    ),
};

/** The faults of each merchant on its own, with full paths. */
export const merchantFaults: Rule<BrokerSettings> = ({ merchants = [] }) =>
  merchants.flatMap((merchant, index) => rulesAt(`merchants[${index}]`, rules)(merchant ?? {}));
