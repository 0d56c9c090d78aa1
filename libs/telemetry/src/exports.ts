/** The environment, as far as it is read: the standard variables of OpenTelemetry. */
export type TelemetryEnvironment = Readonly<Record<string, string | undefined>>;

/** What leaves the process besides the answer to a scrape. */
interface Exports {
  readonly traces: boolean;
  readonly metrics: boolean;
}

type Signal = 'TRACES' | 'METRICS';

/**
 * Nothing is exported unless requested: by the exporter of a signal (`OTEL_TRACES_EXPORTER=otlp`) or, if that is
 * absent, by an endpoint. This differs from the standard, whose default is to export.
 */
export function exportsOf(environment: TelemetryEnvironment): Exports {
  if (environment['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return { traces: false, metrics: false };
  return { traces: isExported(environment, 'TRACES'), metrics: isExported(environment, 'METRICS') };
}

function isExported(environment: TelemetryEnvironment, signal: Signal): boolean {
  const exporters = environment[`OTEL_${signal}_EXPORTER`]?.trim();
  if (exporters !== undefined && exporters !== '') return exporters.split(',').some((name) => name.trim() === 'otlp');
  const endpoint = environment['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? environment[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
  return endpoint !== undefined && endpoint.trim() !== '';
}
