import type { Meter } from '@opentelemetry/api';

/** Connections that a bound has ended or refused since the start. */
export interface CountedConnectionEnd {
  readonly port: string;
  readonly reason: string;
  readonly count: number;
}

interface CountedEnds {
  /** Of the names of the program's metrics. */
  readonly prefix: string;
  /** Asked at each scrape. */
  readonly read: () => Iterable<CountedConnectionEnd>;
}

/** The same counter for each program that takes connections. To be called once. */
export function observeConnectionEnds(meter: Meter, { prefix, read }: CountedEnds): void {
  meter
    .createObservableCounter(`${prefix}ended_connections`, {
      description: 'Connections that were ended or refused at a bound, by port and reason',
    })
    .addCallback((result) => {
      for (const { port, reason, count } of read()) result.observe(count, { port, reason });
    });
}
