import { diag, DiagLogLevel, metrics, type Meter } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { RuntimeNodeInstrumentation } from '@opentelemetry/instrumentation-runtime-node';
import { NodeSDK } from '@opentelemetry/sdk-node';
import type { Logger } from './logger.js';

export interface Telemetry {
  readonly meter: Meter;
  /** Answers a scrape: Prometheus text with everything that has been counted. */
  scrape(...exchange: Parameters<PrometheusExporter['getMetricsRequestHandler']>): void;
  /** Flushes and ends exporters. */
  shutdown(): Promise<void>;
}

export interface TelemetryOptions {
  /** `service.name` of everything that is exported. */
  readonly serviceName: string;
  readonly serviceVersion: string;
  readonly logger: Logger;
}

const METER = 'session-broker';

/**
 * Starts OpenTelemetry: metrics for a scrape, and what the standard OTEL_* variables ask for besides. To be called
 * before anything that it observes is loaded. Nothing leaves the process by default but the answer to a scrape.
 */
export function startTelemetry(options: TelemetryOptions): Telemetry {
  diag.setLogger(diagnosticsTo(options.logger), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  // Without a server of its own: the management port serves it. The resource would show pid, owner and command line.
  const prometheus = new PrometheusExporter({
    preventServerStart: true,
    withoutTargetInfo: true,
    withoutScopeInfo: true,
  });
  const sdk = new NodeSDK({
    serviceName: options.serviceName,
    autoDetectResources: false,
    metricReaders: [prometheus],
    spanProcessors: [],
    logRecordProcessors: [],
    instrumentations: [new RuntimeNodeInstrumentation()],
  });
  sdk.start();
  return {
    meter: metrics.getMeter(METER, options.serviceVersion),
    scrape: (...exchange) => prometheus.getMetricsRequestHandler(...exchange),
    shutdown: () => sdk.shutdown(),
  };
}

/** The library's own complaints, through our logger and its redaction. */
function diagnosticsTo(logger: Logger): Parameters<typeof diag.setLogger>[0] {
  const at =
    (level: 'debug' | 'warn' | 'error') =>
    (message: string): void =>
      logger[level]({ library: 'opentelemetry' }, message);
  return { verbose: at('debug'), debug: at('debug'), info: at('debug'), warn: at('warn'), error: at('error') };
}
