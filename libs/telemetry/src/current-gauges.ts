import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { AggregationTemporality, InstrumentType } from '@opentelemetry/sdk-metrics';

/**
 * A gauge says what is. The library remembers every series of a cumulative one, so that a merchant that was removed
 * would be shown with its last session for ever, and an alert would call for a session that nobody wants. Told that
 * gauges are deltas, it reports what this collection has seen.
 */
export function isGauge(type: InstrumentType): boolean {
  return type === InstrumentType.OBSERVABLE_GAUGE || type === InstrumentType.GAUGE;
}

/** Pushes the gauges of this moment. */
export class CurrentOtlpExporter extends OTLPMetricExporter {
  override selectAggregationTemporality(type: InstrumentType): AggregationTemporality {
    return isGauge(type) ? AggregationTemporality.DELTA : super.selectAggregationTemporality(type);
  }
}
