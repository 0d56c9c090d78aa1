import { BrokerError } from '#libs/errors';
import { FakeClock } from '#libs/testing';
import { type Check, fact, fault, looked, notApplicable, type Verdict, warning } from './check.js';
import { doctorReport } from './doctor-report.js';
import { type CheckResult, runChecks } from './run-checks.js';

const clock = new FakeClock();
const signal = new AbortController().signal;

const aCheck = (name: string, verdict: Verdict | (() => Promise<Verdict>), more: Partial<Check> = {}): Check => ({
  name,
  limitMs: 1_000,
  run: () => (typeof verdict === 'function' ? verdict() : Promise.resolve(verdict)),
  ...more,
});
const passing = looked([fact('all is well')]);
const failing = looked([fault('tryLater', 'it is down', 'wait')]);
const run = (...checks: readonly Check[]): Promise<readonly CheckResult[]> => runChecks(checks, { clock, signal });
const statuses = async (...checks: readonly Check[]): Promise<readonly string[]> =>
  (await run(...checks)).map(({ status }) => status);

describe('running checks', () => {
  it('gives each its status by its gravest finding', async () => {
    const mixed = looked([fact('a'), warning('b', 'c'), fault('failed', 'd', 'e')]);
    const warned = looked([fact('a'), warning('b', 'c')]);
    expect(
      await statuses(
        aCheck('a', passing),
        aCheck('b', warned),
        aCheck('c', mixed),
        aCheck('d', notApplicable('there is none')),
      ),
    ).toEqual(['passed', 'warned', 'failed', 'not_applicable']);
  });

  it('does not run what needs another that failed or did not run, for the same subject', async () => {
    const results = await run(
      aCheck('tcp', failing, { subject: 'one' }),
      aCheck('tcp', passing, { subject: 'two' }),
      aCheck('tls', passing, { subject: 'one', needs: ['tcp'] }),
      aCheck('tls', passing, { subject: 'two', needs: ['tcp'] }),
      aCheck('http', passing, { subject: 'one', needs: ['tls'] }),
    );
    expect(results.map(({ status }) => status)).toEqual(['failed', 'passed', 'not_run', 'passed', 'not_run']);
    expect(results[4]?.verdict).toEqual({ kind: 'not_run', reason: 'it needs tls, which did not run' });
  });

  it('runs what needs another that does not apply', async () => {
    const none = aCheck('tls', notApplicable('plain'));
    expect(await statuses(none, aCheck('http', passing, { needs: ['tls'] }))).toEqual(['not_applicable', 'passed']);
  });

  it('gives up a check that outlasts its time, and goes on', async () => {
    const results = run(
      aCheck('hangs', () => new Promise(() => undefined)),
      aCheck('next', passing),
    );
    await clock.advance(1_000);
    expect((await results)[0]?.verdict).toEqual({ kind: 'not_run', reason: 'no verdict within 1000 ms' });
    expect((await results)[1]?.status).toBe('passed');
    expect(clock.pendingTasks).toBe(0);
  });

  it('ends with the person who asked, and says of the rest that it did not run', async () => {
    const ending = new AbortController();
    const checks = [aCheck('hangs', () => new Promise(() => undefined)), aCheck('next', passing)];
    const results = runChecks(checks, { clock, signal: ending.signal });
    ending.abort();
    expect((await results).map(({ verdict }) => verdict)).toEqual([
      { kind: 'not_run', reason: 'ended on request' },
      { kind: 'not_run', reason: 'ended before its turn' },
    ]);
  });

  it('counts what a check throws as a fault, by its class', async () => {
    const refused = aCheck('a', () => Promise.reject(new BrokerError('gateway_refused', { detail: 'no' })));
    const broken = aCheck('b', () => Promise.reject(new TypeError('a bug')));
    const results = await run(refused, broken);
    expect(results.map(({ status }) => status)).toEqual(['failed', 'failed']);
    expect(doctorReport('f', results.slice(0, 1)).exitCode).toBe(3);
    expect(doctorReport('f', results).exitCode).toBe(1);
  });
});

describe('the exit code', () => {
  const codeOf = async (...verdicts: readonly Verdict[]): Promise<number | undefined> =>
    doctorReport('f', await run(...verdicts.map((verdict, index) => aCheck(`check ${index}`, verdict)))).exitCode;
  const failed = (faultClass: Parameters<typeof fault>[0]): Verdict => looked([fault(faultClass, 'm', 'r')]);
  const notRun: Verdict = { kind: 'not_run', reason: 'why' };

  it('is that of the gravest fault: first what is nearest to the one who asks', async () => {
    const order = [
      ['invalidInput', 2],
      ['failed', 1],
      ['refused', 3],
      ['invalidAnswer', 5],
      ['tryLater', 4],
    ] as const;
    for (const [index, [, code]] of order.entries()) {
      const rest = order.slice(index).map(([faultClass]) => failed(faultClass));
      expect(await codeOf(notRun, ...rest.reverse())).toBe(code);
    }
  });

  it('is 6 when nothing failed and something is not known, and 0 with warnings', async () => {
    expect(await codeOf(passing, notRun)).toBe(6);
    expect(await codeOf(passing, looked([warning('m', 'r')]), notApplicable('none'))).toBe(0);
  });
});
