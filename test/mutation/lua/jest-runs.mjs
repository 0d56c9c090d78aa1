// A process of main.mjs: runs the specs for each mutant that it is sent, and answers whether one of them failed.
import { join } from 'node:path';
import { runCLI } from 'jest';

const root = join(import.meta.dirname, '..', '..', '..');

async function failsIn({ file, testNamePattern }) {
  const { results } = await runCLI(
    {
      _: [],
      $0: 'mutation',
      config: 'test/mutation/lua/jest.config.mjs',
      runInBand: true,
      silent: true,
      reporters: [],
      watchman: false,
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
  process.env.LUA_MUTANT = JSON.stringify(mutant ?? {});
  let noticedBy;
  for (const spec of specs) {
    noticedBy ??= await failsIn(spec);
  }
  process.send({ noticedBy });
});
