/**
 * The one table of import directions. Lint (.dependency-cruiser.mjs) is generated from it, and
 * test/architecture shows each rule refusing a deliberately wrong import.
 */

const everyLib = [
  'errors',
  'clock',
  'session',
  'causes',
  'jwe',
  'outbound',
  'gateway',
  'store',
  'telemetry',
  'configuration',
];

/** Which of our libs a lib may import. */
export const libLayers = {
  errors: [],
  clock: [],
  session: ['errors', 'clock'],
  causes: ['session', 'errors', 'clock'],
  jwe: ['errors'],
  pkcs11: ['jwe', 'errors', 'clock'],
  tls: [],
  outbound: ['tls', 'errors', 'clock'],
  issuer: ['session', 'causes', 'outbound', 'errors', 'clock'],
  gateway: ['session', 'jwe', 'outbound', 'errors', 'clock'],
  store: ['session', 'causes', 'jwe', 'tls', 'errors', 'clock'],
  telemetry: ['errors', 'clock'],
  configuration: ['session', 'jwe', 'pkcs11', 'errors', 'clock'],
  program: ['errors'],
  edge: ['configuration', 'tls', 'errors', 'clock'],
  'status-page': ['session', 'causes', 'errors', 'clock'],
  testing: ['session', 'errors', 'clock'],
  client: [],
};

/** Which of our libs an app may import. The sandbox shares no protocol code with the broker on purpose. */
export const appLayers = {
  broker: [...everyLib, 'issuer', 'program', 'edge', 'status-page'],
  cli: [...everyLib, 'issuer', 'pkcs11', 'program', 'client'],
  egress: ['client', 'jwe', 'outbound', 'program', 'edge', 'configuration', 'telemetry', 'errors', 'clock'],
  sandbox: ['telemetry', 'errors', 'clock'],
};

/**
 * Which of the broker's folders each of them may import, from the ground up: each names only those above it in this
 * list. The files next to the folders wire everything together, and no folder imports them.
 */
export const brokerFeatures = {
  platform: [],
  docs: [],
  configuration: ['platform'],
  renewal: ['platform', 'configuration'],
  auth: ['platform', 'configuration'],
  audit: ['platform', 'configuration'],
  http: ['platform', 'docs', 'configuration', 'auth', 'audit'],
  sessions: ['platform', 'docs', 'configuration', 'renewal', 'auth', 'audit', 'http'],
  events: ['platform', 'docs', 'configuration', 'renewal', 'auth', 'audit', 'http', 'sessions'],
  payloads: ['platform', 'docs', 'renewal', 'auth', 'audit', 'http'],
  management: ['platform', 'configuration', 'renewal', 'auth', 'http', 'sessions', 'events'],
  reload: ['configuration', 'renewal', 'events'],
};

/** The only places that may import an outside library. Replacing that library then touches one folder. */
export const soleImporters = {
  pkcs11js: ['libs/pkcs11'],
  jose: ['libs/jwe', 'apps/broker/src/auth'],
  'lru-cache': ['apps/broker/src/auth'],
  undici: ['libs/outbound'],
  ioredis: ['libs/store'],
  pino: ['libs/telemetry'],
  '@opentelemetry': ['libs/telemetry'],
  yaml: ['libs/configuration'],
  'class-validator': ['apps/broker'],
  'class-transformer': ['apps/broker'],
  commander: ['apps/cli'],
  '@nestjs': ['apps/broker'],
  fastify: ['apps/broker', 'apps/egress', 'apps/sandbox'],
  '@fastify': ['apps/broker', 'apps/sandbox'],
  rxjs: ['apps/broker'],
  'reflect-metadata': ['apps/broker'],
};

/**
 * Libs that get time, randomness, store, gateway and events through ports: they import no package and no built-in
 * module.
 */
export const domainLibs = ['errors', 'clock', 'session'];

/**
 * Built-in modules that only their homes may import: anywhere else each would bypass a port. A group without homes is
 * closed to all, because what it offers is either a global of the same name (left to ESLint) or a way around these very
 * rules.
 */
export const builtinHomes = {
  time: { modules: ['timers', 'timers/promises'], homes: ['libs/clock'] },
  // It provides the time, and the state of the runtime, which the metrics show.
  runtime: { modules: ['perf_hooks'], homes: ['libs/clock', 'libs/telemetry'] },
  network: {
    modules: ['http', 'https', 'http2', 'tls', 'dgram', 'dns', 'dns/promises'],
    // Those who test a service with the client get a broker to talk to.
    homes: [
      'libs/outbound',
      'libs/issuer',
      'libs/gateway',
      'libs/edge',
      'libs/client/src/testing',
      'apps/broker',
      'apps/egress',
      'apps/sandbox',
      'apps/cli',
    ],
  },
  // The configuration uses it to tell addresses from names; it opens no socket.
  sockets: {
    modules: ['net'],
    homes: [
      'libs/client/src/testing',
      'libs/outbound',
      'libs/gateway',
      'libs/edge',
      'libs/configuration',
      'apps/broker',
      'apps/egress',
      'apps/sandbox',
      'apps/cli',
    ],
  },
  files: {
    modules: ['fs', 'fs/promises'],
    // The client reads the one file that holds its caller's token, the fetch from an issuer the one that holds its own,
    // and the tokens' process those that hold a PIN.
    homes: [
      'libs/configuration',
      'libs/pkcs11',
      'libs/issuer',
      'libs/program',
      'libs/telemetry',
      'libs/client',
      'libs/status-page',
      'apps/broker',
      'apps/egress',
      'apps/sandbox',
      'apps/cli',
    ],
  },
  processes: { modules: ['child_process', 'cluster'], homes: ['apps/cli', 'libs/pkcs11'] },
  // Used to read the maps from a bundle to its sources.
  modules: { modules: ['module'], homes: ['libs/program'] },
  loopholes: { modules: ['process', 'vm', 'inspector', 'repl', 'worker_threads'], homes: [] },
};
