import 'reflect-metadata';
import { SystemClock } from '#libs/clock';
import { ConfigurationSource } from '#libs/configuration';
import { BrokerError, describeError } from '#libs/errors';
import { JweThread } from '#libs/jwe';
import { createLogger, startTelemetry } from '#libs/telemetry';
import type { RunningBroker } from './broker.js';
import { VERSION } from './platform/version.js';

/** Renewals in flight may end within this; then their calls are aborted and their leases freed. */
const GRACE_MS = 10_000;
const ENDED = 0;
const FAILED = 1;

interface RunOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted once, when the broker is to end; it may be before it has started. */
  readonly stopping: AbortSignal;
  /** Told once what to do when the configuration is to be read again; before that it is about to be read anyway. */
  readonly onHangUp: (reload: () => void) => void;
}

/**
 * The life of the process, from its configuration to its last log line.
 * @returns its exit code: 0 when it has ended in order, 1 when it could not start or end, with one line on stderr
 */
export async function runBroker(options: RunOptions): Promise<number> {
  const jweWork = new JweThread();
  try {
    const broker = await start(options, jweWork);
    if (broker === undefined) return ENDED;
    options.onHangUp(() => void broker.reload());
    await aborted(options.stopping);
    return await stop(broker);
  } catch (error) {
    return fail('cannot start', error);
  } finally {
    await jweWork.close();
  }
}

/** @returns undefined when the broker is to end before anything of it runs */
async function start({ environment, stopping }: RunOptions, jweWork: JweThread): Promise<RunningBroker | undefined> {
  const file = environment['BROKER_CONFIG'];
  if (file === undefined || file === '') {
    throw new BrokerError('configuration_invalid', {
      detail: 'set BROKER_CONFIG to the path of the configuration file',
    });
  }
  const clock = new SystemClock();
  const source = new ConfigurationSource(file, environment);
  const configuration = await source.load();
  const logger = createLogger({ name: 'broker', level: configuration.log.level });
  for (const warning of configuration.warnings) logger.warn(warning, 'configuration warning');
  const telemetry = startTelemetry({
    serviceName: 'session-broker',
    serviceVersion: VERSION,
    logger,
    environment,
  });
  // Loaded only now: what is observed must be loaded after the observer.
  const { startBroker } = await import('./broker.js');
  if (stopping.aborted) return undefined;
  const setLogLevel = logger.setLevel.bind(logger);
  return await startBroker({ configuration, source, setLogLevel, clock, logger, telemetry, stopping, jweWork });
}

async function stop(broker: RunningBroker): Promise<number> {
  try {
    await broker.close(GRACE_MS);
    return ENDED;
  } catch (error) {
    return fail('did not stop cleanly', error);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function fail(what: string, error: unknown): number {
  process.stderr.write(`session-broker ${what}: ${describeError(error)}\n`);
  return FAILED;
}
