import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { AggregationTemporality, InstrumentType } from '@opentelemetry/sdk-metrics';

/**
 * A gauge says what is. The library remembers every series of a cumulative one, so that a merchant that was removed
 * would be shown with its last session for ever, and an alert would call for a session that nobody wants. Told that
 * gauges are deltas, it reports what this collection has seen.
 */
const isGauge = (type: InstrumentType): boolean =>
  type === InstrumentType.OBSERVABLE_GAUGE || type === InstrumentType.GAUGE;

/** Answers a scrape with the gauges of this moment. */
export class CurrentPrometheusExporter extends PrometheusExporter {
  override selectAggregationTemporality(type: InstrumentType): AggregationTemporality {
    return isGauge(type) ? AggregationTemporality.DELTA : super.selectAggregationTemporality(type);
  }
}

/** Pushes the gauges of this moment. */
export class CurrentOtlpExporter extends OTLPMetricExporter {
  override selectAggregationTemporality(type: InstrumentType): AggregationTemporality {
    return isGauge(type) ? AggregationTemporality.DELTA : super.selectAggregationTemporality(type);
  }
}
