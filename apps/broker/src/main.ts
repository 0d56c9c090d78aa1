import 'reflect-metadata';
import { SystemClock } from '#libs/clock';
import { ConfigurationSource } from '#libs/configuration';
import { BrokerError, describeError } from '#libs/errors';
import { createLogger, startTelemetry } from '#libs/telemetry';
import type { RunningBroker } from './broker.js';
import { VERSION } from './version.js';

/** Renewals in flight may end within this; then their calls are aborted and their leases freed. */
const GRACE_MS = 10_000;
const FAILED = 1;

async function start(): Promise<RunningBroker> {
  const file = process.env['BROKER_CONFIG'];
  if (file === undefined || file === '') {
    throw new BrokerError('configuration_invalid', {
      detail: 'set BROKER_CONFIG to the path of the configuration file',
    });
  }
  const clock = new SystemClock();
  const source = new ConfigurationSource(file, process.env);
  const configuration = await source.load();
  const logger = createLogger({ name: 'broker', level: configuration.log.level });
  for (const warning of configuration.warnings) logger.warn(warning, 'configuration warning');
  const telemetry = startTelemetry({
    serviceName: 'session-broker',
    serviceVersion: VERSION,
    logger,
    environment: process.env,
  });
  // Loaded only now: what is observed has to be loaded after the observer.
  const { startBroker } = await import('./broker.js');
  const setLogLevel = logger.setLevel.bind(logger);
  return await startBroker({ configuration, source, setLogLevel, clock, logger, telemetry });
}

/** The first signal ends everything in order, also while it is still starting; the second ends it at once. */
function stopOnSignal(starting: Promise<RunningBroker>): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(FAILED);
    stopping = true;
    starting
      .then((broker) => broker.close(GRACE_MS))
      .then(
        () => process.exit(0),
        (error: unknown) => fail('did not stop cleanly', error),
      );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** As servers have done for ever: read the configuration again. While the broker starts, it is read anyway. */
function reloadOnHangUp(starting: Promise<RunningBroker>): void {
  process.on('SIGHUP', () => {
    starting.then(
      (broker) => broker.reload(),
      () => undefined,
    );
  });
}

function fail(what: string, error: unknown): never {
  process.stderr.write(`session-broker ${what}: ${describeError(error)}\n`);
  process.exit(FAILED);
}

const starting = start();
stopOnSignal(starting);
reloadOnHangUp(starting);
starting.catch((error: unknown) => fail('cannot start', error));
