import { formatDuration, msBetween, toRfc3339 } from '#libs/clock';
import type { MerchantConfiguration } from '#libs/configuration';
import { inspectSession, type SessionInspection } from '#libs/gateway';
import {
  admit,
  exceedsTolerance,
  GatewayFailure,
  type ImplausibleTime,
  implausibleTimes,
  type IssuedSession,
  leadTimeShortfall,
  measureSkew,
  type Session,
  TLS_SPOKEN,
} from '#libs/session';
import { MAY_END_ANOTHER } from '../../chosen-merchant.js';
import { exitClassOf } from '../../exit-codes.js';
import { addressRemedy, describeFailure } from '../../gateway-words.js';
import { unlessTls } from '../../gateway-tls-instead.js';
import { gatewaySettingsOf } from '../../merchant-gateway.js';
import { type Check, fact, fault, type Finding, looked, notApplicable, type Verdict, warning } from '../check.js';
import { asFault } from '../gateway-fault.js';
import type { VisitTools } from '../gateway-visit.js';
import { GRACE_MS } from './gateway-tcp-check.js';
import { NO_TLS_SPOKEN } from './gateway-tls-check.js';

const REMEDY = 'compare serviceCode, environment and client key with what the bank has registered';
const WRONG_SCHEME: ReadonlySet<string | undefined> = new Set([NO_TLS_SPOKEN, TLS_SPOKEN]);
const PASSING = 'ask again later: this passes by itself, or the bank has to fix it';

/** What passes by itself is not a fault of the configuration, unless the address is wrong. */
function remedyOf(failure: GatewayFailure, { gateway }: MerchantConfiguration): string {
  const { kind, wasReached, trace } = failure;
  const isUntrusted = trace?.mark !== undefined && kind === 'refused';
  if (!wasReached || isUntrusted || WRONG_SCHEME.has(trace?.mark))
    return 'see what the checks gateway.* say: the call did not get there';
  return addressRemedy(failure, gateway) ?? (kind === 'transient' || kind === 'timeout' ? PASSING : REMEDY);
}

/**
 * One real create call: the form of the answer, its field names, the session's lifetime, and whether lead time and
 * budget are enough for it.
 */
export function sessionCreateCheck(merchant: MerchantConfiguration, tools: VisitTools): Check {
  return {
    name: 'session.create',
    subject: merchant.id,
    needs: ['configuration'],
    limitMs: merchant.gateway.timeoutMs + GRACE_MS,
    run: (signal) =>
      asFault(
        async () => {
          return describe(await inspected(merchant, tools, signal), merchant);
        },
        (failure) => remedyOf(failure, merchant),
      ),
  };
}

/** @throws GatewayFailure, which names the cause if the port speaks TLS and was called without it */
async function inspected(
  merchant: MerchantConfiguration,
  tools: VisitTools,
  signal: AbortSignal,
): Promise<SessionInspection> {
  try {
    return await inspectSession(tools, { gateway: gatewaySettingsOf(merchant), signal });
  } catch (error) {
    if (!(error instanceof GatewayFailure)) throw error;
    throw await unlessTls(error, merchant.gateway, { clock: tools.clock, signal });
  }
}

/** Whoever reads that all is well must also learn what was not checked. */
export const sessionNotAskedCheck: Check = {
  name: 'session.create',
  needs: ['configuration'],
  limitMs: 0,
  run: () => Promise.resolve(notApplicable('not asked for; only --create-session shows whether the bank refuses')),
};

function describe({ form, fields, unnamed, session }: SessionInspection, merchant: MerchantConfiguration): Verdict {
  const others = unnamed === 0 ? '' : ` and ${unnamed} whose names are not shown`;
  const findings = [
    fact(`${FORMS[form]}, with the fields ${fields.join(', ')}${others}`),
    warning(MAY_END_ANOTHER, 'watch payments, or have the broker create the next one'),
  ];
  if (session instanceof GatewayFailure) {
    findings.push(fault(exitClassOf(session), describeFailure(session), 'report the fields above to the bank'));
    return looked(findings, { form, fields });
  }
  try {
    return withLifetime(session, { merchant, findings, facts: { form, fields } });
  } catch (error) {
    if (!(error instanceof GatewayFailure)) throw error;
    return looked([...findings, fault(exitClassOf(error), describeFailure(error), 'set this machine by NTP')], {
      form,
      fields,
    });
  }
}

const FORMS = {
  full: 'the full form (serverPublic, refreshToken)',
  short: 'the short form (serverPublicKey)',
  mixed: 'a form that is neither the full nor the short one',
} as const;

interface Known {
  readonly merchant: MerchantConfiguration;
  readonly findings: readonly Finding[];
  readonly facts: object;
}

/** As the renewer would see it, by its own rules, with the shortest lead time that the jitter can leave. */
function withLifetime(issued: IssuedSession, { merchant, findings, facts }: Known): Verdict {
  const { id, session: settings } = merchant;
  const session = admit(issued, { merchant: id, generation: 1, settings, jitter: 0 });
  const lifetimeMs = Math.round(msBetween(session.createdAt, session.expiresAt));
  const given = issued.expiresAt === undefined ? 'none is named: fallbackLifetime counts' : 'as it names it';
  const lead = leadTimeShortfall(session, settings);
  const numbers = {
    lifetimeMs,
    expiresAt: toRfc3339(session.expiresAt),
    tookMs: Math.round(msBetween(issued.sentAt, issued.receivedAt)),
  };
  return looked(
    [
      ...findings,
      fact(`answered after ${numbers.tookMs} ms; lifetime ${seconds(namedLifetimeMs(issued, session))}, ${given}`),
      ...implausibleTimes(issued, settings).map(implausibleFinding),
      leadFinding(session, lead),
      ...keyFindings(issued, merchant),
    ],
    {
      ...{ ...facts, ...numbers, expiryNamed: issued.expiresAt !== undefined },
      leadTimeSuffices: lead === undefined,
    },
  );
}

/** Without the second or two that the renewer subtracts from the expiry so as not to be late by any clock. */
function namedLifetimeMs(issued: IssuedSession, session: Session): number {
  const skew = measureSkew(issued);
  const isOurClock = skew === undefined || !exceedsTolerance(skew);
  return msBetween(issued.receivedAt, (isOurClock ? issued.expiresAt : undefined) ?? session.expiresAt);
}

function implausibleFinding({ kind, statedMs, mostMs }: ImplausibleTime): Finding {
  return kind === 'lifetime'
    ? warning(
        `a lifetime of ${seconds(statedMs)} is not believed: the session ends after ${seconds(mostMs)}`,
        'set session.longestLifetime if it is true, or tell the bank',
      )
    : warning(
        `the gateway's clock is ${seconds(Math.abs(statedMs))} ${statedMs > 0 ? 'ahead of' : 'behind'} ours, which is not believed`,
        'have this machine set by NTP; if it is, tell the bank',
      );
}

function leadFinding(session: Session, lead: ReturnType<typeof leadTimeShortfall>): Finding {
  if (lead === undefined) {
    return fact(`renewed ${seconds(msBetween(session.renewAt, session.expiresAt))} before the end, which suffices`);
  }
  return warning(
    `the lead time is ${seconds(lead.leadMs)}, and two attempts with the pause between them take ${seconds(lead.neededMs)}`,
    'raise session.renewBefore, or lower session.safetyMargin or gateway.timeout',
  );
}

function keyFindings(
  { clientKeyThumbprint }: IssuedSession,
  { clientKeys }: MerchantConfiguration,
): readonly Finding[] {
  return clientKeys[0]?.thumbprint === clientKeyThumbprint
    ? []
    : [warning('an older client key opened it, not the newest', 'hand the newest public key to the bank')];
}

const seconds = (durationMs: number): string => formatDuration(Math.round(durationMs / 1_000) * 1_000);
