import { parser } from '@prometheus-io/lezer-promql';
import { sessionBrokerDashboard } from '../grafana/session-broker-dashboard.js';
import { rows } from '../grafana/session-broker-panels.js';
import { board, panels, queryOf, rules } from '../../deploy/monitoring.js';

/** Where an expression is not PromQL, by the grammar of Prometheus' own editor. */
function faultsOf(expr: string): string[] {
  const faults: string[] = [];
  parser.parse(expr).iterate({
    enter: ({ type, from, to }) => {
      if (type.isError) faults.push(expr.slice(Math.max(0, from - 20), to + 20));
    },
  });
  return faults;
}

const targets = panels.flatMap(({ title, targets: own = [] }) => own.map(({ expr }) => ({ title, expr })));

describe('the dashboard', () => {
  it('is what its source makes; `npm run dashboards` writes it', () => {
    expect(JSON.parse(JSON.stringify(sessionBrokerDashboard(rows)))).toEqual(board);
  });

  it('has a fixed address, cannot be edited by accident, and lets one choose data source, namespace and merchant', () => {
    expect([board.uid, board.editable]).toEqual(['session-broker', false]);
    expect(board.templating.list.map(({ name, type }) => `${name}:${type}`)).toEqual([
      'datasource:datasource',
      'namespace:query',
      'merchant:query',
    ]);
  });

  it.each(panels)('$title says what it shows, in which unit, from the data source that was chosen', (panel) => {
    expect(panel.description?.length).toBeGreaterThan(10);
    expect(panel.fieldConfig?.defaults.unit).toBeTruthy();
    expect(panel.datasource?.uid).toBe('${datasource}');
    expect(panel.targets?.length).toBeGreaterThan(0);
  });

  it('names each panel and numbers each once', () => {
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
  });

  it.each(targets)('$title asks in PromQL: $expr', ({ expr }) => {
    expect(faultsOf(queryOf(expr))).toEqual([]);
  });

  it('would be refused with an invalid query', () => {
    expect(faultsOf('sum(rate(x[5m])')).not.toEqual([]);
    expect(faultsOf('rate(x[5m]')).not.toEqual([]);
  });

  it.each(targets)('$title looks at what was chosen: $expr', ({ expr }) => {
    for (const [selector] of expr.matchAll(/\w+\{[^}]*\}/g)) expect(selector).toContain('namespace=~"$namespace"');
  });

  it.each(targets)(
    '$title takes rates over the interval of the screen, and counters only in rates: $expr',
    ({ expr }) => {
      for (const [, window] of expr.matchAll(/(?:rate|increase)\([^[]*\[([^\]]+)\]/g)) {
        expect(['$__rate_interval', '$__range', '1h']).toContain(window);
      }
      const counters = [...expr.matchAll(/(\w*)\(?\s*(\w+_total)\{/g)];
      for (const [, around] of counters) expect(['rate', 'increase']).toContain(around);
    },
  );

  it('never draws a line for each of ten thousand merchants', () => {
    const byMerchant = targets.filter(({ expr }) => /by \([^)]*merchant/.test(expr));
    expect(byMerchant.length).toBeGreaterThan(3);
    for (const { expr } of byMerchant) expect(expr).toMatch(/^(topk|bottomk|min|max|sum|count)\b/);
    const drawn = panels.flatMap(({ targets: own = [] }) =>
      own.filter(({ legendFormat }) => legendFormat === '{{merchant}}'),
    );
    for (const { expr } of drawn) expect(expr).toMatch(/^(topk|bottomk)\(10, /);
  });

  it('is where every alert leads', () => {
    for (const { alert, annotations } of rules) {
      if (alert !== undefined) expect(annotations?.['dashboard']).toMatch(/^\/d\/session-broker(\?var-merchant=|$)/);
    }
  });
});
