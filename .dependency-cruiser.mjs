import { appLayers, domainLibs, libLayers, soleImporters } from './tools/layers.mjs';

const SPEC = '\\.(int-|e2e-)?spec\\.ts$';
const TEST_CODE = `(${SPEC})|(^test/)|(^libs/testing/)`;

const names = (deps) => deps.join(', ') || 'nothing';
const folders = (deps) => deps.map((dep) => `^libs/${dep}/`);

const libRules = Object.entries(libLayers).flatMap(([lib, deps]) => [
  {
    name: `${lib}-imports-only-its-layer`,
    severity: 'error',
    comment: `libs/${lib} may import: ${names(deps)}. Move the code, or declare a port in the consumer.`,
    from: { path: `^libs/${lib}/`, pathNot: SPEC },
    to: { path: '^libs/', pathNot: folders([lib, ...deps]) },
  },
  {
    name: `${lib}-specs-import-only-its-layer-and-testing`,
    severity: 'error',
    comment: `Specs of libs/${lib} may import: ${names([...deps, 'testing'])}.`,
    from: { path: `^libs/${lib}/.*${SPEC}` },
    to: { path: '^libs/', pathNot: folders([lib, ...deps, 'testing']) },
  },
]);

const appRules = Object.entries(appLayers).map(([app, deps]) => ({
  name: `${app}-app-imports-only-its-layer`,
  severity: 'error',
  comment: `apps/${app} may import these libs: ${names(deps)} (and testing, in specs).`,
  from: { path: `^apps/${app}/`, pathNot: SPEC },
  to: { path: '^libs/', pathNot: folders(deps) },
}));

const soleImporterRules = Object.entries(soleImporters).map(([library, homes]) => ({
  name: `${library.replace('@', '')}-only-in-its-home`,
  severity: 'error',
  comment: `Only ${homes.join(' and ')} may import ${library}. Use what that folder exports.`,
  from: { path: '^(apps|libs)/', pathNot: [...homes.map((home) => `^${home}/`), SPEC] },
  to: { path: `(^|/)node_modules/${library}/` },
}));

const generalRules = [
  {
    name: 'no-circular',
    severity: 'error',
    comment: 'A cycle has no order in which to read it. Move the shared part into a file of its own.',
    from: {},
    to: { circular: true },
  },
  {
    name: 'libs-not-to-apps',
    severity: 'error',
    comment: 'Libs serve apps, never the reverse. Declare a port in the lib.',
    from: { path: '^libs/' },
    to: { path: '^apps/' },
  },
  {
    name: 'apps-not-to-other-apps',
    severity: 'error',
    comment: 'Apps meet over HTTP only. Move shared code into a lib.',
    from: { path: '^apps/([^/]+)/' },
    to: { path: '^apps/', pathNot: '^apps/$1/' },
  },
  {
    name: 'apps-enter-libs-by-the-index',
    severity: 'error',
    comment: 'Import #libs/<name>, not a file inside it.',
    from: { path: '^(apps|test)/' },
    to: { path: '^libs/([^/]+)/src/(?!index\\.ts$)' },
  },
  {
    name: 'libs-enter-libs-by-the-index',
    severity: 'error',
    comment: 'Import #libs/<name>, not a file inside it.',
    from: { path: '^libs/([^/]+)/' },
    to: { path: '^libs/([^/]+)/src/(?!index\\.ts$)', pathNot: '^libs/$1/' },
  },
  {
    name: 'testing-only-in-tests',
    severity: 'error',
    comment: 'libs/testing is for specs and test/; production code must not depend on fakes.',
    from: { path: '^(apps|libs)/', pathNot: TEST_CODE },
    to: { path: '^libs/testing/' },
  },
  {
    name: 'domain-does-no-io',
    severity: 'error',
    comment: 'The domain gets time, randomness, store, gateway and events through ports.',
    from: { path: `^libs/(${domainLibs.join('|')})/`, pathNot: SPEC },
    to: { dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional', 'npm-peer'] },
  },
  {
    name: 'not-resolvable',
    severity: 'error',
    comment: 'An import that does not resolve would slip through every other rule.',
    from: {},
    to: { couldNotResolve: true },
  },
];

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [...generalRules, ...libRules, ...appRules, ...soleImporterRules],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
};
