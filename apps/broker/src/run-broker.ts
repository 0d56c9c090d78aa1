import 'reflect-metadata';
import { SystemClock } from '#libs/clock';
import { ConfigurationSource } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { liveProgram, type ProgramSignals, type RunningProgram, VERSION } from '#libs/program';
import { createLogger, lastLinesRead, startTelemetry } from '#libs/telemetry';
import { replicaName } from './platform/platform.js';

/** Renewals in flight may end within this time; after that, their calls are aborted and their leases released. */
const GRACE_MS = 10_000;

interface RunOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signals: ProgramSignals;
}

/** The broker as a process. @returns its exit code */
export async function runBroker({ environment, signals }: RunOptions): Promise<number> {
  try {
    const start = (): Promise<RunningProgram | undefined> => started(environment, signals.stopping);
    return await liveProgram({ name: 'session-broker', signals, start });
  } finally {
    await lastLinesRead();
  }
}

/** @returns undefined when the broker is to end before any of it runs */
async function started(
  environment: RunOptions['environment'],
  stopping: AbortSignal,
): Promise<RunningProgram | undefined> {
  const file = environment['BROKER_CONFIG'];
  if (file === undefined || file === '') {
    const detail = 'set BROKER_CONFIG to the path of the configuration file';
    throw new BrokerError('configuration_invalid', { detail });
  }
  const clock = new SystemClock();
  const source = new ConfigurationSource(file, { environment, clock });
  const configuration = await source.load();
  const logger = createLogger({ name: 'broker', level: configuration.log.level });
  for (const warning of configuration.warnings) logger.warn(warning, 'configuration warning');
  const service = { serviceName: 'session-broker', serviceVersion: VERSION };
  const telemetry = await startTelemetry({ ...service, logger, environment });
  // Loaded only now: whatever is observed must be loaded after the observer.
  const { startBroker } = await import('./broker.js');
  if (stopping.aborted) return undefined;
  const known = { configuration, source, clock, logger, telemetry, stopping };
  const broker = await startBroker({
    ...known,
    setLogLevel: logger.setLevel.bind(logger),
    replicaName: replicaName(environment, configuration.http.port),
  });
  return { reload: () => broker.reload(), close: () => broker.close(GRACE_MS) };
}
