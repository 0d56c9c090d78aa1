import { appLayers, brokerFeatures, builtinHomes, domainLibs, libLayers, soleImporters } from './tools/layers.mjs';

const SPEC = '\\.(int-|e2e-|verify-)?spec\\.ts$';
const TEST_CODE = `(${SPEC})|(^test/)|(^libs/testing/)`;

const names = (deps) => deps.join(', ') || 'nothing';
const folders = (deps) => deps.map((dep) => `^libs/${dep}/`);
const anyOf = (words) => `(${words.join('|')})`;

const layerRules = (kind, layers, own) =>
  Object.entries(layers).flatMap(([name, deps]) => [
    {
      name: `${name}-${own.label}imports-only-its-layer`,
      severity: 'error',
      comment: `${kind}/${name} may import these libs: ${names(deps)}. Move the code, or declare a port in the consumer.`,
      from: { path: `^${kind}/${name}/`, pathNot: SPEC },
      to: { path: '^libs/', pathNot: folders([...own.reach(name), ...deps]) },
    },
    {
      name: `${name}-${own.label}specs-import-only-its-layer-and-testing`,
      severity: 'error',
      comment: `Specs of ${kind}/${name} may import these libs: ${names([...deps, 'testing'])}.`,
      from: { path: `^${kind}/${name}/.*${SPEC}` },
      to: { path: '^libs/', pathNot: folders([...own.reach(name), ...deps, 'testing']) },
    },
  ]);

const libRules = layerRules('libs', libLayers, { label: '', reach: (lib) => [lib] });
const appRules = layerRules('apps', appLayers, { label: 'app-', reach: () => [] });

const BROKER = '^apps/broker/src/';
const brokerFolders = (features) => features.map((feature) => `${BROKER}${feature}/`);

const featureRules = [
  ...Object.entries(brokerFeatures).map(([feature, below]) => ({
    name: `broker-${feature}-imports-only-features-below`,
    severity: 'error',
    comment: `${feature}/ of the broker may import these of its folders: ${names(below)}. Move the code to the folder whose word it is.`,
    from: { path: `${BROKER}${feature}/` },
    to: { path: `${BROKER}[^/]+/`, pathNot: brokerFolders([feature, ...below]) },
  })),
  {
    name: 'broker-features-not-to-what-puts-them-together',
    severity: 'error',
    comment: 'The files beside the folders of the broker know all of them. Move what a folder needs into a folder.',
    from: { path: `${BROKER}[^/]+/` },
    to: { path: `${BROKER}[^/]+$` },
  },
  {
    name: 'every-folder-of-the-broker-is-in-the-table',
    severity: 'error',
    comment: 'A folder of the broker that tools/layers.mjs does not name has no rules. Add it to the table.',
    from: { path: `${BROKER}(?!${anyOf(Object.keys(brokerFeatures))}/)[^/]+/` },
    to: {},
  },
];

const soleImporterRules = Object.entries(soleImporters).map(([library, homes]) => ({
  name: `${library.replace('@', 'scope-')}-only-in-its-home`,
  severity: 'error',
  comment: `Only ${homes.join(' and ')} may import ${library}. Use what that folder exports.`,
  from: { path: '^(apps|libs)/', pathNot: [...homes.map((home) => `^${home}/`), SPEC] },
  to: { path: `(^|/)node_modules/${library}/` },
}));

const builtinRules = Object.entries(builtinHomes).map(([group, { modules, homes }]) => ({
  name: `${group}-built-ins-only-in-their-home`,
  severity: 'error',
  comment: `Only ${homes.join(' and ') || 'nobody'} may import ${modules.join(', ')}. Take a port of that home instead.`,
  from: { path: '^(apps|libs)/', pathNot: [...homes.map((home) => `^${home}/`), TEST_CODE] },
  to: { path: `^(node:)?${anyOf(modules)}$`, dependencyTypes: ['core'] },
}));

const listRules = Object.entries({ libs: libLayers, apps: appLayers }).map(([kind, layers]) => ({
  name: `every-folder-of-${kind}-is-in-the-table`,
  severity: 'error',
  comment: `A folder of ${kind}/ that tools/layers.mjs does not name has no rules. Add it to the table.`,
  from: { path: `^${kind}/(?!${anyOf(Object.keys(layers))}/)` },
  to: {},
}));

const directionRules = [
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
    comment: 'Import #libs/<name>, not a file inside it. Only the explorer goes to the steps themselves.',
    from: { path: '^(apps|test)/', pathNot: '^test/protocol/' },
    to: { path: '^libs/([^/]+)/(?!src/index\\.ts$)' },
  },
  {
    name: 'libs-enter-libs-by-the-index',
    severity: 'error',
    comment: 'Import #libs/<name>, not a file inside it.',
    from: { path: '^libs/([^/]+)/' },
    to: { path: '^libs/([^/]+)/(?!src/index\\.ts$)', pathNot: '^libs/$1/' },
  },
];

const purityRules = [
  {
    name: 'domain-imports-no-package',
    severity: 'error',
    comment: 'The domain gets store, gateway and events through ports. Declare one in libs/session.',
    from: { path: `^libs/${anyOf(domainLibs)}/`, pathNot: SPEC },
    to: { path: '(^|/)node_modules/' },
  },
  {
    name: 'domain-imports-no-built-in',
    severity: 'error',
    comment: 'The domain gets time, randomness and I/O through ports. Declare one in libs/session.',
    from: { path: `^libs/${anyOf(domainLibs)}/`, pathNot: SPEC },
    to: { dependencyTypes: ['core'] },
  },
  {
    name: 'testing-only-in-tests',
    severity: 'error',
    comment: 'libs/testing is for specs and test/; production code must not depend on fakes.',
    from: { path: '^(apps|libs)/', pathNot: TEST_CODE },
    to: { path: '^libs/testing/' },
  },
  {
    name: 'production-imports-no-spec',
    severity: 'error',
    comment: 'A spec is not built. Move what both need into a file of its own.',
    from: { pathNot: SPEC },
    to: { path: SPEC },
  },
  {
    name: 'sources-not-to-test-folder',
    severity: 'error',
    comment: 'test/ looks at apps and libs from outside. Move shared test code into libs/testing.',
    from: { path: '^(apps|libs)/' },
    to: { path: '^test/' },
  },
  {
    name: 'sources-not-to-output',
    severity: 'error',
    comment: 'dist/ is output: an import of it would pass every rule about its source. Import the source.',
    from: { path: '^(apps|libs)/' },
    to: { path: '^dist/' },
  },
  {
    name: 'production-imports-no-development-package',
    severity: 'error',
    comment: 'A production install leaves devDependencies out. Move the package to dependencies, or the code to tests.',
    from: { path: '^(apps|libs)/', pathNot: TEST_CODE },
    to: { dependencyTypes: ['npm-dev'] },
  },
  {
    name: 'packages-are-declared',
    severity: 'error',
    comment: 'A package that only another package brings can vanish or change. Declare it in package.json.',
    from: {},
    to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
  },
  {
    name: 'status-page-imports-only-itself',
    severity: 'error',
    comment: 'The browser is served the files of this folder and nothing else. Copy what is small, or send it as data.',
    from: { path: '^libs/status-page/src/page/.*\\.js$' },
    to: { pathNot: '^libs/status-page/src/page/' },
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
  forbidden: [
    ...directionRules,
    ...purityRules,
    ...listRules,
    ...libRules,
    ...appRules,
    ...featureRules,
    ...soleImporterRules,
    ...builtinRules,
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^dist/'] },
    tsPreCompilationDeps: true,
    // Of the packages of test/verify, and of the names of libs from there, where package.json does not give them.
    combinedDependencies: true,
    tsConfig: { fileName: 'test/verify/tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
};
