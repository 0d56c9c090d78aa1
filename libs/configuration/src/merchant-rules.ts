import { parseDurationMs } from '#libs/clock';
import type { LeadTime } from '#libs/session';
import { repeats } from './broker-rules.js';
import type { Loose } from './check-values.js';
import { childPath, type Fault } from './fault.js';
import { parseLeadTime } from './lead-time.js';
import type { MerchantSettings } from './settings/merchant-settings.js';

/** A rule between the settings of one merchant; paths are relative to the merchant. */
type MerchantRule = (merchant: Loose<MerchantSettings>) => Fault[];

const oneServiceCode: MerchantRule = ({ serviceCode, serviceCodeFile }) => {
  if (serviceCode !== undefined && serviceCodeFile !== undefined) {
    return [{ path: 'serviceCodeFile', problem: 'stands beside serviceCode; give exactly one of them' }];
  }
  return serviceCode === undefined && serviceCodeFile === undefined
    ? [{ path: 'serviceCode', problem: 'is missing: give the UUID that the bank assigned, or serviceCodeFile' }]
    : [];
};

const keyFilesDiffer: MerchantRule = ({ clientKeyFiles = [] }) =>
  repeats(clientKeyFiles, (file) => file).map(({ index, first }) => ({
    path: `clientKeyFiles[${index}]`,
    problem: `is the same file as clientKeyFiles[${first}]; remove one`,
  }));

const httpsInProduction: MerchantRule = ({ gateway }) =>
  gateway?.environment === 'production' && isPlainHttp(gateway.baseUrl)
    ? [{ path: 'gateway.baseUrl', problem: 'must be https, because gateway.environment is production' }]
    : [];

const helpersOnlyInTest: MerchantRule = ({ gateway }) =>
  gateway?.environment === 'production' && gateway.testBaseUrl !== undefined
    ? [{ path: 'gateway.testBaseUrl', problem: 'is accepted only with environment: test; remove it' }]
    : [];

const trustOnlyWithTls: MerchantRule = ({ gateway }) =>
  isPlainHttp(gateway?.baseUrl) && (gateway?.tls?.caFile !== undefined || gateway?.tls?.pins?.length)
    ? [{ path: 'gateway.tls', problem: 'has no effect on an http baseUrl; use https, or remove it' }]
    : [];

function isPlainHttp(url: string | undefined): boolean {
  return url !== undefined && /^http:/i.test(url);
}

const requestDataComplete: MerchantRule = ({ gateway }) => {
  const { attach, name, recipientKeyFile } = gateway?.requestData ?? {};
  if (attach === undefined) return [];
  return Object.entries({ name, recipientKeyFile }).flatMap(([setting, value]) => {
    if ((attach === 'none') === (value === undefined)) return [];
    const problem =
      attach === 'none'
        ? 'has no effect with attach: none; remove it, or set attach to body or header'
        : `is missing: attach: ${attach} needs it`;
    return [{ path: `gateway.requestData.${setting}`, problem }];
  });
};

/** Names that the create-session call uses itself (interface description, "Create a technical session"). */
const TAKEN_NAMES = {
  none: /^$/,
  body: /^serviceCode$/,
  header:
    /^(?:x-api_version|content-(?:type|length|encoding)|host|connection|transfer-encoding|accept|accept-encoding|expect|upgrade|te|trailer|keep-alive|user-agent)$/i,
} as const;

const requestDataNameFree: MerchantRule = ({ gateway }) => {
  const { attach = 'none', name } = gateway?.requestData ?? {};
  return name !== undefined && TAKEN_NAMES[attach].test(name)
    ? [{ path: 'gateway.requestData.name', problem: 'is a name that the request uses itself; choose another' }]
    : [];
};

/** The defaults as the renewer applies them: `renewBefore` 20 %, `safetyMargin` at most 5 %. */
const DEFAULT_RENEW_BEFORE = '20%';
const DEFAULT_SAFETY_MARGIN = '5%';

/** Compared where it holds for every lifetime: two shares, or two durations. */
function isLonger(margin: LeadTime | undefined, lead: LeadTime | undefined): boolean {
  if (margin?.kind === 'share' && lead?.kind === 'share') return margin.share >= lead.share;
  if (margin?.kind === 'duration' && lead?.kind === 'duration') return margin.durationMs >= lead.durationMs;
  return false;
}

const marginInsideLeadTime: MerchantRule = ({ session = {} }) => {
  const { renewBefore = DEFAULT_RENEW_BEFORE, safetyMargin = DEFAULT_SAFETY_MARGIN } = session;
  if (!isLonger(parseLeadTime(safetyMargin), parseLeadTime(renewBefore))) return [];
  return session.safetyMargin === undefined
    ? [{ path: 'session.renewBefore', problem: `must be more than safetyMargin (${DEFAULT_SAFETY_MARGIN} by default)` }]
    : [{ path: 'session.safetyMargin', problem: `must be less than renewBefore (${DEFAULT_RENEW_BEFORE} by default)` }];
};

/** Otherwise a session that names no expiry would be due for renewal, or not servable, from its first moment. */
const leadTimesInsideFallback: MerchantRule = ({ session }) => {
  const fallbackMs = parseDurationMs(session?.fallbackLifetime ?? '');
  if (fallbackMs === undefined) return [];
  return (['renewBefore', 'safetyMargin'] as const).flatMap((setting) => {
    const lead = parseLeadTime(session?.[setting] ?? '');
    return lead?.kind === 'duration' && lead.durationMs >= fallbackMs
      ? [
          {
            path: `session.${setting}`,
            problem: 'must be shorter than session.fallbackLifetime; shorten it, or raise that',
          },
        ]
      : [];
  });
};

/** A session that names no expiry would be cut to less than what was configured for it. */
const fallbackInsideLongest: MerchantRule = ({ session }) => {
  const fallbackMs = parseDurationMs(session?.fallbackLifetime ?? '');
  const longestMs = parseDurationMs(session?.longestLifetime ?? '');
  return fallbackMs !== undefined && longestMs !== undefined && fallbackMs > longestMs
    ? [
        {
          path: 'session.longestLifetime',
          problem: 'must be at least session.fallbackLifetime; raise it, or shorten that',
        },
      ]
    : [];
};

const merchantRules: readonly MerchantRule[] = [
  oneServiceCode,
  keyFilesDiffer,
  httpsInProduction,
  helpersOnlyInTest,
  trustOnlyWithTls,
  requestDataComplete,
  requestDataNameFree,
  marginInsideLeadTime,
  leadTimesInsideFallback,
  fallbackInsideLongest,
];

/** The faults of each merchant by itself, with full paths. */
export function merchantFaults(merchants: readonly (Loose<MerchantSettings> | undefined)[]): Fault[] {
  return merchants.flatMap((merchant, index) =>
    merchantRules.flatMap((rule) =>
      rule(merchant ?? {}).map(({ path, problem }) => ({
        path: childPath(childPath('merchants', index), path),
        problem,
      })),
    ),
  );
}
