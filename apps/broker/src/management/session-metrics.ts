import type { Clock } from '#libs/clock';
import type { SessionEvent, SessionEvents, SessionReplica } from '#libs/session';
import type {
  ConfigurationGauges,
  CountedConnectionEnd,
  CountedRead,
  CountedRejection,
  GaugeSource,
  Instruments,
  MerchantGauges,
} from '#libs/telemetry';
import { beginMerchant, beginReplica, READ_RESULTS } from './counters-at-zero.js';
import type { MerchantLabels } from './merchant-labels.js';
import type { StoreCondition } from '../renewal/store-state.js';

type Named<Name extends SessionEvent['event']> = Extract<SessionEvent, { event: Name }>;

const MS_PER_S = 1_000;

/** What is read at a scrape. */
export interface WatchedParts {
  readonly replica: Pick<SessionReplica, 'held' | 'retryInMs' | 'hasForeignAuthorizer'>;
  readonly clock: Clock;
  readonly labels: () => MerchantLabels;
  readonly merchants: () => readonly string[];
  readonly reads: () => Iterable<CountedRead>;
  readonly unconfirmedRejections: () => Iterable<CountedRejection>;
  /** Undefined until it is known. */
  readonly store: () => StoreCondition | undefined;
  readonly watchers: () => number;
  readonly authenticationFailures: () => Iterable<readonly [reason: string, count: number]>;
  readonly endedConnections: () => Iterable<CountedConnectionEnd>;
}

/** Counts what happens in the domain, and reports at a scrape what the replica holds. */
export class SessionMetrics implements SessionEvents, GaugeSource {
  readonly #instruments: Instruments;
  readonly #watched: WatchedParts;
  readonly #lastSuccess = new Map<string, number>();
  readonly #skew = new Map<string, number>();
  #configuration: ConfigurationGauges;

  constructor(instruments: Instruments, watched: WatchedParts) {
    this.#instruments = instruments;
    this.#watched = watched;
    this.#configuration = { loadedSeconds: watched.clock.now() / MS_PER_S, isTaken: true };
    instruments.observe(this);
    beginReplica(instruments);
    this.#beginMerchants();
  }

  /** The configuration files were reread. */
  noteReload(isTaken: boolean): void {
    const { loadedSeconds } = this.#configuration;
    this.#configuration = { loadedSeconds: isTaken ? this.#watched.clock.now() / MS_PER_S : loadedSeconds, isTaken };
    if (isTaken) this.#beginMerchants();
    else this.#instruments.configReloadFailures({});
  }

  emit(event: SessionEvent): void {
    this.#count('merchant' in event ? { ...event, merchant: this.#watched.labels().of(event.merchant) } : event);
    if (event.event === 'session_adopted') this.#lastSuccess.set(event.merchant, this.#watched.clock.now() / MS_PER_S);
    if (event.event === 'clock_skew') this.#skew.set(event.merchant, event.skewMs / MS_PER_S);
  }

  merchants(): Iterable<MerchantGauges> {
    return this.#watched.labels().merged(this.#watched.merchants().map((merchant) => this.#gaugesOf(merchant)));
  }

  reads(): Iterable<CountedRead> {
    const labels = this.#watched.labels();
    const none = labels.all().flatMap((merchant) => READ_RESULTS.map((result) => ({ merchant, result, count: 0 })));
    return summed([...none, ...this.#watched.reads()], labels, ({ result }) => result);
  }

  unconfirmedRejections(): Iterable<CountedRejection> {
    return summed(this.#watched.unconfirmedRejections(), this.#watched.labels(), ({ consumer }) => consumer);
  }

  store(): StoreCondition | undefined {
    return this.#watched.store();
  }

  watchers(): number {
    return this.#watched.watchers();
  }

  configuration(): ConfigurationGauges {
    return this.#configuration;
  }

  authenticationFailures(): Iterable<readonly [reason: string, count: number]> {
    return this.#watched.authenticationFailures();
  }

  endedConnections(): Iterable<CountedConnectionEnd> {
    return this.#watched.endedConnections();
  }

  #beginMerchants(): void {
    for (const merchant of this.#watched.labels().all()) beginMerchant(this.#instruments, merchant);
  }

  #count(event: SessionEvent): void {
    const { leases, storeErrors, lateResults, fencedPublishes, unopenableRecords } = this.#instruments;
    switch (event.event) {
      case 'renewal_finished':
        return this.#renewalFinished(event);
      case 'handover_awaited':
        return this.#handoverAwaited(event);
      case 'lease_granted':
        return leases({ result: 'claimed' });
      case 'claim_refused':
        return this.#claimRefused(event);
      case 'session_adopted':
        return this.#sessionAdopted(event);
      case 'session_rejected':
        return this.#sessionRejected(event);
      case 'late_result':
        return lateResults({ merchant: event.merchant });
      case 'fenced_publish':
        return fencedPublishes({ merchant: event.merchant });
      case 'record_unopenable':
        return unopenableRecords({ merchant: event.merchant });
      case 'implausible_time':
        return this.#instruments.implausibleTimes({ merchant: event.merchant, kind: event.kind });
      case 'store_failed':
        return storeErrors({ operation: event.operation });
      default:
        return;
    }
  }

  #renewalFinished({ merchant, trigger, outcome, durationMs, failure }: Named<'renewal_finished'>): void {
    this.#instruments.renewals({ merchant, trigger, outcome });
    this.#instruments.renewalSeconds(durationMs / MS_PER_S, { merchant });
    if (failure === undefined) return;
    this.#instruments.gatewayFailures({ merchant, kind: failure.kind, code: failure.shownCode ?? 'none' });
  }

  #handoverAwaited({ merchant, outcome, waitedMs }: Named<'handover_awaited'>): void {
    this.#instruments.handovers({ merchant, outcome });
    this.#instruments.handoverSeconds(waitedMs / MS_PER_S, { merchant });
  }

  /** A rejection that found no answer is counted as the failed renewal that it is. */
  #sessionRejected({ merchant, result }: Named<'session_rejected'>): void {
    if (result !== 'unavailable') this.#instruments.rejections({ merchant, result });
  }

  #claimRefused({ merchant, reason }: Named<'claim_refused'>): void {
    this.#instruments.leases({ result: reason });
    if (reason === 'budget_exhausted') this.#instruments.budgetExhausted({ merchant });
    if (reason === 'share_spent') this.#instruments.earlyShareSpent({ merchant });
  }

  #sessionAdopted({ merchant, serverKeyChanged }: Named<'session_adopted'>): void {
    if (serverKeyChanged) this.#instruments.serverKeyChanges({ merchant });
  }

  #gaugesOf(merchant: string): MerchantGauges {
    const { replica, clock } = this.#watched;
    const session = replica.held.get(merchant);
    const retryInMs = replica.retryInMs(merchant);
    const nextAttempt = retryInMs === undefined ? session?.renewAt : clock.now() + retryInMs;
    return {
      merchant,
      foreignAuthorizer: replica.hasForeignAuthorizer(merchant) ? 1 : 0,
      ...present('generation', session?.generation),
      ...present('expirySeconds', seconds(session?.expiresAt)),
      ...present('renewSeconds', seconds(session?.renewAt)),
      ...present('nextAttemptSeconds', seconds(nextAttempt)),
      ...present('lastSuccessSeconds', this.#lastSuccess.get(merchant)),
      ...present('clockSkewSeconds', this.#skew.get(merchant)),
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

function present<Key extends string>(key: Key, value: number | undefined): { readonly [K in Key]?: number } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]?: number });
}
