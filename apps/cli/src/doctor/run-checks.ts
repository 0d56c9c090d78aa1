import { type Clock, Deadline } from '#libs/clock';
import { BrokerError, describeError } from '#libs/errors';
import { exitClassOf } from '../exit-codes.js';
import { type Check, fault, looked, type Verdict } from './check.js';

export type CheckStatus = 'passed' | 'warned' | 'failed' | 'not_run' | 'not_applicable';

export interface CheckResult {
  readonly check: Pick<Check, 'name' | 'subject'>;
  readonly status: CheckStatus;
  readonly verdict: Verdict;
  readonly tookMs: number;
}

interface RunContext {
  readonly clock: Clock;
  /** Aborted when the user has had enough: checks that have not run by then do not run. */
  readonly signal: AbortSignal;
}

/** Runs the checks in order, each within its time limit. A check whose need was not met does not run, and says why. */
export async function runChecks(checks: readonly Check[], context: RunContext): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    const startedAtMs = context.clock.monotonicMs();
    const verdict = unmetNeed(check, results) ?? (await runOne(check, context));
    const tookMs = Math.round(context.clock.monotonicMs() - startedAtMs);
    results.push({ check, status: statusOf(verdict), verdict, tookMs });
  }
  return results;
}

function unmetNeed({ needs = [], subject }: Check, results: readonly CheckResult[]): Verdict | undefined {
  const unmet = results.find(
    ({ check, status }) =>
      needs.includes(check.name) &&
      (check.subject === undefined || check.subject === subject) &&
      (status === 'failed' || status === 'not_run'),
  );
  if (unmet === undefined) return undefined;
  const became = unmet.status === 'failed' ? 'failed' : 'did not run';
  return { kind: 'not_run', reason: `it needs ${unmet.check.name}, which ${became}` };
}

async function runOne(check: Check, { clock, signal }: RunContext): Promise<Verdict> {
  if (signal.aborted) return { kind: 'not_run', reason: 'ended before its turn' };
  const deadline = new Deadline(clock, check.limitMs, signal);
  try {
    return await Promise.race([check.run(deadline.signal), cutOff(deadline, check.limitMs)]);
  } catch (error) {
    return verdictOn(error);
  } finally {
    deadline.close();
  }
}

function cutOff(deadline: Deadline, limitMs: number): Promise<Verdict> {
  return new Promise((resolve) => {
    const end = (): void =>
      resolve({ kind: 'not_run', reason: deadline.expired ? `no verdict within ${limitMs} ms` : 'ended on request' });
    deadline.signal.addEventListener('abort', end, { once: true });
  });
}

/**
 * An unexpected error is a fault of whatever was checked if it is one of our error types; otherwise it is a bug of
 * ours.
 */
function verdictOn(error: unknown): Verdict {
  if (error instanceof BrokerError && error.code === 'shutting_down') {
    return { kind: 'not_run', reason: 'ended on request' };
  }
  const message = error instanceof BrokerError ? error.message : describeError(error);
  return looked([fault(exitClassOf(error), message, 'see docs/reference/errors.md for what to do')]);
}

function statusOf(verdict: Verdict): CheckStatus {
  if (verdict.kind !== 'looked') return verdict.kind;
  const levels = new Set(verdict.findings.map(({ level }) => level));
  if (levels.has('fault')) return 'failed';
  return levels.has('warning') ? 'warned' : 'passed';
}
