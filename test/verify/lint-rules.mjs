import { join } from 'node:path';
import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const clockOnly = [
  {
    selector: "MemberExpression[object.name='Date'][property.name='now']",
    message: 'Take the time from the injected Clock (libs/clock).',
  },
  {
    selector: ":matches(NewExpression[callee.name='Date'][arguments.length=0], CallExpression[callee.name='Date'])",
    message: 'Take the time from the injected Clock.',
  },
  { selector: "MemberExpression[object.name='performance']", message: 'Take the time from the injected Clock.' },
  {
    selector:
      'CallExpression:matches([callee.name=/^set(Timeout|Interval|Immediate)$/], [callee.property.name=/^set(Timeout|Interval|Immediate)$/])',
    message: 'Schedule through the injected Clock, so that the timer has an owner and tests have virtual time.',
  },
  {
    selector: "MemberExpression[object.name='AbortSignal'][property.name='timeout']",
    message: 'Deadlines come from the injected Clock.',
  },
];
const entryOnly = [
  {
    selector:
      ":matches(MemberExpression[object.name='process']:matches([property.name='env'], [property.value='env']), VariableDeclarator[init.name='process'] Property[key.name='env'])",
    message: 'The environment is read in an entry file (main.ts) or in libs/configuration, and handed on as settings.',
  },
];
const production = [
  {
    selector: "CallExpression[callee.name='fetch']",
    message: 'Outgoing calls are bounded and timed out in libs/gateway; fetch is neither.',
  },
  {
    selector: "MemberExpression[object.name='process'][property.name='getBuiltinModule']",
    message: 'Use an import statement, which the import boundaries see.',
  },
  {
    selector: "ImportExpression:not([source.type='Literal'])",
    message: 'Import a string literal, which the import boundaries see.',
  },
];
const always = [
  {
    selector: ":matches(CallExpression[callee.name='eval'], [callee.name='Function'])",
    message: 'No text is executed: write the code, or hand data on.',
  },
  { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
  { selector: 'TSEnumDeclaration', message: 'Use a union of string literals.' },
  {
    selector:
      ":matches(CatchClause[body.body.length=0], CallExpression[callee.property.name='catch'] > ArrowFunctionExpression[body.body.length=0])",
    message: 'Never swallow: name what is expected and rethrow the rest.',
  },
];

// Named, and not found file by file as an editor does: the whole takes two thirds of the time.
const projects = [
  './tsconfig.json',
  './test/verify/tsconfig.json',
  './libs/status-page/src/page/tsconfig.json',
  './docs/examples/merchant-sdk/tsconfig.json',
];

export default defineConfig(
  { ignores: ['dist', 'coverage', 'node_modules', '**/*.mjs', 'tools/prove-client'] },
  // They import the client package as an installed one, and it is not installed here; the guides' test compiles them.
  {
    ignores: ['guides/*', 'merchant-sdk/brokered-sdk.*', 'merchant-sdk/sdk-refund.ts'].map(
      (path) => `docs/examples/${path}`,
    ),
  },
  { linterOptions: { noInlineConfig: true } },
  js.configs.recommended,
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { project: projects, tsconfigRootDir: join(import.meta.dirname, '..', '..') } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 50, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 3],
      complexity: ['error', 12],
      'no-console': 'error',
      eqeqeq: 'error',
      'no-restricted-syntax': ['error', ...always, ...production, ...clockOnly, ...entryOnly],
    },
  },
  {
    // Nest injects through constructors and factories: these may take up to six parameters.
    files: ['apps/broker/src/**/*.{controller,service,guard,module,providers,filter}.ts'],
    rules: { 'max-params': ['error', 6], '@typescript-eslint/consistent-type-imports': 'off' },
  },
  {
    // The life of a merchant, and what carries it out, are each read in one place, from top to bottom.
    files: ['libs/session/src/life.ts', 'libs/session/src/session-replica.ts'],
    rules: { 'max-lines': ['error', { max: 700, skipBlankLines: true, skipComments: true }] },
  },
  {
    files: ['libs/clock/src/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...always, ...production, ...entryOnly] },
  },
  {
    // The client is published on its own and imports nothing of ours, so it has its own module for time.
    files: ['libs/client/src/time.ts'],
    rules: { 'no-restricted-syntax': ['error', ...always, ...production, ...entryOnly] },
  },
  {
    files: ['apps/*/src/main.ts', 'libs/configuration/src/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...always, ...production, ...clockOnly] },
  },
  { files: ['apps/cli/src/**/*.ts'], rules: { 'no-console': 'off' } },
  {
    // A browser program: it fetches from its own server, has its types in comments, and has its own module for time,
    // too.
    files: ['libs/status-page/src/page/*.js'],
    rules: {
      // The compiler knows better what a browser provides.
      'no-undef': 'off',
      '@typescript-eslint/explicit-module-boundary-types': 'off',
      'no-restricted-syntax': ['error', ...always, ...clockOnly],
    },
  },
  {
    files: ['libs/status-page/src/page/time.js'],
    rules: { 'no-restricted-syntax': ['error', ...always] },
  },
  {
    // Independent programs, as a consumer would write them: the rules of our layers do not apply to them.
    files: ['docs/examples/**/*.ts'],
    rules: { 'no-console': 'off', 'no-restricted-syntax': ['error', ...always] },
  },
  {
    files: ['**/*spec.ts', 'test/**/*.ts', 'libs/testing/**/*.ts'],
    rules: {
      'max-lines': ['error', { max: 500, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': 'off',
      'no-restricted-syntax': ['error', ...always],
      'no-console': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
    },
  },
);
