import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { AggregationTemporality, InstrumentType } from '@opentelemetry/sdk-metrics';

/**
 * A gauge shows the current state. The library remembers every series of a cumulative gauge, so a removed merchant
 * would be shown with its last session forever, and an alert would call for a session that nobody wants. With delta
 * temporality, the library reports only what this collection has seen.
 */
export function isGauge(type: InstrumentType): boolean {
  return type === InstrumentType.OBSERVABLE_GAUGE || type === InstrumentType.GAUGE;
}

/** Pushes the gauges as they are now. */
export class CurrentOtlpExporter extends OTLPMetricExporter {
  override selectAggregationTemporality(type: InstrumentType): AggregationTemporality {
    return isGauge(type) ? AggregationTemporality.DELTA : super.selectAggregationTemporality(type);
  }
}
