import { panels, queryOf } from '../deploy/monitoring.js';
import type { PrometheusProcess } from './prometheus-process.js';

/** The titles of the dashboard's panels, once for each of their queries that has no data. */
export async function emptyPanels(prometheus: PrometheusProcess): Promise<readonly string[]> {
  const empty: string[] = [];
  for (const { title = '', targets = [] } of panels) {
    for (const { expr } of targets) {
      if ((await prometheus.query(queryOf(expr))).length === 0) empty.push(title);
    }
  }
  return empty;
}
