/**
 * The one table of import directions. Lint (.dependency-cruiser.mjs) is generated from it, and
 * test/architecture shows each rule refusing a deliberately wrong import.
 */

const everyLib = ['errors', 'clock', 'session', 'jwe', 'gateway', 'store', 'telemetry', 'configuration'];

/** Which of our libs a lib may import. */
export const libLayers = {
  errors: [],
  clock: [],
  session: ['errors', 'clock'],
  jwe: ['errors'],
  gateway: ['session', 'jwe', 'errors', 'clock'],
  store: ['session', 'jwe', 'errors', 'clock'],
  telemetry: ['errors', 'clock'],
  configuration: ['session', 'jwe', 'errors', 'clock'],
  testing: ['session', 'errors', 'clock'],
  client: [],
};

/** Which of our libs an app may import. The sandbox shares no protocol code with the broker on purpose. */
export const appLayers = {
  broker: everyLib,
  cli: everyLib,
  sandbox: ['telemetry', 'errors', 'clock'],
};

/** The only places that may import an outside library. A change of that library then touches one folder. */
export const soleImporters = {
  jose: ['libs/jwe'],
  undici: ['libs/gateway'],
  pino: ['libs/telemetry'],
  yaml: ['libs/configuration'],
  'class-validator': ['libs/configuration', 'apps/broker'],
  'class-transformer': ['libs/configuration', 'apps/broker'],
  commander: ['apps/cli'],
  '@nestjs': ['apps/broker'],
  fastify: ['apps/broker', 'apps/sandbox'],
};

/** Built-in modules that would give the domain I/O, time or randomness of its own. */
export const domainLibs = ['errors', 'clock', 'session'];
