import 'reflect-metadata';
import { SystemClock } from '#libs/clock';
import { loadConfiguration } from '#libs/configuration';
import { BrokerError, describeError } from '#libs/errors';
import { createLogger } from '#libs/telemetry';
import { type RunningBroker, startBroker } from './broker.js';

/** Renewals in flight may end within this; then their calls are aborted and their leases freed. */
const GRACE_MS = 10_000;
const CANNOT_START = 1;

async function start(): Promise<RunningBroker> {
  const file = process.env['BROKER_CONFIG'];
  if (file === undefined || file === '') {
    throw new BrokerError('configuration_invalid', {
      detail: 'set BROKER_CONFIG to the path of the configuration file',
    });
  }
  const clock = new SystemClock();
  const configuration = await loadConfiguration(file, process.env);
  const logger = createLogger({ name: 'broker', level: configuration.log.level });
  for (const warning of configuration.warnings) logger.warn(warning, 'configuration warning');
  const broker = await startBroker({ configuration, clock, logger });
  stopOnSignal(broker);
  return broker;
}

/** The first signal ends everything in order, the second at once. */
function stopOnSignal(broker: RunningBroker): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(CANNOT_START);
    stopping = true;
    broker.close(GRACE_MS).then(
      () => process.exit(0),
      (error: unknown) => fail('did not stop cleanly', error),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function fail(what: string, error: unknown): never {
  process.stderr.write(`session-broker ${what}: ${describeError(error)}\n`);
  process.exit(CANNOT_START);
}

start().catch((error: unknown) => fail('cannot start', error));
