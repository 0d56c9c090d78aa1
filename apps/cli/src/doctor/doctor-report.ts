import { type ExitClass, exitCodes, gravestOf } from '../exit-codes.js';
import type { Report } from '../report.js';
import type { Finding } from './check.js';
import type { CheckResult, CheckStatus } from './run-checks.js';

const LABELS: Readonly<Record<CheckStatus, string>> = {
  passed: 'ok',
  warned: 'WARNING',
  failed: 'FAILED',
  not_run: 'NOT RUN',
  not_applicable: '-',
};
const MARKS = { fact: '  ', warning: '! ', fault: 'x ' } as const;
const INDENT = ' '.repeat(9);

/** What the checks found, for people and for programs, with the exit code for the class of fault. */
export function doctorReport(file: string, results: readonly CheckResult[]): Report {
  const exitCode = exitCodeOf(results);
  const counts = countsOf(results);
  return {
    lines: [...together(results).flatMap(linesOf), '', summaryOf(counts)],
    json: { file, exitCode, summary: counts, checks: results.map(jsonOf) },
    exitCode,
  };
}

function exitCodeOf(results: readonly CheckResult[]): number {
  const classes = results.flatMap(({ verdict }) =>
    verdict.kind === 'looked'
      ? verdict.findings.flatMap(({ faultClass }): ExitClass[] => [faultClass ?? []].flat())
      : [],
  );
  const gravest = gravestOf(classes);
  if (gravest !== undefined) return exitCodes[gravest];
  return results.some(({ status }) => status === 'not_run') ? exitCodes.incomplete : exitCodes.ok;
}

type Counts = Readonly<Record<CheckStatus, number>>;

function countsOf(results: readonly CheckResult[]): Counts {
  const counts = { passed: 0, warned: 0, failed: 0, not_run: 0, not_applicable: 0 };
  for (const { status } of results) counts[status] += 1;
  return counts;
}

function summaryOf({ passed, warned, failed, not_run: notRun, not_applicable: rest }: Counts): string {
  const unknown = notRun === 0 ? '' : ', so something else may be wrong';
  return `${passed} passed, ${warned} with warnings, ${failed} failed, ${notRun} not run${unknown} (${rest} do not apply)`;
}

/** Groups adjacent results that did not run for the same reason: a line for each would bury the reason. */
function together(results: readonly CheckResult[]): readonly (readonly CheckResult[])[] {
  const groups: CheckResult[][] = [];
  for (const result of results) {
    const before = groups.at(-1);
    if (before?.[0] !== undefined && isSameHindrance(before[0], result)) before.push(result);
    else groups.push([result]);
  }
  return groups;
}

function isSameHindrance({ verdict: one }: CheckResult, { verdict: other }: CheckResult): boolean {
  return one.kind === 'not_run' && other.kind === 'not_run' && one.reason === other.reason;
}

function linesOf(group: readonly CheckResult[]): readonly string[] {
  const [first] = group;
  if (first === undefined) return [];
  const { status, verdict } = first;
  const title = `${LABELS[status].padEnd(INDENT.length)}${group.map(({ check }) => titleOf(check)).join(', ')}`;
  if (verdict.kind === 'looked') return [title, ...findingLines(verdict.findings)];
  return [`${title}: ${group.length === 1 ? verdict.reason : verdict.reason.replace(/^it needs /, 'they need ')}`];
}

function findingLines(findings: readonly Finding[]): readonly string[] {
  return findings.flatMap(({ level, message, remedy }, index) => [
    `${INDENT}${MARKS[level]}${message}`,
    ...(remedy === undefined || remedy === findings[index + 1]?.remedy ? [] : [`${INDENT}  -> ${remedy}`]),
  ]);
}

const titleOf = ({ name, subject }: CheckResult['check']): string =>
  subject === undefined ? name : `${name} ${subject}`;

function jsonOf({ check: { name, subject }, status, verdict, tookMs }: CheckResult): object {
  const about = { name, ...(subject === undefined ? {} : { subject }), status, tookMs };
  if (verdict.kind !== 'looked') return { ...about, reason: verdict.reason, findings: [] };
  const { findings, facts } = verdict;
  return { ...about, findings, ...(facts === undefined ? {} : { facts }) };
}
