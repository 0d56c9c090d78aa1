import type { Meter } from '@opentelemetry/api';

/** Connections ended or refused because of a bound since the start. */
export interface CountedConnectionEnd {
  readonly port: string;
  readonly reason: string;
  readonly count: number;
}

interface Observed<Item> {
  /** Prefix of the program's metric names. */
  readonly prefix: string;
  /** Called at each scrape. */
  readonly read: () => Iterable<Item>;
}

/** A certificate in use. */
export interface CertificateEndGauge {
  /** The setting that names its file. */
  readonly setting: string;
  readonly endsAtMs: number;
}

/** When each certificate in use ends, the same for each program. To be called once. */
export function observeCertificates(meter: Meter, { prefix, read }: Observed<CertificateEndGauge>): void {
  meter
    .createObservableGauge(`${prefix}certificate_expiry_timestamp_seconds`, {
      description: 'When a certificate in use ends, by the setting that names its file',
      unit: 's',
    })
    .addCallback((result) => {
      for (const { setting, endsAtMs } of read()) result.observe(endsAtMs / 1_000, { setting });
    });
}

/** The same counter for each program that accepts connections. To be called once. */
export function observeConnectionEnds(meter: Meter, { prefix, read }: Observed<CountedConnectionEnd>): void {
  meter
    .createObservableCounter(`${prefix}ended_connections`, {
      description: 'Connections that were ended or refused at a bound, by port and reason',
    })
    .addCallback((result) => {
      for (const { port, reason, count } of read()) result.observe(count, { port, reason });
    });
}
