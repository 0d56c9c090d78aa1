import type { HandoverOutcome, RenewalOutcome, ServeVerdict, SessionEvent } from '#libs/session';
import type { Instruments } from '#libs/telemetry';

type Renewal = Extract<SessionEvent, { event: 'renewal_finished' }>;
type Claim = Extract<SessionEvent, { event: 'claim_refused' }>;
type ImplausibleTime = Extract<SessionEvent, { event: 'implausible_time' }>;
type Rejection = Extract<SessionEvent, { event: 'session_rejected' }>;

/** The keys of a closed union: the compiler complains here when a new one is missing. */
const every = <Value extends string>(values: Readonly<Record<Value, true>>): readonly Value[] =>
  Object.keys(values) as Value[];

const TRIGGERS = every<Renewal['trigger']>({
  startup: true,
  schedule: true,
  demand: true,
  rejection: true,
  operator: true,
});
const OUTCOMES = every<RenewalOutcome>({
  success: true,
  transient: true,
  refused: true,
  revoked: true,
  invalid_response: true,
  key_unavailable: true,
  timeout: true,
  lease_lost: true,
});
const HANDOVERS = every<HandoverOutcome>({ nobody: true, ready: true, limit: true, cut: true, unheard: true });
const REJECTIONS = every<Exclude<Rejection['result'], 'unavailable'>>({
  renewed: true,
  already_newer: true,
  cooled_down: true,
  budget_exhausted: true,
});
const LEASES = every<Claim['reason'] | 'claimed'>({
  claimed: true,
  held: true,
  not_due: true,
  backing_off: true,
  cooled_down: true,
  budget_exhausted: true,
  share_spent: true,
  already_newer: true,
});
const KINDS_OF_TIME = every<ImplausibleTime['kind']>({ lifetime: true, skew: true });
/** Those without a code from the gateway: the others cannot be known in advance. */
const CODELESS_FAILURES = ['transient', 'timeout'] as const;
const STORE_OPERATIONS = ['claim', 'publish', 'read', 'due', 'announce'] as const;

/** The possible results of a read. */
export const READ_RESULTS = every<ServeVerdict['result']>({ fresh: true, stale: true, unavailable: true });

/** Counters that concern no merchant begin at zero, so that the first event is seen as a change. */
export function beginReplica({ leases, storeErrors, configReloadFailures }: Instruments): void {
  for (const result of LEASES) leases({ result }, 0);
  for (const operation of STORE_OPERATIONS) storeErrors({ operation }, 0);
  configReloadFailures({}, 0);
}

/**
 * The counters of one merchant begin at zero, so that the first event is seen as a change and a panel shows zero for
 * what has not happened. Each outcome is present for the schedule only, and each other trigger with its success only:
 * five times as many series would cost memory, and a change in them is added up all the same.
 */
export function beginMerchant(instruments: Instruments, merchant: string): void {
  for (const outcome of OUTCOMES) instruments.renewals({ merchant, trigger: 'schedule', outcome }, 0);
  for (const trigger of TRIGGERS) instruments.renewals({ merchant, trigger, outcome: 'success' }, 0);
  for (const outcome of HANDOVERS) instruments.handovers({ merchant, outcome }, 0);
  for (const result of REJECTIONS) instruments.rejections({ merchant, result }, 0);
  for (const kind of CODELESS_FAILURES) instruments.gatewayFailures({ merchant, kind, code: 'none' }, 0);
  for (const kind of KINDS_OF_TIME) instruments.implausibleTimes({ merchant, kind }, 0);
  const { lateResults, fencedPublishes, unopenableRecords, serverKeyChanges } = instruments;
  const { budgetExhausted, earlyShareSpent } = instruments;
  for (const count of [lateResults, fencedPublishes, unopenableRecords, serverKeyChanges]) count({ merchant }, 0);
  for (const count of [budgetExhausted, earlyShareSpent]) count({ merchant }, 0);
}
