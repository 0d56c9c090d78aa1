// What `npm run verify` consists of. Each `*.verify-spec.ts` belongs to exactly one part: a test holds that.

/** Where the suites are that the patterns below choose from. */
const SUITES = 'test/';

/**
 * A part that consists of tests. Suites that start programs run one after the other, those that only compute two at a
 * time.
 */
function suites(name, proves, { of, workers = 1, ...more }) {
  const patterns = of.map((pattern) => SUITES + pattern);
  const quoted = patterns.map((pattern) => `'${pattern}'`).join(' ');
  const command = `npm run -s jest -- --testPathPatterns ${quoted} --selectProjects verify --maxWorkers ${workers}`;
  return { name, proves, command, suites: patterns, ...more };
}

/** A part that makes small mistakes in a lib, each of them or one in so many. */
const mutation = (target, every = 1) => ({
  name: `mutation-${target}`,
  proves: `small mistakes in libs/${target} are noticed${every === 1 ? '' : `, one in ${every} of them`}`,
  command: `npm run -s mutation -- ${target} --every ${every} --concurrency 2`,
  packages: true,
});

/**
 * @typedef {object} Part
 * @property {string} name
 * @property {string} proves in a few words
 * @property {string} command of a shell, in the project's folder
 * @property {string[]} [suites] patterns of the test files that it runs
 * @property {number} [seconds] that it takes on two idle cores, if less than three minutes: it is also run by turns
 * @property {string} [needs] beside the programs of tools/test-tools.json
 * @property {true} [packages] it loads packages that only verify needs
 */

/** @type {readonly Part[]} in the order in which they run: quick ones first */
export const parts = [
  suites('trust', 'whom Node.js trusts', { of: ['e2e/whom-to-trust'], seconds: 2 }),
  suites('compose', 'balancer and keys of the compose file, units of systemd', {
    of: ['deploy/(balancer|compose-keys|systemd)'],
    seconds: 2,
  }),
  suites('contract', 'the API as its document says it, and the document by a linter', {
    of: ['verify/(contract|client-package)/'],
    workers: 2,
    packages: true,
    seconds: 4,
  }),
  suites('ports', 'hostile octets to every port', { of: ['fuzz/'], seconds: 14 }),
  suites('image', 'the files of the image, run as its user', { of: ['deploy/image'], seconds: 29 }),
  suites('release', 'a release, made twice, and what is refused', {
    of: ['deploy/release', 'verify/deploy/release'],
    packages: true,
    seconds: 15,
  }),
  suites('chromium', 'the status page in a browser, and its accessibility', {
    of: ['verify/status-page/'],
    packages: true,
    seconds: 67,
  }),
  suites('proxies', 'forward auth by nginx, Caddy and HAProxy', { of: ['egress/forward-auth'], seconds: 83 }),
  suites('manifests', 'the chart, and what is rendered of it', {
    of: ['verify/kubernetes/', 'verify/deploy/(compose-schema|dashboard)'],
    workers: 2,
    packages: true,
    seconds: 23,
  }),
  suites('languages', 'the examples of API and egress, in every language', {
    of: ['e2e/api-examples', 'egress/plain-examples'],
    seconds: 51,
  }),
  suites('guides', 'the programs of the guides, and what they do when something fails', {
    of: ['e2e/guides'],
    seconds: 60,
  }),
  suites('hsm', 'client keys in an HSM, played by SoftHSM', { of: ['hsm/'], seconds: 31 }),
  suites('prometheus', 'rules and a dozen nights on call on a real Prometheus, passed on by Alertmanager', {
    of: ['observability/(alertmanager|nights)', 'deploy/alerts'],
  }),
  suites('dashboard', 'what the dashboard shows, on a real Prometheus', { of: ['observability/health'], seconds: 60 }),
  suites('replicas', 'the health of a replica that is blocked', {
    of: ['replicas/'],
    seconds: 20,
  }),
  {
    name: 'redis',
    proves: 'replicas on a real Redis that fails: some rows of the matrix',
    command: 'npm run -s faults -- --only killed,frozen-3s,flushall,out-of-memory,sentinel-lost,cut-off',
    seconds: 110,
  },
  suites('processes', 'payments over a hand-over', {
    of: ['e2e/handover'],
    seconds: 45,
  }),
  suites(
    'upgrade',
    'from the last release and back, under payments: programs, records in Redis, configuration, chart',
    {
      of: ['verify/upgrade/'],
      packages: true,
      seconds: 120,
      needs: 'the registry of packages, if the lock file has changed since',
    },
  ),
  suites('rules', 'each rule of lint and of imports refuses what it is for', {
    of: ['verify/architecture/'],
    packages: true,
    seconds: 6,
  }),
  suites('explorer', 'two replicas under each single fault, and each planted mistake is found', {
    of: ['protocol/'],
    seconds: 90,
  }),
  {
    name: 'node-26',
    proves: 'ports, connections and client on the next Node.js',
    seconds: 55,
    command:
      "NODE_VERSION=26.10.0 npm run -s on-node -- --testPathPatterns 'libs/(edge|outbound|tls|client)/' 'test/e2e/whom-to-trust'",
    needs: 'the registry of packages',
  },
  {
    name: 'explore',
    proves: 'interleavings of three replicas with one fault, and of two with any two faults, for ten minutes each',
    command:
      'npm run -s explore -- --replicas 3 --faults 1 && npm run -s explore -- --replicas 2 --faults 2 --by-pairs',
  },
  {
    name: 'client',
    proves: 'the client package on Node.js 20 to 26, in Jest, Nest and bundlers',
    command: 'npm run -s prove:client',
    needs: 'the registry of packages',
  },
  {
    name: 'simulation',
    proves: '10 000 seeds of faults on virtual time',
    command: 'npm run -s simulate:faults -- --seed 1 --seeds 10000 --for 60s --all',
  },
  {
    name: 'faults',
    proves: 'the matrix: real replicas, Redis and gateway under each fault',
    command: 'npm run -s faults',
  },
  suites('containers', 'image and compose file on a Docker engine', {
    of: ['containers/'],
    needs: 'a Docker engine with compose, and the registry of images',
  }),
  {
    name: 'properties',
    proves: 'what holds for all values of a kind, for two hundred times as many of them as a gate draws',
    command:
      "TEST_DRAWS=200 npm run -s jest -- --selectProjects unit --testPathPatterns $(git grep -l fast-check -- '*.spec.ts')",
  },
  mutation('jwe'),
  mutation('store'),
  // There are four thousand of them, and some seven hundred in the scripts: all of them take hours.
  mutation('session', 12),
  {
    name: 'mutation-lua',
    proves: 'small mistakes in the Lua scripts are noticed, one in 4 of them',
    command: 'npm run -s mutation:lua -- --every 4',
  },
];
