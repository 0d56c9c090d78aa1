import { type Chosen, type Panel, panels, queries, queryOf } from '../deploy/monitoring.js';
import type { PrometheusProcess } from './prometheus-process.js';

/** What shows nothing of the dashboard, once for each of its queries that has no data. */
export async function emptyQueries(prometheus: PrometheusProcess, chosen?: Chosen): Promise<readonly string[]> {
  const empty: string[] = [];
  for (const { title, expr } of queries)
    if ((await prometheus.query(queryOf(expr, chosen))).length === 0) empty.push(title);
  return empty;
}

/** That of the last threshold which the value reaches, as Grafana takes it. */
function colourOf({ fieldConfig }: Panel, value: number): string | undefined {
  const steps = fieldConfig?.defaults.thresholds?.steps ?? [];
  return steps.findLast((step) => value >= (step.value ?? -Infinity))?.color;
}

/** What each number of the dashboard means at the moment: its colour by title, where there is data. */
export async function verdicts(prometheus: PrometheusProcess, chosen?: Chosen): Promise<Record<string, string>> {
  const shown: Record<string, string> = {};
  for (const panel of panels.filter(({ type }) => type === 'stat')) {
    for (const { expr } of panel.targets ?? []) {
      for (const { value } of await prometheus.query(queryOf(expr, chosen)))
        shown[panel.title] = colourOf(panel, Number(value?.[1])) ?? 'none';
    }
  }
  return shown;
}
