import { type Attributes, context, type SpanContext, trace, TraceFlags } from '@opentelemetry/api';
import type { Clock } from '#libs/clock';

/** One measurement, with the trace in which it was made. */
export interface Exemplar {
  readonly traceId: string;
  readonly spanId: string;
  readonly value: number;
  readonly seconds: number;
}

const MS_PER_S = 1_000;

const activeSpan = (): SpanContext | undefined => trace.getSpanContext(context.active());

/**
 * The last measurement in each bucket that was made within a recorded trace, because the library's metrics keep none.
 * There is at most one for each bucket of each series.
 */
export class Exemplars {
  readonly #clock: Clock;
  readonly #span: () => SpanContext | undefined;
  readonly #bySeries = new Map<string, (Exemplar | undefined)[]>();

  /** @param span the one in which a measurement is made */
  constructor(clock: Clock, span = activeSpan) {
    this.#clock = clock;
    this.#span = span;
  }

  /** Remembers a measurement if a trace is being recorded. */
  note(name: string, measured: { value: number; attributes: Attributes; boundaries: readonly number[] }): void {
    const { value, attributes, boundaries } = measured;
    const span = this.#span();
    if (span === undefined || (span.traceFlags & TraceFlags.SAMPLED) === 0) return;
    const series = seriesOf(name, attributes);
    const buckets = this.#bySeries.get(series) ?? [];
    const within = boundaries.findIndex((boundary) => value <= boundary);
    buckets[within === -1 ? boundaries.length : within] = {
      traceId: span.traceId,
      spanId: span.spanId,
      value,
      seconds: this.#clock.now() / MS_PER_S,
    };
    this.#bySeries.set(series, buckets);
  }

  /** By bucket, with gaps. */
  of(name: string, attributes: Attributes): readonly (Exemplar | undefined)[] {
    return this.#bySeries.get(seriesOf(name, attributes)) ?? [];
  }
}

function seriesOf(name: string, attributes: Attributes): string {
  const labels = Object.entries(attributes).sort(([one], [other]) => (one < other ? -1 : 1));
  return `${name} ${JSON.stringify(labels)}`;
}
