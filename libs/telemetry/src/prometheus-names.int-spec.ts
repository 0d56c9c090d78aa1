import type { Meter, MetricOptions } from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { SystemClock } from '#libs/clock';
import { createEgressInstruments } from './egress-instruments.js';
import { createInstruments, type GaugeSource } from './instruments.js';
import { observeProcess } from './process-metrics.js';
import { familyOf } from './prometheus-names.js';
import { createRequestDurations } from './request-durations.js';
import { observeRuntime } from './runtime-metrics.js';

type Kind = 'counter' | 'gauge' | 'histogram';

interface Declared {
  readonly name: string;
  readonly unit: string;
  readonly kind: Kind;
}

/** A meter that records what is declared on it. */
function notedMeter(declared: Declared[]): Meter {
  const meter = new MeterProvider().getMeter('a');
  const noted =
    <Made>(kind: Kind, create: (name: string, options?: MetricOptions) => Made) =>
    (name: string, options: MetricOptions = {}): Made => {
      declared.push({ name, unit: options.unit ?? '', kind });
      return create.call(meter, name, options);
    };
  return Object.assign(Object.create(meter) as Meter, {
    createCounter: noted('counter', meter.createCounter.bind(meter)),
    createObservableCounter: noted('counter', meter.createObservableCounter.bind(meter)),
    createObservableGauge: noted('gauge', meter.createObservableGauge.bind(meter)),
    createHistogram: noted('histogram', meter.createHistogram.bind(meter)),
    addBatchObservableCallback: meter.addBatchObservableCallback.bind(meter),
  });
}

/**
 * The name that Prometheus gives a metric received through OTLP, by the rules that OpenTelemetry publishes for both:
 * words of letters and digits, the unit after them unless it is one of them, `total` last for counters, `ratio` for a
 * gauge with unit 1.
 */
function translated({ name, unit, kind }: Declared): string {
  const units: Readonly<Record<string, string>> = { s: 'seconds', ms: 'milliseconds', By: 'bytes', '%': 'percent' };
  let words = name.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '');
  const written = units[unit];
  if (written !== undefined && !words.includes(written)) words.push(written);
  if (kind === 'counter') words = [...words.filter((word) => word !== 'total'), 'total'];
  if (kind === 'gauge' && unit === '1') words.push('ratio');
  return words.join('_');
}

const declared: Declared[] = [];

beforeAll(() => {
  const meter = notedMeter(declared);
  createInstruments(meter).observe({} as GaugeSource);
  createEgressInstruments(meter, new SystemClock()).observeSessions(() => []);
  createRequestDurations(meter);
  observeProcess(meter, new SystemClock());
  observeRuntime(meter).end();
});

const scraped = ({ kind, ...named }: Declared): string =>
  kind === 'counter' ? `${familyOf(named)}_total` : familyOf(named);

describe('the names of a scrape', () => {
  it('are those that Prometheus makes of what comes by OTLP', () => {
    expect(declared.length).toBeGreaterThan(60);
    expect(declared.map(scraped)).toEqual(declared.map(translated));
  });

  it('have their unit at the end, whichever spelling of the rules is in force', () => {
    const words = { s: 'seconds', By: 'bytes', '': '' } as const;
    for (const each of declared) {
      const unit = words[each.unit as keyof typeof words];
      expect([each.name, familyOf(each).endsWith(unit)]).toEqual([each.name, true]);
    }
  });

  it('name each metric once', () => {
    expect(new Set(declared.map(scraped)).size).toBe(declared.length);
  });

  it('have those of the process and of Node.js that dashboards ask for', () => {
    const names = declared.map(scraped);
    expect(names).toEqual(
      expect.arrayContaining([
        'process_cpu_seconds_total',
        'process_cpu_user_seconds_total',
        'process_cpu_system_seconds_total',
        'process_resident_memory_bytes',
        'process_start_time_seconds',
        'process_open_fds',
        'process_max_fds',
        'nodejs_eventloop_lag_seconds',
        'nodejs_eventloop_lag_p99_seconds',
        'nodejs_heap_size_total_bytes',
        'nodejs_heap_size_used_bytes',
        'nodejs_external_memory_bytes',
        'nodejs_heap_space_size_used_bytes',
        'nodejs_gc_duration_seconds',
        'nodejs_version_info',
        'nodejs_active_handles',
        'nodejs_active_handles_total',
        'nodejs_active_requests_total',
      ]),
    );
  });
});
