import type { Attributes } from '@opentelemetry/api';
import {
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import type { Exemplar, Exemplars } from './exemplars.js';
import { familyOf, nameOf, unitOf } from './prometheus-names.js';

/** The two text formats that Prometheus reads. */
export type Dialect = 'text' | 'openmetrics';

interface Writing {
  readonly dialect: Dialect;
  /** Absent if there is no tracing. */
  readonly exemplars?: Exemplars | undefined;
}

type Type = 'counter' | 'gauge' | 'histogram';

/** The collected metrics in Prometheus format. Only OpenMetrics has exemplars; the older text has none. */
export function exposition({ scopeMetrics }: Pick<ResourceMetrics, 'scopeMetrics'>, writing: Writing): string {
  const lines: string[] = [];
  const families = Map.groupBy(
    scopeMetrics.flatMap(({ metrics }) => metrics).filter(({ dataPoints }) => dataPoints.length > 0),
    ({ descriptor }) => familyOf(descriptor),
  );
  for (const [family, metrics] of families) writeFamily(lines, { family, metrics, writing });
  if (writing.dialect === 'openmetrics') lines.push('# EOF');
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

interface Family {
  readonly family: string;
  readonly metrics: readonly MetricData[];
  readonly writing: Writing;
}

function writeFamily(lines: string[], { family, metrics, writing }: Family): void {
  const [first] = metrics;
  if (first === undefined) return;
  const type = typeOf(first);
  const sample = type === 'counter' ? `${family}_total` : family;
  describe(lines, { first, type, family, sample, dialect: writing.dialect });
  for (const metric of metrics) {
    if (metric.dataPointType === DataPointType.HISTOGRAM) {
      const { name } = metric.descriptor;
      for (const point of metric.dataPoints) {
        writeHistogram(lines, point, { family, exemplars: exemplarsOf(writing, name, point.attributes) });
      }
    } else if (metric.dataPointType !== DataPointType.EXPONENTIAL_HISTOGRAM) {
      for (const { attributes, value } of metric.dataPoints) {
        lines.push(`${sample}${braced(labelsOf(attributes))} ${numberOf(value)}`);
      }
    }
  }
}

interface Described {
  readonly first: MetricData;
  readonly type: Type;
  readonly family: string;
  readonly sample: string;
  readonly dialect: Dialect;
}

/** OpenMetrics names a counter without its `_total` and knows units; the older text uses the names of the samples. */
function describe(lines: string[], { first, type, family, sample, dialect }: Described): void {
  const { description, unit } = first.descriptor;
  const named = dialect === 'openmetrics' ? family : sample;
  const help = escaped(description);
  lines.push(`# HELP ${named} ${dialect === 'openmetrics' ? help.replaceAll('"', '\\"') : help}`);
  lines.push(`# TYPE ${named} ${type}`);
  const written = unitOf(unit);
  if (dialect === 'openmetrics' && written !== undefined) lines.push(`# UNIT ${named} ${written}`);
}

function typeOf(metric: MetricData): Type {
  if (metric.dataPointType === DataPointType.SUM) return metric.isMonotonic ? 'counter' : 'gauge';
  return metric.dataPointType === DataPointType.GAUGE ? 'gauge' : 'histogram';
}

interface Buckets {
  readonly family: string;
  readonly exemplars: readonly (Exemplar | undefined)[];
}

function writeHistogram(
  lines: string[],
  { attributes, value: { buckets, count, sum } }: DataPoint<Histogram>,
  { family, exemplars }: Buckets,
): void {
  const labels = labelsOf(attributes);
  const before = labels === '' ? '' : `${labels},`;
  let soFar = 0;
  for (const [index, inBucket] of buckets.counts.entries()) {
    soFar += inBucket;
    const bound = buckets.boundaries[index];
    lines.push(`${family}_bucket{${before}le="${boundOf(bound)}"} ${soFar}${noted(exemplars[index])}`);
  }
  lines.push(`${family}_sum${braced(labels)} ${numberOf(sum ?? 0)}`, `${family}_count${braced(labels)} ${count}`);
}

function exemplarsOf(
  { dialect, exemplars }: Writing,
  name: string,
  attributes: Attributes,
): readonly (Exemplar | undefined)[] {
  return dialect === 'openmetrics' ? (exemplars?.of(name, attributes) ?? []) : [];
}

function noted(exemplar: Exemplar | undefined): string {
  if (exemplar === undefined) return '';
  const { traceId, spanId, value, seconds } = exemplar;
  return ` # {trace_id="${traceId}",span_id="${spanId}"} ${value} ${seconds}`;
}

/** Written the same way in both texts: a different spelling of a bound is a different series. */
function boundOf(bound: number | undefined): string {
  if (bound === undefined) return '+Inf';
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

function numberOf(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}

function labelsOf(attributes: Attributes): string {
  let labels = '';
  for (const [name, value] of Object.entries(attributes)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    labels += `${labels === '' ? '' : ','}${nameOf(name)}="${escaped(text).replaceAll('"', '\\"')}"`;
  }
  return labels;
}

function braced(labels: string): string {
  return labels === '' ? '' : `{${labels}}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
