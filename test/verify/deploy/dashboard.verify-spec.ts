import { merchantConditions } from '#libs/session';
import { board, panels, queries, rules } from '../../deploy/monitoring.js';

describe('the dashboard', () => {
  it.each(panels)('$title says what it shows, in which unit, from the data source that was chosen', (panel) => {
    expect(panel.description?.length).toBeGreaterThan(10);
    expect(panel.fieldConfig?.defaults.unit).toBeTruthy();
    expect(panel.datasource?.uid).toBe('${datasource}');
    expect(panel.targets?.length).toBeGreaterThan(0);
  });

  it.each(queries)('$title looks at what was chosen: $expr', ({ expr }) => {
    const selectors = [...expr.matchAll(/\{[^}]*\}/g)].map(([selector]) => selector);
    expect(selectors).not.toEqual([]);
    const none = expr.includes('ALERTS{') ? '|' : '';
    const chosen = `cluster=~"$cluster${none}", namespace=~"$namespace${none}"`;
    for (const selector of selectors) expect(selector).toContain(chosen);
  });

  it.each(queries)('$title keeps merchants and instances of two namespaces apart: $expr', ({ expr }) => {
    for (const [, labels = ''] of expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g))
      if (/\b(merchant|instance|job)\b/.test(labels)) expect(labels).toMatch(/\bcluster, namespace\b/);
  });

  it.each(['Worst condition', 'Condition, worst first'])(
    '%s has a word for each condition, the worst last',
    (title) => {
      const [{ options = {} } = {}] =
        panels.find((panel) => panel.title === title)?.fieldConfig?.defaults.mappings ?? [];
      expect(Object.values(options).map(({ text }) => text)).toEqual(merchantConditions.toReversed());
    },
  );

  it.each(queries)(
    '$title takes rates over the interval of the screen, and counters only in rates: $expr',
    ({ expr }) => {
      for (const [, window] of expr.matchAll(/(?:rate|increase)\([^[]*\[([^\]]+)\]/g)) {
        expect(['$__rate_interval', '$__range', '1h']).toContain(window);
      }
      const began = /\((\w+_total\{[^}]*\}) unless \1 offset \$__range\) or /g;
      const counters = [...expr.replaceAll(began, '').matchAll(/(\w*)\(?\s*(\w+_total)\{/g)];
      for (const [, around] of counters) expect(['rate', 'increase']).toContain(around);
    },
  );

  it('never draws a line for each of ten thousand merchants', () => {
    const byMerchant = queries.filter(({ expr }) => /by \([^)]*merchant/.test(expr));
    expect(byMerchant.length).toBeGreaterThan(3);
    for (const { expr } of byMerchant) expect(expr).toMatch(/^(topk|bottomk|min|max|sum|count)\b/);
    const drawn = panels.flatMap(({ targets: own = [] }) =>
      own.filter(({ legendFormat }) => legendFormat?.includes('{{merchant}}')),
    );
    for (const { expr } of drawn) expect(expr).toMatch(/^(topk|bottomk)\(10, /);
  });

  it('is where every alert leads', () => {
    expect(board.uid).toBe('session-broker');
    for (const { alert, annotations } of rules) {
      if (alert !== undefined) expect(annotations?.['dashboard']).toMatch(/^\/d\/session-broker(\?var-merchant=|$)/);
    }
  });
});
