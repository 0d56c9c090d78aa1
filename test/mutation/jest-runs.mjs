// A separate process for a command next to it: runs specs for each mutant that it is sent, one file after the other,
// and answers which test noticed first.
import { join } from 'node:path';
import { runCLI } from 'jest';
import { base } from '../../jest.config.mjs';

const root = join(import.meta.dirname, '..', '..');
const [, , config] = process.argv;

let runs = 0;

async function firstFailure({ file, testNamePattern }) {
  runs += 1;
  const { results } = await runCLI(
    {
      _: [],
      $0: 'mutation',
      config,
      runInBand: true,
      silent: true,
      reporters: [],
      watchman: false,
      // Jest caches what it has transformed as long as the configuration is the same: the previous mutant would run
      // again.
      globals: JSON.stringify({ ...base.globals, run: runs }),
      testPathPatterns: [file],
      ...(testNamePattern === undefined ? {} : { testNamePattern }),
    },
    [root],
  );
  if (results.numTotalTestSuites === 0) throw new Error(`no spec is called ${file}`);
  const failed = results.testResults.flatMap(({ testResults, failureMessage }) => {
    const names = testResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
    return names.length > 0 || failureMessage === null || failureMessage === undefined ? names : ['the file itself'];
  });
  return failed[0];
}

process.on('message', async ({ mutant, specs }) => {
  process.env.MUTANT = JSON.stringify(mutant ?? {});
  let noticedBy;
  for (const spec of specs) {
    noticedBy ??= await firstFailure(spec);
  }
  process.send({ noticedBy });
});
