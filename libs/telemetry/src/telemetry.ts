import { diag, DiagLogLevel, type Meter, metrics, trace, type Tracer } from '@opentelemetry/api';
import { envDetector, serviceInstanceIdDetector } from '@opentelemetry/resources';
import { MeterProvider, type MetricReader, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { type Clock, Deadline, SystemClock } from '#libs/clock';
import { Complaints } from './complaints.js';
import { CurrentOtlpExporter } from './current-gauges.js';
import { Exemplars } from './exemplars.js';
import { exportsOf, type TelemetryEnvironment } from './exports.js';
import type { Logger } from './logger.js';
import { observeProcess } from './process-metrics.js';
import { createRequestDurations, type ServedRequest } from './request-durations.js';
import { createRenewalTracing, type RenewalTracing } from './renewal-tracing.js';
import { type RequestSpan, startRequestSpan, type TracedRequest } from './request-spans.js';
import { ScrapeReader, type ScrapeRequest, type ScrapeResponse } from './scrape-reader.js';

/** What is recorded of requests and renewals; absent if traces are not exported. */
interface Traces {
  readonly renewals: RenewalTracing;
  startRequest(request: TracedRequest): RequestSpan;
}

export interface Telemetry {
  readonly meter: Meter;
  readonly traces?: Traces;
  /** Where measurements are kept with their traces; absent if traces are not exported. */
  readonly exemplars?: Exemplars;
  /** Records how long a request took, in seconds. */
  readonly requestSeconds: (seconds: number, request: ServedRequest) => void;
  /** Answers a scrape with everything that has been counted, in the format that it asks for. */
  readonly scrape: (request: ScrapeRequest, response: ScrapeResponse) => void;
  /** Flushes and ends exporters within a bounded time: a collector that does not answer holds nobody up. */
  shutdown(): Promise<void>;
}

interface TelemetryOptions {
  /** `service.name` of everything that is exported, unless OTEL_SERVICE_NAME is set. */
  readonly serviceName: string;
  readonly serviceVersion: string;
  readonly logger: Logger;
  /** The source of the OTEL_* variables; the library itself reads those of the process. */
  readonly environment?: TelemetryEnvironment;
  readonly clock?: Clock;
}

const SCOPE = 'session-broker';
/** Per metric: enough for the largest number of merchants with separate series, with a few labels each. */
const MAX_SERIES = 1_000_000;
// The library's own bound is 2 000 per metric: five hundred merchants with a few outcomes each exceed it.
const views = ['session_broker_*', 'session_egress_*'].map((instrumentName) => ({
  instrumentName,
  aggregationCardinalityLimit: MAX_SERIES,
}));
const MAX_FLUSH_MS = 3_000;
/** Defaults of the standard. */
const DEFAULT_PUSH_INTERVAL_MS = 60_000;
const DEFAULT_PUSH_TIMEOUT_MS = 30_000;

/**
 * Starts OpenTelemetry: metrics for a scrape, and whatever else the standard OTEL_* variables ask for. To be called
 * before anything that it observes is loaded. By default, nothing leaves the process except the answer to a scrape.
 */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { serviceVersion, logger, environment = {}, clock = new SystemClock() } = options;
  const exports = exportsOf(environment);
  const exemplars = exports.traces ? new Exemplars(clock) : undefined;
  const scrapes = new ScrapeReader(exemplars);
  const complaints = new Complaints(logger, clock);
  diag.setLogger(diagnosticsTo(complaints), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const sdk = await startSdk(options, [scrapes, ...(exports.metrics ? [pushingReader(environment)] : [])]);
  const meter = metrics.getMeter(SCOPE, serviceVersion);
  tellBuild(meter, serviceVersion);
  const observed = observeProcess(meter, clock);
  return {
    meter,
    requestSeconds: createRequestDurations(meter),
    ...(exemplars === undefined ? {} : { exemplars, traces: tracesOf(trace.getTracer(SCOPE, serviceVersion)) }),
    scrape: (request, response) => void scrapes.answer(request, response),
    shutdown: () => {
      observed.end();
      return within(clock, sdk.shutdown(), complaints);
    },
  };
}

/**
 * The library's whole SDK includes every exporter, for 5 MiB. It is loaded only if something is exported, or if its own
 * variable may switch it off.
 */
async function startSdk(
  { serviceName, environment = {} }: TelemetryOptions,
  metricReaders: MetricReader[],
): Promise<{ shutdown(): Promise<void> }> {
  const exports = exportsOf(environment);
  if (!exports.traces && !exports.metrics && environment['OTEL_SDK_DISABLED'] === undefined) {
    const provider = new MeterProvider({ readers: metricReaders, views });
    metrics.setGlobalMeterProvider(provider);
    return provider;
  }
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const sdk = new NodeSDK({
    serviceName: environment['OTEL_SERVICE_NAME'] ?? serviceName,
    resourceDetectors: [envDetector, serviceInstanceIdDetector],
    metricReaders,
    ...(exports.traces ? {} : { spanProcessors: [] }),
    logRecordProcessors: [],
    views,
  });
  sdk.start();
  return sdk;
}

/** The running version: constantly one, with the information in its labels. */
function tellBuild(meter: Meter, version: string): void {
  meter
    .createObservableGauge('session_broker_build_info', { description: 'What runs' })
    .addCallback((result) => result.observe(1, { version, node: process.version }));
}

/** The library reads interval and timeout only for readers that it creates itself. */
function pushingReader(environment: TelemetryEnvironment): PeriodicExportingMetricReader {
  const intervalMs = positive(environment['OTEL_METRIC_EXPORT_INTERVAL']) ?? DEFAULT_PUSH_INTERVAL_MS;
  const timeoutMs = positive(environment['OTEL_METRIC_EXPORT_TIMEOUT']) ?? DEFAULT_PUSH_TIMEOUT_MS;
  return new PeriodicExportingMetricReader({
    exporter: new CurrentOtlpExporter(),
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: Math.min(timeoutMs, intervalMs),
  });
}

function positive(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,8}$/.test(text.trim()) ? Number(text) : undefined;
}

function tracesOf(tracer: Tracer): Traces {
  return {
    renewals: createRenewalTracing(tracer),
    startRequest: (request) => startRequestSpan(tracer, request),
  };
}

/** What could not be flushed is lost, and this is logged: telemetry is never a reason for a process not to end. */
async function within(clock: Clock, flush: Promise<void>, complaints: Complaints): Promise<void> {
  const deadline = new Deadline(clock, MAX_FLUSH_MS);
  const ended = new Promise<'late'>((resolve) => deadline.signal.addEventListener('abort', () => resolve('late')));
  try {
    if ((await Promise.race([flush, ended])) === 'late') complaints.say('warn', 'the last telemetry was not delivered');
  } catch (error) {
    complaints.say('warn', `the last telemetry was not delivered: ${error instanceof Error ? error.name : 'unknown'}`);
  } finally {
    deadline.close();
  }
}

function diagnosticsTo(complaints: Complaints): Parameters<typeof diag.setLogger>[0] {
  const at =
    (level: 'debug' | 'warn' | 'error') =>
    (message: string): void =>
      complaints.say(level, message);
  return { verbose: at('debug'), debug: at('debug'), info: at('debug'), warn: at('warn'), error: at('error') };
}
