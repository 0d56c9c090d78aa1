import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '..', '..');
export const PROMETHEUS = join(root, 'deploy/prometheus/prometheus.yml');
export const RULES = join(root, 'deploy/prometheus/rules/session-broker.yml');
const ruleTestsIn = (file: string): string => join(root, 'deploy/prometheus/tests', file);
export const RULE_TESTS = ruleTestsIn('session-broker.yml');
/** Trouble that lasts hours, evaluated once a minute. */
export const HOURS_RULE_TESTS = ruleTestsIn('hours.yml');
/** The rules again, for sessions as short as those of the demo. */
export const SHORT_RULE_TESTS = ruleTestsIn('short-sessions.yml');
export const DASHBOARD = join(root, 'deploy/grafana/dashboards/session-broker.json');
const RUNBOOKS = join(root, 'docs/runbooks');

export interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

export interface RuleTest {
  readonly name: string;
  readonly alert_rule_test?: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
}

export interface Target {
  readonly expr: string;
  readonly legendFormat?: string;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit?: string;
      readonly thresholds?: { readonly steps: readonly { readonly value: number | null; readonly color: string }[] };
      readonly mappings?: readonly { readonly options: Readonly<Record<string, { readonly text: string }>> }[];
    };
  };
  readonly targets?: readonly Target[];
}

export interface Board {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr: string }[] };
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly multi?: boolean }[];
  };
}

const ruleFile = parse(readFileSync(RULES, 'utf8')) as RuleFile;
export const rules: readonly Rule[] = ruleFile.groups.flatMap((group) => group.rules);
export const alerts = rules.filter(({ alert }) => alert !== undefined);

/** The path of the page that an alert leads to. */
export const runbookOf = (alert: string): string =>
  alerts.find((rule) => rule.alert === alert)?.annotations?.['runbook_url'] ?? '';
export const ruleTests = [RULE_TESTS, HOURS_RULE_TESTS].flatMap(
  (file) => (parse(readFileSync(file, 'utf8')) as { tests: readonly RuleTest[] }).tests,
);
export const board = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as Board;
export const panels = board.panels.filter(({ type }) => type !== 'row');

/** Every query of the dashboard, with what shows its answer: a panel, or the marks on all of them. */
export const queries = [
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr }))),
  ...board.annotations.list.map(({ name, expr }) => ({ title: `marks of ${name.toLowerCase()}`, expr })),
];

/** The text of each page, by file name. */
export const runbooks = new Map(
  readdirSync(RUNBOOKS)
    .filter((name) => name !== 'README.md')
    .map((name) => [`docs/runbooks/${name}`, readFileSync(join(RUNBOOKS, name), 'utf8')]),
);
export const runbookIndex = readFileSync(join(RUNBOOKS, 'README.md'), 'utf8');

/** What somebody has chosen on the dashboard; everything, where nothing is said. */
export interface Chosen {
  readonly cluster?: string;
  readonly namespace?: string;
  readonly merchant?: string;
}

/** Replaces Grafana's variables, as in a view of the last half minute. */
export function queryOf(expr: string, { cluster = '.*', namespace = '.*', merchant = '.*' }: Chosen = {}): string {
  return expr
    .replaceAll('$__rate_interval', '20s')
    .replaceAll('$__range_s', '30')
    .replaceAll('$__range', '30s')
    .replaceAll('$__interval', '1s')
    .replaceAll('$cluster', cluster)
    .replaceAll('$namespace', namespace)
    .replaceAll('$merchant', merchant);
}
