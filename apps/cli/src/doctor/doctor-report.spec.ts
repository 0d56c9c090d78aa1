import { doctorReport } from './doctor-report.js';
import type { CheckResult } from './run-checks.js';

const notRun = (name: string, reason: string): CheckResult =>
  ({ check: { name }, status: 'not_run', verdict: { kind: 'not_run', reason }, tookMs: 0 }) as unknown as CheckResult;

const failed = (findings: readonly object[]): CheckResult =>
  ({
    check: { name: 'configuration' },
    status: 'failed',
    verdict: { kind: 'looked', findings },
    tookMs: 0,
  }) as unknown as CheckResult;

const fault = (message: string, remedy: string): object => ({
  level: 'fault',
  message,
  remedy,
  faultClass: 'invalidInput',
});

describe('what the doctor prints', () => {
  it('says once what does not run for one and the same reason', () => {
    const { lines, json } = doctorReport('broker.yaml', [
      notRun('files', 'it needs configuration, which failed'),
      notRun('keys', 'it needs configuration, which failed'),
      notRun('store.clock', 'it needs store.connection, which failed'),
    ]);
    expect(lines.slice(0, 2)).toEqual([
      'NOT RUN  files, keys: they need configuration, which failed',
      'NOT RUN  store.clock: it needs store.connection, which failed',
    ]);
    expect(json).toMatchObject({ checks: [{ name: 'files' }, { name: 'keys' }, { name: 'store.clock' }] });
  });

  it('says once what to do about several faults', () => {
    const { lines } = doctorReport('broker.yaml', [
      failed([fault('a is wrong', 'see the page'), fault('b is wrong', 'see the page'), fault('c is wrong', 'ask')]),
    ]);
    expect(lines.slice(0, 6)).toEqual([
      'FAILED   configuration',
      '         x a is wrong',
      '         x b is wrong',
      '           -> see the page',
      '         x c is wrong',
      '           -> ask',
    ]);
  });
});
