import type { Clock } from '#libs/clock';

const CONNECTION_ENDS = ['all', 'address', 'unread', 'pipelined'] as const;

/**
 * Why a connection was ended or refused: too many in total, too many from one address, answers that nobody reads, or
 * requests sent in advance that would fill the memory.
 */
export type ConnectionEnd = (typeof CONNECTION_ENDS)[number];

/** The port for callers, and the one for those who operate the program. */
const PORTS = ['api', 'management'] as const;

/** Connections ended or refused because of a bound since the start. */
export interface CountedEnd {
  readonly port: (typeof PORTS)[number];
  readonly reason: ConnectionEnd;
  readonly count: number;
}

/** A flood of connections must not become a flood of lines. */
const MIN_REPORT_MS = 60_000;

/** The reason of the latest one, and how many since the previous report. */
type EndReport = (facts: { readonly reason: ConnectionEnd; readonly connections: number }) => void;

/** Connections of one port that were ended because of a bound: counted by reason, and reported once a minute. */
export class EndedConnections {
  readonly counts = new Map<ConnectionEnd, number>(CONNECTION_ENDS.map((reason) => [reason, 0]));
  readonly #clock: Clock;
  readonly #report: EndReport;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  #unreported = 0;

  constructor(clock: Clock, report: EndReport) {
    this.#clock = clock;
    this.#report = report;
  }

  count(reason: ConnectionEnd): void {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
    this.#unreported += 1;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#reportedAtMs < MIN_REPORT_MS) return;
    this.#reportedAtMs = nowMs;
    this.#report({ reason, connections: this.#unreported });
    this.#unreported = 0;
  }
}

/** The same for both ports of a program. */
export class EndsOfPorts {
  readonly api: EndedConnections;
  readonly management: EndedConnections;

  constructor(clock: Clock, report: (facts: Parameters<EndReport>[0] & Pick<CountedEnd, 'port'>) => void) {
    this.api = new EndedConnections(clock, (facts) => report({ port: 'api', ...facts }));
    this.management = new EndedConnections(clock, (facts) => report({ port: 'management', ...facts }));
  }

  all(): CountedEnd[] {
    return PORTS.flatMap((port) => [...this[port].counts].map(([reason, count]) => ({ port, reason, count })));
  }
}
