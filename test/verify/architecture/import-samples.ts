import type { RuleTables } from '../../architecture/rule-tables.js';

/** One file with one import, and the rule that must refuse it; without a rule, the import must be accepted. */
export interface ImportSample {
  readonly file: string;
  readonly source: string;
  readonly refusedBy?: string;
}

const sample = (file: string, specifier: string, refusedBy?: string): ImportSample => ({
  file,
  source: `import * as imported from '${specifier}';\nexport const used = imported;\n`,
  ...(refusedBy === undefined ? {} : { refusedBy }),
});

const words = (name: string): string => name.replaceAll(/[^a-z0-9]+/g, '-');

/** Every pair of the import table, from production code and from a spec: what it does not allow must be refused. */
export function layerSamples({ libLayers, appLayers }: RuleTables): ImportSample[] {
  const pairsOf = (home: string, label: string, deps: readonly string[]): ImportSample[] =>
    Object.keys(libLayers)
      .filter((target) => home !== `libs/${target}`)
      .flatMap((target) => [
        sample(
          `${home}/src/to-${target}.ts`,
          `#libs/${target}`,
          deps.includes(target) ? undefined : `${label}imports-only-its-layer`,
        ),
        sample(
          `${home}/src/to-${target}.spec.ts`,
          `#libs/${target}`,
          [...deps, 'testing'].includes(target) ? undefined : `${label}specs-import-only-its-layer-and-testing`,
        ),
      ]);
  return [
    ...Object.entries(libLayers).flatMap(([lib, deps]) => pairsOf(`libs/${lib}`, `${lib}-`, deps)),
    ...Object.entries(appLayers).flatMap(([app, deps]) => pairsOf(`apps/${app}`, `${app}-app-`, deps)),
  ];
}

/** Every pair of the broker's folders, and from each of them to the files that wire them together. */
export function featureSamples({ brokerFeatures }: RuleTables): ImportSample[] {
  const features = Object.keys(brokerFeatures);
  return Object.entries(brokerFeatures).flatMap(([feature, below]) => [
    ...features
      .filter((target) => target !== feature)
      .map((target) =>
        sample(
          `apps/broker/src/${feature}/to-${target}.ts`,
          `../${target}/target.js`,
          below.includes(target) ? undefined : `broker-${feature}-imports-only-features-below`,
        ),
      ),
    sample(`apps/broker/src/${feature}/to-the-top.ts`, '../main.js', 'broker-features-not-to-what-puts-them-together'),
  ]);
}

/** A scope is not a package: one of its packages stands for it. */
const packageOfScope: Readonly<Record<string, string>> = {
  '@nestjs': '@nestjs/common',
  '@fastify': '@fastify/static',
  '@opentelemetry': '@opentelemetry/api',
};

/** Each outside library from each of our folders: only its homes may import it. */
export function soleImporterSamples({ libLayers, appLayers, soleImporters, domainLibs }: RuleTables): ImportSample[] {
  const folders = [
    ...Object.keys(libLayers)
      .filter((lib) => !domainLibs.includes(lib))
      .map((lib) => `libs/${lib}`),
    ...Object.keys(appLayers).map((app) => `apps/${app}`),
  ];
  return Object.entries(soleImporters).flatMap(([library, homes]) =>
    folders.map((folder) =>
      sample(
        `${folder}/src/package-${words(library)}.ts`,
        packageOfScope[library] ?? library,
        homes.includes(folder) ? undefined : `${library.replace('@', 'scope-')}-only-in-its-home`,
      ),
    ),
  );
}

/** Each built-in module that has a home, from its homes and from outside them, with and without `node:`. */
export function builtinSamples({ libLayers, appLayers, builtinHomes, domainLibs }: RuleTables): ImportSample[] {
  const folders = [
    ...Object.keys(libLayers)
      .filter((lib) => !domainLibs.includes(lib) && lib !== 'testing')
      .map((lib) => `libs/${lib}`),
    ...Object.keys(appLayers).map((app) => `apps/${app}`),
  ];
  return Object.entries(builtinHomes).flatMap(([group, { modules, homes }]) =>
    folders.flatMap((folder) =>
      modules.flatMap((module) =>
        ['node:', ''].map((prefix) =>
          sample(
            `${folder}/src/${prefix === '' ? 'bare' : 'node'}-${words(module)}.ts`,
            `${prefix}${module}`,
            homes.includes(folder) ? undefined : `${group}-built-ins-only-in-their-home`,
          ),
        ),
      ),
    ),
  );
}

/** An import is an import, however it is written. */
export function formSamples(): ImportSample[] {
  const forms = {
    type: `export type { JWK } from 'jose';`,
    'type-of': `export const form: import('jose').JWK = {};`,
    dynamic: `export const form = () => import('jose');`,
    template: 'export const form = () => import(`jose`);',
    require: `import jose = require('jose');\nexport const form = jose;`,
    'side-effect': `import 'jose';\nexport {};`,
  };
  return Object.entries(forms).map(([form, source]) => ({
    file: `libs/store/src/form-${form}.ts`,
    source,
    refusedBy: 'jose-only-in-its-home',
  }));
}

/** The rules that no table generates, each with at least one import that breaks it. */
export function handWrittenSamples({ domainLibs }: RuleTables): ImportSample[] {
  return [
    sample('libs/session/src/cycle-a.ts', './cycle-b.js', 'no-circular'),
    sample('libs/session/src/to-app.ts', '../../../apps/broker/src/main.js', 'libs-not-to-apps'),
    sample('apps/broker/src/to-other-app.ts', '../../sandbox/src/main.js', 'apps-not-to-other-apps'),
    sample('apps/cli/src/past-index.ts', '../../../libs/session/src/inner.js', 'apps-enter-libs-by-the-index'),
    sample('test/e2e/past-index.e2e-spec.ts', '../../libs/session/src/inner.js', 'apps-enter-libs-by-the-index'),
    sample('apps/cli/src/beside-src.ts', '../../../libs/session/fixtures/data.js', 'apps-enter-libs-by-the-index'),
    sample('libs/gateway/src/past-index.ts', '../../session/src/inner.js', 'libs-enter-libs-by-the-index'),
    sample('libs/gateway/src/past-index.spec.ts', '../../session/src/inner.js', 'libs-enter-libs-by-the-index'),
    sample('apps/broker/src/fakes.ts', '#libs/testing', 'testing-only-in-tests'),
    sample('libs/store/src/to-spec.ts', './to-session.spec.js', 'production-imports-no-spec'),
    sample('libs/store/src/to-test.ts', '../../../test/e2e/support.js', 'sources-not-to-test-folder'),
    sample('libs/store/src/to-dist.ts', '../../../dist/libs/jwe/src/index.js', 'sources-not-to-output'),
    sample('libs/store/src/dev-package.ts', 'typescript', 'production-imports-no-development-package'),
    sample('libs/store/src/undeclared.ts', 'swagger-ui-dist', 'packages-are-declared'),
    sample('test/e2e/undeclared.e2e-spec.ts', 'swagger-ui-dist', 'packages-are-declared'),
    sample('libs/status-page/src/page/out.js', '../index.js', 'status-page-imports-only-itself'),
    sample('libs/store/src/missing.ts', './nowhere.js', 'not-resolvable'),
    sample('libs/unlisted/src/index.ts', '#libs/errors', 'every-folder-of-libs-is-in-the-table'),
    sample('apps/unlisted/src/main.ts', '#libs/errors', 'every-folder-of-apps-is-in-the-table'),
    sample('apps/broker/src/unlisted/inner.ts', '#libs/errors', 'every-folder-of-the-broker-is-in-the-table'),
    ...domainLibs.flatMap((lib) => [
      sample(`libs/${lib}/src/package.ts`, 'yaml', 'domain-imports-no-package'),
      sample(`libs/${lib}/src/undeclared.ts`, 'swagger-ui-dist', 'domain-imports-no-package'),
      sample(`libs/${lib}/src/built-in.ts`, 'node:crypto', 'domain-imports-no-built-in'),
    ]),
    // Correct ones, so that a rule that refuses everything is noticed too.
    sample('test/e2e/right.e2e-spec.ts', '#libs/session'),
    sample('test/e2e/fakes.e2e-spec.ts', '#libs/testing'),
    sample('libs/session/src/right.spec.ts', 'fast-check'),
    sample('libs/gateway/src/right.ts', './to-session.js'),
    sample('test/protocol/right.ts', '../../libs/session/src/inner.js'),
    sample('test/verify/right.ts', '#libs/session'),
  ];
}

const empty = 'export const nothing = 0;\n';

/** What the samples point at. */
export const targetFiles: Readonly<Record<string, string>> = {
  'apps/broker/src/main.ts': empty,
  'apps/sandbox/src/main.ts': empty,
  'libs/session/src/inner.ts': empty,
  'libs/session/src/cycle-b.ts': `export * from './cycle-a.js';\n`,
  'libs/session/fixtures/data.ts': empty,
  'test/e2e/support.ts': empty,
  'dist/libs/jwe/src/index.js': empty,
};

/** The files through which each lib and each folder of the broker is imported. */
export const entryFiles = ({ libLayers, brokerFeatures }: RuleTables): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [
      ...Object.keys(libLayers).map((lib) => `libs/${lib}/src/index.ts`),
      ...Object.keys(brokerFeatures).map((feature) => `apps/broker/src/${feature}/target.ts`),
    ].map((file) => [file, empty]),
  );
