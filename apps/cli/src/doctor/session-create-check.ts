import { formatDuration, msBetween, toRfc3339 } from '#libs/clock';
import type { MerchantConfiguration } from '#libs/configuration';
import { inspectSession, type SessionInspection } from '#libs/gateway';
import { admit, exceedsTolerance, GatewayFailure, implausibleTimes } from '#libs/session';
import { type IssuedSession, leadTimeShortfall, measureSkew, type Session } from '#libs/session';
import { MAY_END_ANOTHER } from '../chosen-merchant.js';
import { exitClassOf } from '../exit-codes.js';
import { addressRemedy, describeFailure, remedyFor } from '../gateway-words.js';
import { gatewaySettingsOf } from '../merchant-gateway.js';
import { type Check, fact, fault, type Finding, looked, notApplicable, type Verdict, warning } from './check.js';
import { GRACE_MS } from './gateway-checks.js';
import { asFault, type GatewayTools } from './gateway-visit.js';

/**
 * One real create call: the form of the answer, its field names, the session's lifetime, and whether lead time and
 * budget are enough for it.
 */
export function sessionCreateCheck(merchant: MerchantConfiguration, tools: GatewayTools): Check {
  return {
    name: 'session.create',
    subject: merchant.id,
    limitMs: merchant.gateway.timeoutMs + GRACE_MS,
    run: (signal) =>
      asFault(
        async () => describe(await inspectSession(tools, { gateway: gatewaySettingsOf(merchant), signal }), merchant),
        (failure) => remedyOf(failure, merchant),
      ),
  };
}

/** Whoever reads that all is well must also learn what was not checked. */
export const sessionNotAskedCheck: Check = {
  name: 'session.create',
  limitMs: 0,
  run: () => Promise.resolve(notApplicable('not asked for; only --create-session shows whether the bank refuses')),
};

/** What passes by itself is not a fault of the configuration, unless the address is wrong. */
function remedyOf(failure: GatewayFailure, { gateway }: MerchantConfiguration): string {
  const { wasReached, trace } = failure;
  // Only the network and TLS leave a mark.
  if (!wasReached || trace?.mark !== undefined) return 'see the checks gateway.*: the call did not reach the gateway';
  return addressRemedy(failure, gateway) ?? remedyFor(failure);
}

const FORMS = {
  full: 'the full form (serverPublic, refreshToken)',
  short: 'the short form (serverPublicKey)',
  mixed: 'a form that is neither the full nor the short one',
} as const;

function describe({ form, fields, unnamed, session }: SessionInspection, merchant: MerchantConfiguration): Verdict {
  const others = unnamed === 0 ? '' : ` and ${unnamed} whose names are not shown`;
  const findings = [
    fact(`${FORMS[form]}, with the fields ${fields.join(', ')}${others}`),
    warning(MAY_END_ANOTHER, 'watch payments, or run session-broker renew'),
  ];
  const facts = { form, fields };
  try {
    if (session instanceof GatewayFailure) throw session;
    const lived = withLifetime(session, merchant);
    return looked([...findings, ...lived.findings], { ...facts, ...lived.facts });
  } catch (error) {
    if (!(error instanceof GatewayFailure)) throw error;
    const remedy = 'set this machine by NTP, and report the fields above to the bank';
    return looked([...findings, fault(exitClassOf(error), describeFailure(error), remedy)], facts);
  }
}

interface Lived {
  readonly findings: readonly Finding[];
  readonly facts: object;
}

/**
 * As the renewer would see it, by its own rules, with the shortest lead time that the jitter can leave.
 * @throws GatewayFailure for a session that was past its expiry on arrival
 */
function withLifetime(issued: IssuedSession, { id, session: settings, clientKeys }: MerchantConfiguration): Lived {
  const session = admit(issued, { merchant: id, generation: 1, settings, jitter: 0 });
  const namedMs = namedLifetimeMs(issued, session);
  const given =
    issued.expiresAt === undefined ? 'by fallbackLifetime: the gateway names none' : 'as the gateway names it';
  const tookMs = Math.round(msBetween(issued.sentAt, issued.receivedAt));
  const lead = leadTimeShortfall(session, settings);
  const isNewest = clientKeys[0]?.thumbprint === issued.clientKeyThumbprint;
  return {
    findings: [
      fact(`answered after ${tookMs} ms; lifetime ${seconds(namedMs)}, ${given}`),
      ...implausibleTimes(issued, settings).map(({ kind, statedMs, mostMs }) =>
        warning(
          `a ${kind === 'skew' ? 'clock difference' : 'lifetime'} of ${seconds(Math.abs(statedMs))} is not believed: it is more than ${seconds(mostMs)}`,
          'have this machine set by NTP, and ask the bank; session.longestLifetime and gateway.largestClockSkew are the limits',
        ),
      ),
      lead === undefined
        ? fact(`renewed ${seconds(msBetween(session.renewAt, session.expiresAt))} before the end, early enough`)
        : warning(
            `the lead time is ${seconds(lead.leadMs)}, but two attempts with the pause between them take ${seconds(lead.neededMs)}`,
            'raise session.renewBefore, or lower session.safetyMargin or gateway.timeout',
          ),
      ...(isNewest
        ? []
        : [warning('an older client key opened it, not the newest', 'hand the newest public key to the bank')]),
    ],
    facts: {
      lifetimeMs: Math.round(msBetween(session.createdAt, session.expiresAt)),
      expiresAt: toRfc3339(session.expiresAt),
      ...{ tookMs, expiryNamed: issued.expiresAt !== undefined },
      leadTimeSuffices: lead === undefined,
    },
  };
}

/** Without the second or two that the renewer subtracts from the expiry so as not to be late by any clock. */
function namedLifetimeMs(issued: IssuedSession, session: Session): number {
  const skew = measureSkew(issued);
  const isOurClock = skew === undefined || !exceedsTolerance(skew);
  return msBetween(issued.receivedAt, (isOurClock ? issued.expiresAt : undefined) ?? session.expiresAt);
}

const seconds = (durationMs: number): string => formatDuration(Math.round(durationMs / 1_000) * 1_000);
