import { type Attributes, type Meter, ValueType } from '@opentelemetry/api';
import {
  type CertificateEndGauge,
  type CountedConnectionEnd,
  observeCertificates,
  observeConnectionEnds,
} from './edge-metrics.js';
import type { Exemplars } from './exemplars.js';
import { observeLostLines } from './standard-output.js';

/** @param events one by default; zero makes the series begin */
type Count = (attributes: Attributes, events?: number) => void;
type Record = (value: number, attributes: Attributes) => void;

/** What one merchant looks like at the time of a scrape. Moments in seconds since the epoch; absent: not known. */
export interface MerchantGauges {
  readonly merchant: string;
  /** One of `states`. */
  readonly state?: string | undefined;
  readonly generation?: number | undefined;
  readonly expirySeconds?: number | undefined;
  readonly renewSeconds?: number | undefined;
  readonly lastSuccessSeconds?: number | undefined;
  readonly nextAttemptSeconds?: number | undefined;
  readonly clockSkewSeconds?: number | undefined;
  /** Whether somebody else creates sessions for the merchant. */
  readonly foreignAuthorizer?: 0 | 1 | undefined;
}

/**
 * There are far too many reads to report them one by one: they are counted where they happen and collected at a scrape.
 */
export interface CountedRead {
  readonly merchant: string;
  readonly result: string;
  readonly count: number;
}

/** Renewals that one consumer caused by its report and no other consumer confirmed. */
export interface CountedRejection {
  readonly merchant: string;
  readonly consumer: string;
  readonly count: number;
}

/** The state of this replica's configuration. */
export interface ConfigurationGauges {
  /** When the configuration in force was read, in seconds since the epoch. */
  readonly loadedSeconds: number;
  /** Whether the files could be accepted when they were last read. */
  readonly isTaken: boolean;
}

/** Called at each scrape, so that moments are exact and a removed merchant leaves no series behind. */
export interface GaugeSource {
  /** Those in which a merchant can be. */
  readonly states: readonly string[];
  merchants(): Iterable<MerchantGauges>;
  reads(): Iterable<CountedRead>;
  unconfirmedRejections(): Iterable<CountedRejection>;
  /** Undefined until it is known. */
  store(): 'answers' | 'refuses' | 'silent' | undefined;
  watchers(): number;
  configuration(): ConfigurationGauges;
  /** Refused credentials so far, by reason. */
  authenticationFailures(): Iterable<readonly [reason: string, count: number]>;
  endedConnections(): Iterable<CountedConnectionEnd>;
  certificates(): Iterable<CertificateEndGauge>;
}

/** The product's own metrics, named as in the design. The exporter adds `_total` to counters. */
export interface Instruments {
  readonly renewals: Count;
  readonly renewalSeconds: Record;
  readonly handovers: Count;
  readonly handoverSeconds: Record;
  readonly rejections: Count;
  readonly leases: Count;
  readonly storeErrors: Count;
  readonly storeSeconds: Record;
  readonly gatewayFailures: Count;
  readonly lateResults: Count;
  readonly fencedPublishes: Count;
  readonly unopenableRecords: Count;
  readonly serverKeyChanges: Count;
  readonly budgetExhausted: Count;
  readonly configReloadFailures: Count;
  observe(source: GaugeSource): void;
}

const PREFIX = 'session_broker_';
/** From an instant gateway to one that runs into the longest timeout. */
const RENEWAL_BUCKETS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** From a store beside us to one that runs into the timeout of a command. */
const STORE_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
/** From a hand-over without participants to the longest one. */
const HANDOVER_BUCKETS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** @param exemplars where renewals are kept with their traces, if at all */
export function createInstruments(meter: Meter, exemplars?: Exemplars): Instruments {
  const counter = (name: string, description: string): Count => {
    const instrument = meter.createCounter(PREFIX + name, { description, valueType: ValueType.INT });
    return (attributes, events = 1) => instrument.add(events, attributes);
  };
  const histogram = (name: string, description: string, boundaries: number[]): Record => {
    const advice = { explicitBucketBoundaries: boundaries };
    const instrument = meter.createHistogram(PREFIX + name, { description, unit: 's', advice });
    return (value, attributes) => {
      instrument.record(value, attributes);
      exemplars?.note(PREFIX + name, { value, attributes, boundaries });
    };
  };
  return {
    handovers: counter('handovers', 'Planned renewals that asked consumers to hold their calls, by what came of it'),
    handoverSeconds: histogram(
      'handover_wait_seconds',
      'How long a planned renewal waited for consumers to end their calls',
      HANDOVER_BUCKETS_S,
    ),
    renewals: counter('renewals', 'Attempts that called the gateway, by trigger and outcome'),
    renewalSeconds: histogram(
      'renewal_duration_seconds',
      'From the lease to the end of the attempt',
      RENEWAL_BUCKETS_S,
    ),
    rejections: counter('rejections', 'Sessions that consumers reported as dead, by what came of it'),
    leases: counter('leases', 'Claims, by what the store answered'),
    storeErrors: counter('store_errors', 'Operations that the store did not answer'),
    storeSeconds: histogram(
      'store_operation_duration_seconds',
      'How long the store took to answer, by operation',
      STORE_BUCKETS_S,
    ),
    gatewayFailures: counter('gateway_failures', 'Failed create calls, by kind and code of the gateway'),
    lateResults: counter('late_results', 'Sessions that came after their lease and were not published'),
    fencedPublishes: counter('fenced_publish_rejected', 'Publications that a newer lease refused'),
    unopenableRecords: counter('unopenable_records', 'Stored sessions that no configured key opens'),
    serverKeyChanges: counter('server_key_changes', 'Renewals that brought another server key'),
    budgetExhausted: counter('budget_exhausted', 'Claims refused because the create-call budget is spent'),
    configReloadFailures: counter('config_reload_failures', 'Changed configurations that were not taken'),
    observe: (source) => observe(meter, source),
  };
}

type NumberOf = (gauges: MerchantGauges) => number | undefined;

function observe(meter: Meter, source: GaugeSource): void {
  const byMerchant: readonly (readonly [name: string, description: string, pick: NumberOf])[] = [
    ['session_expiry_timestamp_seconds', 'When the held session expires', ({ expirySeconds }) => expirySeconds],
    ['session_renew_timestamp_seconds', 'When the held session is renewed', ({ renewSeconds }) => renewSeconds],
    ['last_success_timestamp_seconds', 'When this replica last took over a new session', (of) => of.lastSuccessSeconds],
    ['next_attempt_timestamp_seconds', 'When the next attempt is due, as far as known', (of) => of.nextAttemptSeconds],
    [
      'gateway_clock_skew_seconds',
      'How far the gateway clock is ahead of ours',
      ({ clockSkewSeconds }) => clockSkewSeconds,
    ],
  ];
  const gauges = byMerchant.map(([name, description, pick]) => ({
    gauge: meter.createObservableGauge(PREFIX + name, { description, unit: 's' }),
    pick,
  }));
  const generation = meter.createObservableGauge(`${PREFIX}session_generation`, { description: 'Of the held session' });
  const foreign = meter.createObservableGauge(`${PREFIX}foreign_authorizer`, {
    description: 'Whether reports of consumers show that somebody else creates sessions of the merchant',
  });
  const state = meter.createObservableGauge(`${PREFIX}merchant_state`, {
    description: 'How the merchant is, as this replica sees it: one of its states is 1',
  });
  const replica = meter.createObservableGauge(`${PREFIX}replica_generation`, {
    description: 'Of the held session, for the comparison of replicas',
  });
  const all = [
    ...gauges,
    { gauge: generation, pick: generationOf },
    { gauge: foreign, pick: foreignOf },
    { gauge: replica, pick: generationOf },
  ];
  meter.addBatchObservableCallback(
    (result) => {
      for (const merchant of source.merchants()) {
        for (const { gauge, pick } of all) {
          const value = pick(merchant);
          if (value !== undefined) result.observe(gauge, value, { merchant: merchant.merchant });
        }
        for (const name of source.states)
          result.observe(state, name === merchant.state ? 1 : 0, { merchant: merchant.merchant, state: name });
      }
    },
    [state, ...all.map(({ gauge }) => gauge)],
  );
  observeReplica(meter, source);
  observeConnectionEnds(meter, { prefix: PREFIX, read: () => source.endedConnections() });
  observeCertificates(meter, { prefix: PREFIX, read: () => source.certificates() });
  observeLostLines(meter, PREFIX);
}

const generationOf: NumberOf = ({ generation }) => generation;

const foreignOf: NumberOf = ({ foreignAuthorizer }) => foreignAuthorizer;

function observeReplica(meter: Meter, source: GaugeSource): void {
  meter
    .createObservableCounter(`${PREFIX}reads`, { description: 'Reads of a session, by what was served' })
    .addCallback((result) => {
      for (const { merchant, result: served, count } of source.reads())
        result.observe(count, { merchant, result: served });
    });
  meter
    .createObservableCounter(`${PREFIX}unconfirmed_rejections`, {
      description: 'Renewals caused by a consumer whose report no other one confirmed',
    })
    .addCallback((result) => {
      for (const { merchant, consumer, count } of source.unconfirmedRejections())
        result.observe(count, { merchant, consumer });
    });
  meter
    .createObservableGauge(`${PREFIX}store_up`, { description: 'Whether the store answers' })
    .addCallback((result) => {
      const store = source.store();
      if (store !== undefined) result.observe(store === 'answers' ? 1 : 0);
    });
  meter
    .createObservableGauge(`${PREFIX}store_refusing`, {
      description: 'Whether the store answers that it will not: a person has to fix it',
    })
    .addCallback((result) => {
      const store = source.store();
      if (store !== undefined) result.observe(store === 'refuses' ? 1 : 0);
    });
  meter
    .createObservableGauge(`${PREFIX}config_last_reload_successful`, {
      description: 'Whether the files of the configuration could be taken when they were last read',
    })
    .addCallback((result) => result.observe(source.configuration().isTaken ? 1 : 0));
  meter
    .createObservableGauge(`${PREFIX}config_loaded_timestamp_seconds`, {
      description: 'When the configuration in force was read',
      unit: 's',
    })
    .addCallback((result) => result.observe(source.configuration().loadedSeconds));
  meter
    .createObservableGauge(`${PREFIX}watchers`, { description: 'Open event streams' })
    .addCallback((result) => result.observe(source.watchers()));
  meter
    .createObservableCounter(`${PREFIX}authentication_failures`, { description: 'Refused credentials, by reason' })
    .addCallback((result) => {
      for (const [reason, count] of source.authenticationFailures()) result.observe(count, { reason });
    });
}
