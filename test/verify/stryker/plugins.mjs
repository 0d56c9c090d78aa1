import { readFileSync, writeFileSync } from 'node:fs';
import { declareFactoryPlugin, declareValuePlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import { MutantRunStatus } from '@stryker-mutator/api/test-runner';
import { strykerPlugins as jestPlugins } from '@stryker-mutator/jest-runner';

/** In the mutated copy, which is the working folder of every runner's process. */
const TESTS_OF_FILES = 'tests-of-files.json';
const makeJestRunner = jestPlugins.find(({ name }) => name === 'jest').factory;

/** One mutant in this many is tried: the others are reported as errors, which do not affect the score. */
const EVERY = Number(process.env.MUTATION_EVERY ?? 1);

/** The tests of each spec file, the fastest file first. */
function byFile(tests) {
  const files = new Map();
  for (const { id, fileName, timeSpentMs } of tests) {
    const { ids, tookMs } = files.get(fileName) ?? { ids: [], tookMs: 0 };
    files.set(fileName, { ids: [...ids, id], tookMs: tookMs + timeSpentMs });
  }
  return [...files].map(([file, found]) => ({ file, ...found })).sort((one, other) => one.tookMs - other.tookMs);
}

/**
 * Runs the spec files with a test that reaches the mutant, one after the other until one notices. Stryker's own runner
 * loads every spec file for every mutant, and runs them all to the end.
 */
function jestByFileFactory(injector) {
  const runner = makeJestRunner(injector);
  const dryRun = runner.dryRun.bind(runner);
  const mutantRun = runner.mutantRun.bind(runner);
  return Object.assign(runner, {
    dryRun: async (options) => {
      const result = await dryRun(options);
      writeFileSync(TESTS_OF_FILES, JSON.stringify(byFile(result.tests ?? [])));
      return result;
    },
    mutantRun: async (options) => {
      if (Number(options.activeMutant.id) % EVERY !== 0) {
        return { status: MutantRunStatus.Error, errorMessage: 'left out of this sample' };
      }
      const whole = runner.jestConfig;
      const wanted = options.testFilter && new Set(options.testFilter);
      let nrOfTests = 0;
      try {
        for (const { file, ids } of JSON.parse(readFileSync(TESTS_OF_FILES, 'utf8'))) {
          const testFilter = wanted && ids.filter((id) => wanted.has(id));
          if (testFilter?.length === 0) continue;
          runner.jestConfig = { ...whole, testMatch: [file] };
          const result = await mutantRun({ ...options, testFilter });
          nrOfTests += result.nrOfTests ?? 0;
          if (result.status !== MutantRunStatus.Survived) return { ...result, nrOfTests };
        }
        return { status: MutantRunStatus.Survived, nrOfTests };
      } finally {
        runner.jestConfig = whole;
      }
    },
  });
}
jestByFileFactory.inject = tokens('$injector');

const isThrown = (path) => path.parentPath?.isNewExpression() && path.findParent((parent) => parent.isThrowStatement());
const isDetail = (path) => path.parentPath?.isObjectProperty() && path.parent.key.name === 'detail';
const isText = (path) => path.isStringLiteral() || path.isTemplateLiteral() || path.isBinaryExpression();
const isOnlyDetail = (path) =>
  path.isObjectExpression() && path.node.properties.length === 1 && path.node.properties[0].key?.name === 'detail';

/** Texts that only people read may say anything: an error is identified by its code, and that is mutated. */
const textsForPeople = {
  shouldIgnore: (path) => {
    const isErrorText = isText(path) && (isDetail(path) || (isThrown(path) && path.parent.callee.name === 'Error'));
    return isErrorText || isOnlyDetail(path) ? 'a text for people' : undefined;
  },
};

export const strykerPlugins = [
  declareFactoryPlugin(PluginKind.TestRunner, 'jest-by-file', jestByFileFactory),
  declareValuePlugin(PluginKind.Ignore, 'texts-for-people', textsForPeople),
];
