import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Meter, MetricOptions, SpanContext } from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { instantFromEpochMs, nextTurn, SystemClock, VirtualClock } from '#libs/clock';
import { Exemplars } from './exemplars.js';
import { createInstruments, type GaugeSource } from './instruments.js';
import { ScrapeReader } from './scrape-reader.js';
import { createLogger } from './logger.js';
import { startTelemetry, type Telemetry } from './telemetry.js';
import { createEgressInstruments } from './egress-instruments.js';
import { observeProcess } from './process-metrics.js';
import { familyOf } from './prometheus-names.js';
import { createRequestDurations } from './request-durations.js';

const OPENMETRICS = { accept: 'application/openmetrics-text; version=1.0.0' };

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: Buffer;
}

async function ask(reader: ScrapeReader, headers: Record<string, string> = {}): Promise<Answer> {
  let head: Omit<Answer, 'body'> = { status: 0, headers: {} };
  let body = Buffer.alloc(0);
  await reader.answer(
    { headers },
    {
      writeHead: (status, sent) => (head = { status, headers: sent }),
      end: (sent = '') => (body = Buffer.from(sent)),
    },
  );
  return { ...head, body };
}

async function linesOf(reader: ScrapeReader, headers: Record<string, string> = {}): Promise<string[]> {
  return (await ask(reader, headers)).body.toString().split('\n');
}

describe('a scrape', () => {
  let reader: ScrapeReader;
  let meter: Meter;

  beforeEach(() => {
    reader = new ScrapeReader();
    meter = new MeterProvider({ readers: [reader] }).getMeter('a');
    const counter = meter.createCounter('requests', { description: 'Of "clients",\nall of them' });
    counter.add(2, { 'http.route': 'a"b\\c\nd', status: 200 });
    meter.createHistogram('http.wait', { unit: 's', advice: { explicitBucketBoundaries: [0.5, 1] } }).record(0.75);
    meter.createObservableGauge('memory_bytes', { unit: 'By' }).addCallback((result) => result.observe(7));
  });

  it('is the older text by default, with its version and charset', async () => {
    const { status, headers, body } = await ask(reader);
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(headers).toMatchObject({ vary: 'accept, accept-encoding', 'content-length': body.byteLength });
    expect(body.toString()).toBe(
      [
        '# HELP requests_total Of "clients",\\nall of them',
        '# TYPE requests_total counter',
        'requests_total{http_route="a\\"b\\\\c\\nd",status="200"} 2',
        '# HELP http_wait_seconds ',
        '# TYPE http_wait_seconds histogram',
        'http_wait_seconds_bucket{le="0.5"} 0',
        'http_wait_seconds_bucket{le="1.0"} 1',
        'http_wait_seconds_bucket{le="+Inf"} 1',
        'http_wait_seconds_sum 0.75',
        'http_wait_seconds_count 1',
        '# HELP memory_bytes ',
        '# TYPE memory_bytes gauge',
        'memory_bytes 7',
        '',
      ].join('\n'),
    );
  });

  it('is OpenMetrics when it is asked for: counters are described without _total, units are told, and it has an end', async () => {
    const { headers, body } = await ask(reader, OPENMETRICS);
    expect(headers['content-type']).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    const lines = body.toString().split('\n');
    expect(lines.slice(0, 3)).toEqual([
      '# HELP requests Of \\"clients\\",\\nall of them',
      '# TYPE requests counter',
      'requests_total{http_route="a\\"b\\\\c\\nd",status="200"} 2',
    ]);
    expect(lines).toContain('# UNIT http_wait_seconds seconds');
    expect(lines).toContain('# UNIT memory_bytes bytes');
    expect(lines.slice(-2)).toEqual(['# EOF', '']);
  });

  it('is compressed when that is asked for', async () => {
    const plain = (await ask(reader)).body;
    const { headers, body } = await ask(reader, { 'accept-encoding': 'gzip' });
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', 'content-length': body.byteLength });
    expect(gunzipSync(body).toString()).toBe(plain.toString());
  });

  it('shows no gauge of what is gone', async () => {
    let isThere = true;
    meter.createObservableGauge('seen').addCallback((result) => (isThere ? result.observe(1) : undefined));
    expect(await linesOf(reader)).toContain('seen 1');
    isThere = false;
    expect((await linesOf(reader)).filter((line) => line.includes('seen'))).toEqual([]);
  });

  it('is empty while telemetry is switched off, and an error when nothing can be collected any more', async () => {
    expect(await linesOf(new ScrapeReader(), OPENMETRICS)).toEqual(['# EOF', '']);
    await reader.shutdown();
    expect((await ask(reader)).status).toBe(500);
  });
});

describe('an exemplar', () => {
  const span = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 };
  let active: SpanContext | undefined;
  let reader: ScrapeReader;
  let exemplars: Exemplars;
  let meter: Meter;

  beforeEach(() => {
    exemplars = new Exemplars(new VirtualClock(instantFromEpochMs(1_000)), () => active);
    reader = new ScrapeReader(exemplars);
    meter = new MeterProvider({ readers: [reader] }).getMeter('a');
  });

  it('stands on the bucket of a renewal, with its trace, its value and its time, only in OpenMetrics and of a recorded trace', async () => {
    const renewWithin = (traceFlags: number, seconds: number): void => {
      active = { ...span, traceFlags };
      createInstruments(meter, exemplars).renewalSeconds(seconds, { merchant: 'shop' });
    };
    renewWithin(0, 0.03);
    renewWithin(1, 90);
    const exemplar = `# {trace_id="${span.traceId}",span_id="${span.spanId}"} 90 1`;
    const noted = (await linesOf(reader, OPENMETRICS)).filter((line) => line.includes(' # '));
    expect(noted).toEqual([`session_broker_renewal_duration_seconds_bucket{merchant="shop",le="+Inf"} 2 ${exemplar}`]);
    expect((await linesOf(reader)).join('\n')).not.toContain(' # {');
  });
});

async function scraped({ scrape }: Telemetry): Promise<string> {
  return new Promise((resolve) =>
    scrape({ headers: {} }, { writeHead: () => undefined, end: (body) => resolve(String(body)) }),
  );
}

describe('the metrics of the process and of Node.js', () => {
  let telemetry: Telemetry;

  beforeAll(async () => {
    const logger = createLogger({ name: 'broker', level: 'error' });
    telemetry = await startTelemetry({ serviceName: 'session-broker', serviceVersion: '1', logger });
  });
  afterAll(() => telemetry.shutdown());

  const valueOf = async (series: string): Promise<number> => {
    const line = (await scraped(telemetry)).split('\n').find((each) => each.startsWith(`${series} `));
    return Number(line?.slice(series.length + 1));
  };

  it('tell what the process uses', async () => {
    await nextTurn();
    await nextTurn();
    expect(await valueOf('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
    const used = process.cpuUsage();
    expect(await valueOf('process_cpu_seconds_total')).toBeGreaterThanOrEqual((used.user + used.system) / 1_000_000);
    expect(await valueOf('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    expect(await valueOf('process_start_time_seconds')).toBeGreaterThan(1_700_000_000);
    const open = readdirSync('/proc/self/fd').length;
    expect(Math.abs((await valueOf('process_open_fds')) - open)).toBeLessThan(20);
    expect(await valueOf('process_max_fds')).toBeGreaterThan(open);
    expect(await valueOf('nodejs_heap_size_used_bytes')).toBeGreaterThan(1_000_000);
  });
});

type Kind = 'counter' | 'gauge' | 'histogram';

interface Declared {
  readonly name: string;
  readonly unit: string;
  readonly kind: Kind;
}

/** A meter that records what is declared on it. */
function notedMeter(declared: Declared[]): Meter {
  const kindOf = (method: string): Kind =>
    /counter$/i.test(method) ? 'counter' : /gauge$/i.test(method) ? 'gauge' : 'histogram';
  return new Proxy(new MeterProvider().getMeter('a'), {
    get: (meter, method: keyof Meter) =>
      method.startsWith('create')
        ? (name: string, options: MetricOptions = {}) => {
            declared.push({ name, unit: options.unit ?? '', kind: kindOf(method) });
            return (meter[method] as Meter['createCounter']).call(meter, name, options);
          }
        : meter[method].bind(meter),
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
  observeProcess(meter, new SystemClock()).end();
});

const scrapedName = ({ kind, ...named }: Declared): string =>
  kind === 'counter' ? `${familyOf(named)}_total` : familyOf(named);

describe('the names of a scrape', () => {
  it('are those that Prometheus makes of what comes by OTLP', () => {
    expect(declared.length).toBeGreaterThan(50);
    expect(declared.map(scrapedName)).toEqual(declared.map(translated));
  });

  it('are all that alerts and dashboard ask for', () => {
    const asked = ['prometheus/rules/session-broker.yml', 'grafana/dashboards/session-broker.json'].flatMap(
      (file) =>
        readFileSync(`deploy/${file}`, 'utf8').match(
          /\b(?:session_(?:broker|egress)|http_server|nodejs|process)_\w+/g,
        ) ?? [],
    );
    expect(asked.length).toBeGreaterThan(50);
    // Of the program, not of what it does.
    const known = new Set([...declared.map(scrapedName), 'session_broker_build_info']);
    const names = asked.map((name) => name.replace(/_(?:bucket|count|sum)$/, ''));
    expect([...new Set(names)].filter((name) => !known.has(name))).toEqual([]);
  });
});
