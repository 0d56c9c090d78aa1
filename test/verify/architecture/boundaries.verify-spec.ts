import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadRuleTables, root } from '../../architecture/rule-tables.js';

/** A file with one import, and the rule that must refuse it. */
const refusedSamples = [
  ['libs/session/src/cycle-a.ts', './cycle-b.js', 'no-circular'],
  ['libs/session/src/to-app.ts', '../../../apps/broker/src/main.js', 'libs-not-to-apps'],
  ['apps/broker/src/to-other-app.ts', '../../sandbox/src/main.js', 'apps-not-to-other-apps'],
  ['apps/cli/src/past-index.ts', '../../../libs/session/src/inner.js', 'apps-enter-libs-by-the-index'],
  ['test/e2e/past-index.e2e-spec.ts', '../../libs/session/src/inner.js', 'apps-enter-libs-by-the-index'],
  ['libs/gateway/src/past-index.ts', '../../session/src/inner.js', 'libs-enter-libs-by-the-index'],
  ['apps/broker/src/fakes.ts', '#libs/testing', 'testing-only-in-tests'],
  ['libs/store/src/to-spec.ts', './to-session.spec.js', 'production-imports-no-spec'],
  ['libs/store/src/to-test.ts', '../../../test/e2e/support.js', 'sources-not-to-test-folder'],
  ['libs/store/src/to-dist.ts', '../../../dist/libs/jwe/src/index.js', 'sources-not-to-output'],
  ['libs/store/src/dev-package.ts', 'typescript', 'production-imports-no-development-package'],
  ['libs/store/src/undeclared.ts', 'swagger-ui-dist', 'packages-are-declared'],
  ['libs/status-page/src/page/out.js', '../index.js', 'status-page-imports-only-itself'],
  ['libs/store/src/missing.ts', './nowhere.js', 'not-resolvable'],
  ['libs/unlisted/src/index.ts', '#libs/errors', 'every-folder-of-libs-is-in-the-table'],
  ['apps/unlisted/src/main.ts', '#libs/errors', 'every-folder-of-apps-is-in-the-table'],
  ['apps/broker/src/unlisted/inner.ts', '#libs/errors', 'every-folder-of-the-broker-is-in-the-table'],
  ['apps/broker/src/http/to-the-top.ts', '../main.js', 'broker-features-not-to-what-puts-them-together'],
  ['libs/clock/src/package.ts', 'yaml', 'domain-imports-no-package'],
  ['libs/session/src/built-in.ts', 'node:crypto', 'domain-imports-no-built-in'],
  // One of each kind that the tables generate.
  ['libs/store/src/to-gateway.ts', '#libs/gateway', 'store-imports-only-its-layer'],
  ['libs/status-page/src/to-store.spec.ts', '#libs/store', 'status-page-specs-import-only-its-layer-and-testing'],
  ['apps/sandbox/src/to-jwe.ts', '#libs/jwe', 'sandbox-app-imports-only-its-layer'],
  ['apps/egress/src/to-store.spec.ts', '#libs/store', 'egress-app-specs-import-only-its-layer-and-testing'],
  ['apps/broker/src/auth/to-http.ts', '../http/target.js', 'broker-auth-imports-only-features-below'],
  ['libs/store/src/package.ts', 'lru-cache', 'lru-cache-only-in-its-home'],
  ['apps/egress/src/scope.ts', '@nestjs/common', 'scope-nestjs-only-in-its-home'],
  ['libs/jwe/src/files.ts', 'node:fs/promises', 'files-built-ins-only-in-their-home'],
  ['libs/jwe/src/bare.ts', 'fs', 'files-built-ins-only-in-their-home'],
  ['apps/broker/src/loophole.ts', 'node:vm', 'loopholes-built-ins-only-in-their-home'],
] as const;

/** Correct ones, so that a rule that refuses everything is noticed too. */
const acceptedSamples = [
  ['libs/store/src/to-session.ts', '#libs/session'],
  ['libs/store/src/fakes.spec.ts', '#libs/testing'],
  ['libs/session/src/right.spec.ts', 'fast-check'],
  ['libs/gateway/src/right.ts', './right-too.js'],
  ['libs/telemetry/src/scope.ts', '@opentelemetry/api'],
  ['libs/issuer/src/files.ts', 'node:fs'],
  ['apps/sandbox/src/right.ts', '#libs/clock'],
  ['apps/broker/src/http/to-auth.ts', '../auth/target.js'],
  ['apps/broker/src/auth/package.ts', 'lru-cache'],
  ['test/e2e/right.e2e-spec.ts', '#libs/session'],
  ['test/e2e/fakes.e2e-spec.ts', '#libs/testing'],
  ['test/protocol/right.ts', '../../libs/session/src/inner.js'],
  ['test/verify/right.ts', '#libs/session'],
] as const;

/** An import is an import, however it is written. */
const FORMS = [
  `export type { JWK } from 'jose';`,
  `export const form: import('jose').JWK = {};`,
  `export const form = () => import('jose');`,
  'export const form = () => import(`jose`);',
  `import jose = require('jose');\nexport const form = jose;`,
  `import 'jose';\nexport {};`,
];
const forms = FORMS.map((source, index) => ({ file: `libs/store/src/form-${index}.ts`, source }));

const tables = await loadRuleTables();
const CIRCULAR = `export * from './cycle-a.js';\n`;
/** What the samples point at. */
const targets = [
  ...['broker/src/main', 'broker/src/auth/target', 'broker/src/http/target', 'sandbox/src/main'].map(
    (it) => `apps/${it}.ts`,
  ),
  ...['session/src/inner', 'gateway/src/right-too', 'store/src/to-session.spec'].map((it) => `libs/${it}.ts`),
  ...Object.keys(tables.libLayers).map((lib) => `libs/${lib}/src/index.ts`),
  ...['test/e2e/support.ts', 'dist/libs/jwe/src/index.js'],
];

/**
 * Writes the samples as a separate checkout below dist/ (where nothing is linted, and from where packages resolve as
 * they do for the real sources), and runs dependency-cruiser on it with the real configuration, as lint does.
 * @returns each refused file with the rules that refuse it
 */
function refusals(): ReadonlyMap<string, readonly string[]> {
  mkdirSync(join(root, 'dist'), { recursive: true });
  const tree = mkdtempSync(join(root, 'dist', 'architecture-'));
  const write = (file: string, source: string): void => {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), source);
  };
  try {
    for (const file of ['package.json', 'tsconfig.json', 'test/verify/package.json', 'test/verify/tsconfig.json'])
      cpSync(join(root, file), join(tree, file));
    for (const file of targets) write(file, 'export const nothing = 0;\n');
    write('libs/session/src/cycle-b.ts', CIRCULAR);
    for (const [file, specifier] of [...refusedSamples, ...acceptedSamples])
      write(file, `import * as imported from '${specifier}';\nexport const used = imported;\n`);
    for (const { file, source } of forms) write(file, source);
    const cruiser = join(root, 'test/verify/node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
    const config = ['--config', join(root, '.dependency-cruiser.mjs'), '--output-type', 'json'];
    const { stdout, stderr } = spawnSync(process.execPath, [cruiser, ...config, 'apps', 'libs', 'test'], {
      cwd: tree,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    if (stdout === '') throw new Error(stderr);
    const { summary } = JSON.parse(stdout) as {
      summary: { violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[] };
    };
    const byFile = Map.groupBy(summary.violations, ({ from }) => from);
    return new Map([...byFile].map(([file, violations]) => [file, violations.map(({ rule }) => rule.name)]));
  } finally {
    rmSync(tree, { recursive: true });
  }
}

const foldersOf = (kind: string): string[] =>
  readdirSync(join(root, kind), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);

describe('the import boundaries', () => {
  let refused: ReturnType<typeof refusals>;
  beforeAll(() => {
    refused = refusals();
  });

  it.each(refusedSamples)('refuse to %s the import of %s: %s', (file, _specifier, rule) => {
    expect(refused.get(file)).toContain(rule);
  });

  it.each(acceptedSamples)('let %s import %s', (file) => {
    expect(refused.get(file) ?? []).toEqual([]);
  });

  it.each(forms)('see an import however it is written: $source', ({ file }) => {
    expect(refused.get(file)).toContain('jose-only-in-its-home');
  });

  it('have a sample for each rule that no table generates', () => {
    const generated = /imports?-only-(?:its-layer|features)|-only-in-(?:its|their)-home$/;
    const written = tables.rules.map(({ name }) => name).filter((name) => !generated.test(name));
    expect(written.filter((name) => !refusedSamples.some(([, , rule]) => rule === name))).toEqual([]);
  });

  it('give every package of a production install a home', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object };
    const homeless = Object.keys(dependencies).filter(
      (name) => !(name in tables.soleImporters) && !(name.replace(/\/.*/, '') in tables.soleImporters),
    );
    expect(homeless).toEqual([]);
  });

  it('know every folder of the broker, from the ground up, so that no two of them can need each other', () => {
    const features = Object.entries(tables.brokerFeatures);
    expect(features.map(([feature]) => feature).toSorted()).toEqual(foldersOf('apps/broker/src').toSorted());
    const upward = features.flatMap(([feature, below], index) =>
      below.filter((other) => features.findIndex(([name]) => name === other) >= index).map((other) => [feature, other]),
    );
    expect(upward).toEqual([]);
  });
});
