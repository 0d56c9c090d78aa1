import type { Clock } from '#libs/clock';

/**
 * Why a connection was ended or refused: too many in total, too many from one address, answers that nobody reads, or
 * requests sent in advance that would fill the memory.
 */
export type ConnectionEnd = 'all' | 'address' | 'unread' | 'pipelined';

const CONNECTION_ENDS: readonly ConnectionEnd[] = ['all', 'address', 'unread', 'pipelined'];

/** A flood of connections must not become a flood of lines. */
const MIN_REPORT_MS = 60_000;

/** The port for callers, and the one for those who operate the program. */
export type Port = 'api' | 'management';

/** Connections ended or refused because of a bound since the start. */
export interface CountedEnd {
  readonly port: Port;
  readonly reason: ConnectionEnd;
  readonly count: number;
}

interface EndFacts {
  readonly port: Port;
  /** The reason of the latest one. */
  readonly reason: ConnectionEnd;
  /** How many since the previous report. */
  readonly connections: number;
}

/** Called at most once a minute per port. */
export type EndReport = (facts: EndFacts) => void;

/** Connections of one port that were ended because of a bound, by reason: counted from zero. */
export class EndedConnections {
  readonly #counts = new Map<ConnectionEnd, number>(CONNECTION_ENDS.map((reason) => [reason, 0]));
  readonly #clock: Clock;
  readonly #report: (facts: Omit<EndFacts, 'port'>) => void;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  #unreported = 0;

  constructor(clock: Clock, report: (facts: Omit<EndFacts, 'port'>) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  count(reason: ConnectionEnd): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
    this.#unreported += 1;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#reportedAtMs < MIN_REPORT_MS) return;
    this.#reportedAtMs = nowMs;
    this.#report({ reason, connections: this.#unreported });
    this.#unreported = 0;
  }

  all(): Iterable<readonly [reason: ConnectionEnd, count: number]> {
    return this.#counts;
  }
}

/** The same for both ports of a program. */
export class EndsOfPorts {
  readonly api: EndedConnections;
  readonly management: EndedConnections;

  constructor(clock: Clock, report: EndReport) {
    this.api = new EndedConnections(clock, (facts) => report({ port: 'api', ...facts }));
    this.management = new EndedConnections(clock, (facts) => report({ port: 'management', ...facts }));
  }

  *all(): Iterable<CountedEnd> {
    for (const port of ['api', 'management'] as const) {
      for (const [reason, count] of this[port].all()) yield { port, reason, count };
    }
  }
}
