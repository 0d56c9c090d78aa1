import type { Meter } from '@opentelemetry/api';

/** Connections ended or refused because of a bound since the start. */
export interface CountedConnectionEnd {
  readonly port: string;
  readonly reason: string;
  readonly count: number;
}

interface CountedEnds {
  /** Prefix of the program's metric names. */
  readonly prefix: string;
  /** Called at each scrape. */
  readonly read: () => Iterable<CountedConnectionEnd>;
}

/** The same counter for each program that accepts connections. To be called once. */
export function observeConnectionEnds(meter: Meter, { prefix, read }: CountedEnds): void {
  meter
    .createObservableCounter(`${prefix}ended_connections`, {
      description: 'Connections that were ended or refused at a bound, by port and reason',
    })
    .addCallback((result) => {
      for (const { port, reason, count } of read()) result.observe(count, { port, reason });
    });
}
