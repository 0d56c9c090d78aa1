import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describeWith, toolPath } from '#libs/testing';
import { parse } from 'yaml';
import {
  alerts,
  HOURS_RULE_TESTS,
  PROMETHEUS,
  RULE_TESTS,
  runbookIndex,
  runbooks,
  RULES,
  ruleTests,
  SHORT_RULE_TESTS,
} from './monitoring.js';

describe('the alerts', () => {
  describeWith('prometheus', 'by promtool', () => {
    it('are valid by the strictest lint of Prometheus', () => {
      expect(
        execFileSync(toolPath('prometheus', 'promtool'), ['check', 'rules', '--lint=all', '--lint-fatal', RULES], {
          encoding: 'utf8',
        }),
      ).toMatch(/SUCCESS: \d+ rules found/);
    });

    it.each([RULE_TESTS, HOURS_RULE_TESTS, SHORT_RULE_TESTS])('fire and are silent as their tests say: %s', (file) => {
      const promtool = toolPath('prometheus', 'promtool');
      expect(execFileSync(promtool, ['test', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS');
    });
  });

  it('are judged by our Prometheus at least as often as the least patient of them waits', () => {
    const { global } = parse(readFileSync(PROMETHEUS, 'utf8')) as { global: { evaluation_interval?: string } };
    const secondsOf = (duration = '1m'): number => Number.parseInt(duration) * (duration.endsWith('m') ? 60 : 1);
    const patience = alerts.flatMap((alert) => (alert.for === undefined ? [] : [secondsOf(alert.for)]));
    expect(patience).toContain(15);
    expect(secondsOf(global.evaluation_interval)).toBeLessThanOrEqual(Math.min(...patience));
  });

  it.each(alerts)('$alert has a test in which it fires, and one in which it is silent', ({ alert }) => {
    const cases = ruleTests
      .flatMap(({ alert_rule_test = [] }) => alert_rule_test)
      .filter(({ alertname }) => alertname === alert);
    expect(cases.some(({ exp_alerts }) => exp_alerts.length > 0)).toBe(true);
    expect(cases.some(({ exp_alerts }) => exp_alerts.length === 0)).toBe(true);
  });

  it.each(alerts)('$alert says how bad it is, what it means and where to read on', ({ alert, labels, annotations }) => {
    expect(['critical', 'warning']).toContain(labels?.['severity']);
    expect(annotations?.['summary']?.length).toBeGreaterThan(20);
    expect(annotations?.['description']?.length).toBeGreaterThan(20);
    const page = runbooks.get(annotations?.['runbook_url'] ?? '');
    expect(page).toContain(`\`${alert}\``);
    expect(runbookIndex).toContain(`\`${alert}\``);
  });

  it.each([...runbooks.keys()])('%s belongs to an alert', (name) => {
    expect(alerts.some(({ annotations }) => annotations?.['runbook_url'] === name)).toBe(true);
  });
});
