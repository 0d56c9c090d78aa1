import { SystemClock } from '#libs/clock';
import { EgressConfigurationSource } from '#libs/configuration';
import { BrokerError, describeError } from '#libs/errors';
import { createLogger, startTelemetry } from '#libs/telemetry';
import type { RunningEgress } from './egress.js';
import { VERSION } from './version.js';

const ENDED = 0;
const FAILED = 1;

interface RunOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted once, when the egress is to end; it may be before it has started. */
  readonly stopping: AbortSignal;
  /** Told once what to do when the configuration is to be read again; before that it is about to be read anyway. */
  readonly onHangUp: (reload: () => void) => void;
}

/**
 * The life of the process, from its configuration to its last log line.
 * @returns its exit code: 0 when it has ended in order, 1 when it could not start or end, with one line on stderr
 */
export async function runEgress(options: RunOptions): Promise<number> {
  try {
    const egress = await start(options);
    if (egress === undefined) return ENDED;
    options.onHangUp(() => void egress.reload());
    await aborted(options.stopping);
    return await stop(egress);
  } catch (error) {
    return fail('cannot start', error);
  }
}

/** @returns undefined when the egress is to end before anything of it runs */
async function start({ environment, stopping }: RunOptions): Promise<RunningEgress | undefined> {
  const file = environment['EGRESS_CONFIG'];
  if (file === undefined || file === '') {
    throw new BrokerError('configuration_invalid', {
      detail: 'set EGRESS_CONFIG to the path of the configuration file',
    });
  }
  const clock = new SystemClock();
  const source = new EgressConfigurationSource(file, environment);
  const configuration = await source.load();
  const logger = createLogger({ name: 'egress', level: configuration.log.level });
  for (const warning of configuration.warnings) logger.warn(warning, 'configuration warning');
  const telemetry = startTelemetry({
    serviceName: 'session-egress',
    serviceVersion: VERSION,
    logger,
    environment,
  });
  // Loaded only now: what is observed must be loaded after the observer.
  const { startEgress } = await import('./egress.js');
  if (stopping.aborted) return undefined;
  const setLogLevel = logger.setLevel.bind(logger);
  return await startEgress({ configuration, source, setLogLevel, clock, logger, telemetry });
}

async function stop(egress: RunningEgress): Promise<number> {
  try {
    await egress.close();
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
  process.stderr.write(`session-egress ${what}: ${describeError(error)}\n`);
  return FAILED;
}
