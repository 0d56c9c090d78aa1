import { type Attributes, type Meter, ValueType } from '@opentelemetry/api';
import type { Clock } from '#libs/clock';
import {
  type CertificateEndGauge,
  type CountedConnectionEnd,
  observeCertificates,
  observeConnectionEnds,
} from './edge-metrics.js';
import { observeLostLines } from './standard-output.js';

/**
 * What became of a request: `answered` by the gateway, whatever it says; `refused` because of what the caller sent;
 * `unknown` if nobody can say whether the gateway has it; `failed` by a fault of ours.
 */
export type EgressOutcome =
  'answered' | 'refused' | 'no_session' | 'unreachable' | 'unknown' | 'unopened' | 'client_gone' | 'failed';

/** The labels by which a request is counted: names from the configuration, and nothing that a caller can choose. */
export interface EgressRequestFacts {
  /** `_unknown` before it is known. */
  readonly client: string;
  readonly merchant: string;
  /** The configured pattern of the path; `_create` for the create call, `_none` if no route matched. */
  readonly route: string;
  readonly form: 'plain' | 'alias';
  readonly outcome: EgressOutcome;
}

/** A client in the configuration. */
export interface EgressClientNames {
  readonly client: string;
  readonly merchant: string;
  /** `alias` if the client authorizes for itself. */
  readonly form: EgressRequestFacts['form'];
}

/** The session of one merchant at the time of a scrape. */
export interface EgressSessionGauges {
  readonly merchant: string;
  readonly generation: number | undefined;
  readonly expiresAtMs: number | undefined;
  /** Whether newer sessions arrive from the broker without being asked for. */
  readonly isFollowing: boolean;
}

/** The egress's own metrics, named as in the design. The exporter adds `_total` to counters. */
export interface EgressInstruments {
  request(facts: EgressRequestFacts, seconds: number): void;
  inFlight(change: 1 | -1): void;
  /** A request was sent a second time, with the session that replaced a dead one. */
  repeat(merchant: string): void;
  /** @param code one of the closed list, or `http_401` */
  deadSession(merchant: string, code: string): void;
  /** Requests that waited for a hand-over to end. */
  held(merchant: string, requests: number): void;
  /** A body seems to hold a card number in clear. */
  seemingCard(client: string, route: string): void;
  aliasSession(client: string, result: 'given' | 'refused'): void;
  /** The configuration files were read again. @param isTaken false: the previous configuration stays in force */
  reloaded(isTaken: boolean): void;
  /**
   * Counters by client begin at zero, so that the first event is seen as a change. Called again for a changed
   * configuration.
   */
  begin(clients: readonly EgressClientNames[], routes: readonly string[]): void;
  /** Called at each scrape, so that a removed merchant leaves no series behind. To be called once. */
  observeSessions(read: () => Iterable<EgressSessionGauges>): void;
  /** The callback is called at each scrape. To be called once. */
  observeConnectionEnds(read: () => Iterable<CountedConnectionEnd>): void;
  /** The callback is called at each scrape. To be called once. */
  observeCertificates(read: () => Iterable<CertificateEndGauge>): void;
}

type Add = (attributes: Attributes, value?: number) => void;

const PREFIX = 'session_egress_';
/** The outcomes in normal operation, and those that nobody may miss: the others begin with their first request. */
const OUTCOMES_AT_ZERO: readonly EgressOutcome[] = ['answered', 'unknown', 'unopened'];
const MS_PER_S = 1_000;
/** From a request that the egress refuses itself to a gateway that runs into the longest timeout. */
const REQUEST_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function createEgressInstruments(meter: Meter, clock: Clock): EgressInstruments {
  const counter = (name: string, description: string): Add => {
    const instrument = meter.createCounter(PREFIX + name, { description, valueType: ValueType.INT });
    return (attributes, value = 1) => instrument.add(value, attributes);
  };
  observeLostLines(meter, PREFIX);
  const requests = new RequestCounts();
  meter
    .createObservableCounter(`${PREFIX}requests`, { description: 'Requests of clients, by what became of them' })
    .addCallback((result) => {
      for (const { facts, count } of requests.all()) result.observe(count, { ...facts });
    });
  const seconds = meter.createHistogram(`${PREFIX}request_duration_seconds`, {
    description: 'From the head of a request to the end of its answer',
    unit: 's',
    advice: { explicitBucketBoundaries: REQUEST_BUCKETS_S },
  });
  const repeats = counter('repeats', 'Requests that were repeated under the session after a dead one');
  const deadSessions = counter('dead_sessions', 'Answers by which a session was found dead');
  const held = counter('held_requests', 'Requests that waited for a hand-over');
  const seemingCards = counter('seeming_cards', 'Bodies that seem to hold a card number in clear');
  const aliasSessions = counter('alias_sessions', 'Create calls of clients that authorize for themselves');
  const failures = counter('config_reload_failures', 'Changed configurations that were not taken');
  const reloads = countReloads({ meter, clock, failures });
  return {
    request: (facts, took) => {
      requests.add(facts);
      seconds.record(took, { route: facts.route, outcome: facts.outcome });
    },
    inFlight: countInFlight(meter),
    repeat: (merchant) => repeats({ merchant }),
    deadSession: (merchant, code) => deadSessions({ merchant, code }),
    held: (merchant, count) => held({ merchant }, count),
    seemingCard: (client, route) => seemingCards({ client, route }),
    aliasSession: (client, result) => aliasSessions({ client, result }),
    reloaded: (isTaken) => reloads.reloaded(isTaken),
    begin: (clients, routes) => {
      reloads.begin();
      for (const named of clients) {
        for (const count of [repeats, held]) count({ merchant: named.merchant }, 0);
        deadSessions({ merchant: named.merchant, code: 'http_401' }, 0);
        if (named.form === 'alias') beginAlias(aliasSessions, named);
        requests.begin(named, routes);
      }
    },
    observeSessions: (read) => observeSessions(meter, read),
    observeConnectionEnds: (read) => observeConnectionEnds(meter, { prefix: PREFIX, read }),
    observeCertificates: (read) => observeCertificates(meter, { prefix: PREFIX, read }),
  };
}

/**
 * Every payment passes through here: it is counted where it happens and collected at a scrape, which costs a quarter of
 * what a counter of the library does.
 */
class RequestCounts {
  readonly #counts = new Map<string, { readonly facts: EgressRequestFacts; count: number }>();

  add(facts: EgressRequestFacts): void {
    this.#of(facts).count += 1;
  }

  begin(named: EgressClientNames, routes: readonly string[]): void {
    for (const route of routes) {
      for (const outcome of OUTCOMES_AT_ZERO) this.#of({ ...named, route, outcome });
    }
  }

  all(): Iterable<{ readonly facts: EgressRequestFacts; readonly count: number }> {
    return this.#counts.values();
  }

  #of({ client, merchant, route, form, outcome }: EgressRequestFacts): { count: number } {
    const key = `${client}\n${merchant}\n${route}\n${form}\n${outcome}`;
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const made = { facts: { client, merchant, route, form, outcome }, count: 0 };
    this.#counts.set(key, made);
    return made;
  }
}

function beginAlias(aliasSessions: Add, { client }: EgressClientNames): void {
  for (const result of ['given', 'refused']) aliasSessions({ client, result }, 0);
}

function countInFlight(meter: Meter): (change: 1 | -1) => void {
  let inFlight = 0;
  meter
    .createObservableGauge(`${PREFIX}in_flight`, { description: 'Requests that are being served' })
    .addCallback((result) => result.observe(inFlight));
  return (change) => {
    inFlight += change;
  };
}

interface ReloadParts {
  readonly meter: Meter;
  readonly clock: Clock;
  readonly failures: Add;
}

/**
 * A refused reload stays refused until the files are corrected, so its last state is shown in addition to the count.
 */
function countReloads({ meter, clock, failures }: ReloadParts): { begin(): void; reloaded(isTaken: boolean): void } {
  let isLastTaken = true;
  let loadedAtMs = clock.now();
  meter
    .createObservableGauge(`${PREFIX}config_last_reload_successful`, {
      description: 'Whether the files of the configuration could be taken when they were last read',
    })
    .addCallback((result) => result.observe(isLastTaken ? 1 : 0));
  meter
    .createObservableGauge(`${PREFIX}config_loaded_timestamp_seconds`, {
      description: 'When the configuration in force was read',
      unit: 's',
    })
    .addCallback((result) => result.observe(loadedAtMs / MS_PER_S));
  return {
    begin: () => failures({}, 0),
    reloaded: (isTaken) => {
      isLastTaken = isTaken;
      if (isTaken) loadedAtMs = clock.now();
      else failures({});
    },
  };
}

function observeSessions(meter: Meter, read: () => Iterable<EgressSessionGauges>): void {
  const generation = meter.createObservableGauge(`${PREFIX}session_generation`, { description: 'Of the held session' });
  const expiry = meter.createObservableGauge(`${PREFIX}session_expiry_timestamp_seconds`, {
    description: 'When the held session expires',
    unit: 's',
  });
  const following = meter.createObservableGauge(`${PREFIX}following`, {
    description: 'Whether newer sessions come by themselves from the broker',
  });
  meter.addBatchObservableCallback(
    (result) => {
      for (const { merchant, ...session } of read()) {
        if (session.generation !== undefined) result.observe(generation, session.generation, { merchant });
        if (session.expiresAtMs !== undefined) result.observe(expiry, session.expiresAtMs / MS_PER_S, { merchant });
        result.observe(following, session.isFollowing ? 1 : 0, { merchant });
      }
    },
    [generation, expiry, following],
  );
}
