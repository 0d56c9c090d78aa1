import { readFileSync, writeFileSync } from 'node:fs';
import { declareFactoryPlugin, declareValuePlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import { strykerPlugins as jestPlugins } from '@stryker-mutator/jest-runner';

/** In the copy that is mutated, which every runner's process has as its folder. */
const FILES_OF_TESTS = 'files-of-tests.json';
const makeJestRunner = jestPlugins.find(({ name }) => name === 'jest').factory;

/**
 * Runs only the spec files that hold a test which reaches the mutant. The runner of Stryker itself loads every spec file
 * for every mutant and leaves the tests out by their names.
 */
function jestByFileFactory(injector) {
  const runner = makeJestRunner(injector);
  const dryRun = runner.dryRun.bind(runner);
  const mutantRun = runner.mutantRun.bind(runner);
  return Object.assign(runner, {
    dryRun: async (options) => {
      const result = await dryRun(options);
      const files = {};
      // One name may be that of tests in several files.
      for (const { id, fileName } of result.tests ?? []) files[id] = [...(files[id] ?? []), fileName];
      writeFileSync(FILES_OF_TESTS, JSON.stringify(files));
      return result;
    },
    mutantRun: async (options) => {
      const whole = runner.jestConfig;
      if (options.testFilter !== undefined) {
        const files = JSON.parse(readFileSync(FILES_OF_TESTS, 'utf8'));
        runner.jestConfig = { ...whole, testMatch: [...new Set(options.testFilter.flatMap((id) => files[id] ?? []))] };
      }
      try {
        return await mutantRun(options);
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

/** A text that only people read may say anything: which error it is, is its code, and that is mutated. */
const textsForPeople = {
  shouldIgnore: (path) => {
    const isErrorText = isText(path) && (isDetail(path) || (isThrown(path) && path.parent.callee.name === 'Error'));
    return isErrorText ? 'a text for people' : undefined;
  },
};

export const strykerPlugins = [
  declareFactoryPlugin(PluginKind.TestRunner, 'jest-by-file', jestByFileFactory),
  declareValuePlugin(PluginKind.Ignore, 'texts-for-people', textsForPeople),
];
