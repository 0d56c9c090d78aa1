import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

/** The most lines a panel shows: with ten thousand merchants, the worst are what matters. */
export const TOP = 10;
export const HALF = 12;
export const THIRD = 8;
export const QUARTER = 6;
export const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
/** Selects from all our series; the namespace is empty for a broker outside Kubernetes. */
export const MERCHANT = 'namespace=~"$namespace", merchant=~"$merchant"';
export const REPLICA = 'namespace=~"$namespace"';

export interface Series {
  readonly expr: string;
  readonly legend?: string;
  readonly instant?: boolean;
  readonly format?: 'heatmap' | 'table' | 'time_series';
}

export interface Text {
  readonly title: string;
  readonly description: string;
  readonly unit: string;
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

/** A panel with one number, its current value. */
export function number({ title, description, unit }: Text, ...series: readonly Series[]): StatBuilder {
  const panel = new StatBuilder().title(title).description(description).unit(unit).span(QUARTER).height(4);
  panel.datasource(DATASOURCE);
  for (const each of series) panel.withTarget(query({ instant: true, ...each }));
  return panel;
}

/** How often something is counted per second, by some of its labels. */
export function perSecond(metric: string, by: string, selector = MERCHANT): Series {
  const legend = by
    .split(', ')
    .map((label) => `{{${label}}}`)
    .join(' ');
  return { expr: `sum by (${by}) (rate(session_broker_${metric}_total{${selector}}[$__rate_interval]))`, legend };
}
