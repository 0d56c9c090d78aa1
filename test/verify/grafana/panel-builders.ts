import {
  BigValueColorMode,
  BigValueGraphMode,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
} from '@grafana/grafana-foundation-sdk/common';
import {
  FieldColorBuilder,
  FieldColorModeId,
  MappingType,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

/** The most lines a panel shows: with ten thousand merchants, the worst are what matters. */
export const TOP = 10;
export const HALF = 12;
export const THIRD = 8;
export const QUARTER = 6;
export const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
/** Selects from all our series. Where a series has no such label, as outside Kubernetes, "All" takes it as well. */
export const REPLICA = 'cluster=~"$cluster", namespace=~"$namespace"';
/** An alert for which there is no target, such as that all replicas are gone, has none of these labels. */
export const ALERTS =
  'ALERTS{cluster=~"$cluster|", namespace=~"$namespace|", merchant=~"$merchant|", alertname=~"Session(Broker|Egress).*"';
export const MERCHANT = `${REPLICA}, merchant=~"$merchant"`;
/** A merchant of one namespace is not that of another, whatever its name. */
export const BY_MERCHANT = 'cluster, namespace, merchant';
export const MERCHANT_LEGEND = '{{cluster}} {{namespace}} {{merchant}}';

export interface Series {
  readonly expr: string;
  readonly legend?: string;
  readonly instant?: boolean;
  readonly format?: 'table' | 'time_series';
}

export interface Text {
  readonly title: string;
  readonly description: string;
  readonly unit: string;
}

/** From which value on something is what. The first colour counts below all of them. */
export type Colours = readonly [below: string, ...steps: (readonly [from: number, colour: string])[]];

/** More than none, of a number that Prometheus may have extrapolated. */
const ANY = 1e-9;
export const NONE_IS_GREEN: Colours = ['green', [ANY, 'red']];
/** One in a thousand is too many. */
export const SHARE_REFUSED: Colours = ['green', [ANY, 'orange'], [0.001, 'red']];

/** A state timeline would draw a rainbow otherwise. */
export const BY_THRESHOLDS = new FieldColorBuilder().mode(FieldColorModeId.Thresholds);

export function thresholds([below, ...steps]: Colours): ThresholdsConfigBuilder {
  const all: Threshold[] = [{ value: null, color: below }, ...steps.map(([value, color]) => ({ value, color }))];
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(all);
}

/** The words of the values 0, 1, …; colours come from thresholds. */
export function words(...texts: readonly string[]): {
  type: MappingType.ValueToText;
  options: Record<string, { text: string; index: number }>;
} {
  const options = Object.fromEntries(texts.map((text, index) => [String(index), { text, index }]));
  return { type: MappingType.ValueToText, options };
}

/** A query to the selected data source, drawn over time unless only the current value is asked for. */
export function query({ expr, legend = '', instant = false, format }: Series): DataqueryBuilder {
  const built = new DataqueryBuilder().expr(expr).legendFormat(legend).datasource(DATASOURCE);
  if (format !== undefined) built.format(format as never);
  return instant ? built.instant() : built.range();
}

/** A panel of lines that starts at zero. */
export function lines(
  { title, description, unit }: Text,
  span: number,
  ...series: readonly Series[]
): TimeseriesBuilder {
  const panel = new TimeseriesBuilder().title(title).description(description).unit(unit).span(span).height(8);
  panel.datasource(DATASOURCE).min(0);
  for (const each of series) panel.withTarget(query(each));
  return panel;
}

/** Draws where a value begins to be trouble. */
export function withLimit(panel: TimeseriesBuilder, limit: number): TimeseriesBuilder {
  return panel
    .thresholds(thresholds(['green', [limit, 'orange']]))
    .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed));
}

/** A panel with one number, its current value, before the colour of what it means. */
export function verdict(
  { title, description, unit, colours }: Text & { readonly colours: Colours },
  span: number,
  expr: string,
): StatBuilder {
  const panel = new StatBuilder().title(title).description(description).unit(unit).span(span).height(4);
  panel
    .colorMode(BigValueColorMode.Background)
    .graphMode(BigValueGraphMode.None)
    .thresholds(thresholds(colours))
    .colorScheme(BY_THRESHOLDS);
  return panel
    .datasource(DATASOURCE)
    .noValue('no data')
    .withTarget(query({ expr, instant: true }));
}

/** How often something is counted per second, by some of its labels. */
export function perSecond(metric: string, by: string, selector = MERCHANT): Series {
  const legend = by
    .split(', ')
    .map((label) => `{{${label}}}`)
    .join(' ');
  return { expr: `sum by (${by}) (rate(session_broker_${metric}_total{${selector}}[$__rate_interval]))`, legend };
}

/**
 * By how much a counter has grown in the time that is shown. A series that did not exist before began with its first
 * event, which `increase` does not see.
 */
export function grown(counter: string): string {
  return `((${counter} unless ${counter} offset $__range) or increase(${counter}[$__range]))`;
}
