import type { Clock } from '#libs/clock';
import { RateLimiter } from './rate-limiter.js';

const CONNECTION_ENDS = ['all', 'address', 'unread', 'pipelined'] as const;

/**
 * Why a connection was ended or refused: too many in total, too many from one address, answers that nobody reads, or
 * requests sent in advance that would fill the memory.
 */
export type ConnectionEnd = (typeof CONNECTION_ENDS)[number];

/** The port for callers, and the one for those who operate the program. */
const PORTS = ['api', 'management'] as const;
type Port = (typeof PORTS)[number];

/** A flood of connections must not become a flood of lines: one a minute for each port. */
const REPORTS = { perSecond: 1 / 60, burst: 1 };

/** The reason of the latest one, and how many since the previous report. */
type Report = (facts: { readonly port: Port; readonly reason: ConnectionEnd; readonly connections: number }) => void;

/** Connections of a program that were ended because of a bound: counted by port and reason, and reported. */
export class EndedConnections {
  /** Since the start, from zero. */
  readonly counts = PORTS.flatMap((port) => CONNECTION_ENDS.map((reason) => ({ port, reason, count: 0 })));
  readonly #reports: RateLimiter;
  readonly #report: Report;

  constructor(clock: Clock, report: Report) {
    this.#reports = new RateLimiter(REPORTS, clock);
    this.#report = report;
  }

  /** @returns counts one of this port */
  of(port: Port): (reason: ConnectionEnd) => void {
    let unreported = 0;
    return (reason) => {
      for (const counted of this.counts) if (counted.port === port && counted.reason === reason) counted.count += 1;
      unreported += 1;
      if (this.#reports.take(port) > 0) return;
      this.#report({ port, reason, connections: unreported });
      unreported = 0;
    };
  }
}
