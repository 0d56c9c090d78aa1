import type { Clock } from '#libs/clock';
import {
  type HandoverOutcome,
  merchantConditions,
  type RenewalOutcome,
  type ServeVerdict,
  type SessionEvent,
  type SessionEvents,
  type SessionReplica,
} from '#libs/session';
import type { ConfigurationGauges, CountedRead, GaugeSource, Instruments, MerchantGauges } from '#libs/telemetry';
import type { MerchantLabels } from './merchant-labels.js';

type Named<Name extends SessionEvent['event']> = Extract<SessionEvent, { event: Name }>;

/** The keys of a closed union: the compiler complains here when a new one is missing. */
const every = <Value extends string>(values: Readonly<Record<Value, true>>): readonly Value[] =>
  Object.keys(values) as Value[];

const TRIGGERS = every<Named<'renewal_finished'>['trigger']>({
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
const REJECTIONS = every<Exclude<Named<'session_rejected'>['result'], 'unavailable'>>({
  renewed: true,
  already_newer: true,
  cooled_down: true,
  budget_exhausted: true,
});
const LEASES = every<Named<'claim_refused'>['reason'] | 'claimed'>({
  claimed: true,
  held: true,
  not_due: true,
  backing_off: true,
  cooled_down: true,
  budget_exhausted: true,
  share_spent: true,
  already_newer: true,
});
/** Those without a code from the gateway: the others cannot be known in advance. */
const CODELESS_FAILURES = [
  { kind: 'transient', code: 'none' },
  { kind: 'transient', code: 'unreached' },
  { kind: 'timeout', code: 'none' },
] as const;
const STORE_OPERATIONS = ['claim', 'publish', 'read', 'due', 'announce'] as const;

/** The possible results of a read. */
const READ_RESULTS = every<ServeVerdict['result']>({ fresh: true, stale: true, unavailable: true });

/** Counters that concern no merchant begin at zero, so that the first event is seen as a change. */
function beginReplica({ leases, storeErrors, configReloadFailures }: Instruments): void {
  for (const result of LEASES) leases({ result }, 0);
  for (const operation of STORE_OPERATIONS) storeErrors({ operation }, 0);
  configReloadFailures({}, 0);
}

/**
 * The counters of one merchant begin at zero, so that the first event is seen as a change and a panel shows zero for
 * what has not happened. Each outcome is present for the schedule only, and each other trigger with its success only:
 * five times as many series would cost memory, and a change in them is added up all the same.
 */
function beginMerchant(instruments: Instruments, merchant: string): void {
  for (const outcome of OUTCOMES) instruments.renewals({ merchant, trigger: 'schedule', outcome }, 0);
  for (const trigger of TRIGGERS) instruments.renewals({ merchant, trigger, outcome: 'success' }, 0);
  for (const outcome of HANDOVERS) instruments.handovers({ merchant, outcome }, 0);
  for (const result of REJECTIONS) instruments.rejections({ merchant, result }, 0);
  for (const failure of CODELESS_FAILURES) instruments.gatewayFailures({ merchant, ...failure }, 0);
  const { lateResults, fencedPublishes, unopenableRecords, serverKeyChanges, budgetExhausted } = instruments;
  for (const count of [lateResults, fencedPublishes, unopenableRecords, serverKeyChanges, budgetExhausted])
    count({ merchant }, 0);
}

const MS_PER_S = 1_000;

type Counters = { readonly [Name in SessionEvent['event']]?: (event: Named<Name>, to: Instruments) => void };

/** What is counted of each event of the domain. */
const COUNTED: Counters = {
  renewal_finished: ({ merchant, trigger, outcome, durationMs, failure }, to) => {
    to.renewals({ merchant, trigger, outcome });
    to.renewalSeconds(durationMs / MS_PER_S, { merchant });
    if (failure === undefined) return;
    const { kind, shownCode, wasReached } = failure;
    to.gatewayFailures({ merchant, kind, code: shownCode ?? (wasReached ? 'none' : 'unreached') });
  },
  handover_awaited: ({ merchant, outcome, waitedMs }, to) => {
    to.handovers({ merchant, outcome });
    to.handoverSeconds(waitedMs / MS_PER_S, { merchant });
  },
  lease_granted: (_event, to) => to.leases({ result: 'claimed' }),
  claim_refused: ({ merchant, reason }, to) => {
    to.leases({ result: reason });
    if (reason === 'budget_exhausted') to.budgetExhausted({ merchant });
  },
  session_adopted: ({ merchant, serverKeyChanged }, to) => serverKeyChanged && to.serverKeyChanges({ merchant }),
  // One that found no answer is counted as the failed renewal that it is.
  session_rejected: ({ merchant, result }, to) => result !== 'unavailable' && to.rejections({ merchant, result }),
  late_result: ({ merchant }, to) => to.lateResults({ merchant }),
  fenced_publish: ({ merchant }, to) => to.fencedPublishes({ merchant }),
  record_unopenable: ({ merchant }, to) => to.unopenableRecords({ merchant }),
  store_failed: ({ operation }, to) => to.storeErrors({ operation }),
};

type Collected =
  | 'reads'
  | 'unconfirmedRejections'
  | 'store'
  | 'watchers'
  | 'authenticationFailures'
  | 'endedConnections'
  | 'certificates';

/** What is read at a scrape. */
interface WatchedParts extends Pick<GaugeSource, Collected> {
  readonly replica: Pick<SessionReplica, 'held' | 'retryInMs' | 'hasForeignAuthorizer' | 'conditionOf'>;
  readonly clock: Clock;
  readonly labels: () => MerchantLabels;
  readonly merchants: () => readonly string[];
}

/** Counts what happens in the domain, and reports at a scrape what the replica holds. */
export class SessionMetrics implements SessionEvents {
  readonly #lastSuccess = new Map<string, number>();
  readonly #skew = new Map<string, number>();
  #configuration: ConfigurationGauges;

  constructor(
    private readonly instruments: Instruments,
    private readonly watched: WatchedParts,
  ) {
    this.#configuration = { loadedSeconds: watched.clock.now() / MS_PER_S, isTaken: true };
    instruments.observe({
      ...watched,
      states: merchantConditions,
      merchants: () => watched.labels().merged(watched.merchants().map((merchant) => this.#gaugesOf(merchant))),
      reads: () => this.#reads(),
      unconfirmedRejections: () =>
        summed(watched.unconfirmedRejections(), watched.labels(), ({ consumer }) => consumer),
      configuration: () => this.#configuration,
    });
    beginReplica(instruments);
    this.#beginMerchants();
  }

  /** The configuration files were reread. */
  noteReload(isTaken: boolean): void {
    const { loadedSeconds } = this.#configuration;
    this.#configuration = { loadedSeconds: isTaken ? this.watched.clock.now() / MS_PER_S : loadedSeconds, isTaken };
    if (isTaken) this.#beginMerchants();
    else this.instruments.configReloadFailures({});
  }

  /** The store has answered an operation, or has not in time. */
  noteStoreOperation(operation: string, tookMs: number): void {
    this.instruments.storeSeconds(tookMs / MS_PER_S, { operation });
  }

  emit(event: SessionEvent): void {
    const labelled = 'merchant' in event ? { ...event, merchant: this.watched.labels().of(event.merchant) } : event;
    // The table pairs each name with a counter of exactly that event, which the indexed access cannot express.
    (COUNTED[event.event] as ((event: SessionEvent, to: Instruments) => void) | undefined)?.(
      labelled,
      this.instruments,
    );
    if (event.event === 'session_adopted') this.#lastSuccess.set(event.merchant, this.watched.clock.now() / MS_PER_S);
    if (event.event === 'clock_skew') this.#skew.set(event.merchant, event.skewMs / MS_PER_S);
  }

  #reads(): Iterable<CountedRead> {
    const labels = this.watched.labels();
    const none = labels.all().flatMap((merchant) => READ_RESULTS.map((result) => ({ merchant, result, count: 0 })));
    return summed([...none, ...this.watched.reads()], labels, ({ result }) => result);
  }

  #beginMerchants(): void {
    for (const merchant of this.watched.labels().all()) beginMerchant(this.instruments, merchant);
  }

  #gaugesOf(merchant: string): MerchantGauges {
    const { replica, clock } = this.watched;
    const session = replica.held.get(merchant);
    const retryInMs = replica.retryInMs(merchant);
    const nextAttempt = retryInMs === undefined ? session?.renewAt : clock.now() + retryInMs;
    return {
      merchant,
      state: replica.conditionOf(merchant),
      foreignAuthorizer: replica.hasForeignAuthorizer(merchant) ? 1 : 0,
      generation: session?.generation,
      expirySeconds: seconds(session?.expiresAt),
      renewSeconds: seconds(session?.renewAt),
      nextAttemptSeconds: seconds(nextAttempt),
      lastSuccessSeconds: this.#lastSuccess.get(merchant),
      clockSkewSeconds: this.#skew.get(merchant),
    };
  }
}

/** A label may appear only once in a scrape: the counts of merchants that share one are summed. */
function summed<Counted extends { readonly merchant: string; readonly count: number }>(
  all: Iterable<Counted>,
  labels: MerchantLabels,
  kindOf: (counted: Counted) => string,
): Iterable<Counted> {
  const sums = new Map<string, Counted>();
  for (const counted of all) {
    const merchant = labels.of(counted.merchant);
    const key = `${merchant} ${kindOf(counted)}`;
    sums.set(key, { ...counted, merchant, count: (sums.get(key)?.count ?? 0) + counted.count });
  }
  return sums.values();
}

function seconds(epochMs: number | undefined): number | undefined {
  return epochMs === undefined ? undefined : epochMs / MS_PER_S;
}
