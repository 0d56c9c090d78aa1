const CONNECTION_ENDS = ['all', 'address', 'unread', 'pipelined'] as const;

/**
 * Why a connection was ended or refused: too many in total, too many from one address, answers that nobody reads, or
 * requests sent in advance that would fill the memory.
 */
export type ConnectionEnd = (typeof CONNECTION_ENDS)[number];

/** The port for callers, and the one for those who operate the program. */
const PORTS = ['api', 'management'] as const;

/** Connections of a program that were ended because of a bound, counted by port and reason. */
export class EndedConnections {
  /** Since the start, from zero. */
  readonly counts = PORTS.flatMap((port) => CONNECTION_ENDS.map((reason) => ({ port, reason, count: 0 })));

  /** @returns counts one of this port */
  of(port: (typeof PORTS)[number]): (reason: ConnectionEnd) => void {
    return (reason) => {
      for (const counted of this.counts) if (counted.port === port && counted.reason === reason) counted.count += 1;
    };
  }
}
