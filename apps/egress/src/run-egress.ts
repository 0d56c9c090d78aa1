import { SystemClock } from '#libs/clock';
import { EgressConfigurationSource } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { liveProgram, type ProgramSignals, type RunningProgram, VERSION } from '#libs/program';
import { createLogger, lastLinesRead, startTelemetry } from '#libs/telemetry';

interface RunOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signals: ProgramSignals;
}

/** The egress as a process. @returns its exit code */
export async function runEgress({ environment, signals }: RunOptions): Promise<number> {
  const start = (): Promise<RunningProgram | undefined> => started({ environment, signals });
  try {
    return await liveProgram({ name: 'session-egress', signals, start });
  } finally {
    await lastLinesRead();
  }
}

/** @returns undefined when the egress is to end before any of it runs */
async function started({ environment, signals }: RunOptions): Promise<RunningProgram | undefined> {
  const file = environment['EGRESS_CONFIG'];
  if (file === undefined || file === '') {
    throw new BrokerError('configuration_invalid', {
      detail: 'set EGRESS_CONFIG to the path of the configuration file',
    });
  }
  const clock = new SystemClock();
  const source = new EgressConfigurationSource(file, { environment, clock });
  const configuration = await source.load();
  const logger = createLogger({ name: 'egress', level: configuration.log.level });
  for (const warning of configuration.warnings) logger.warn(warning, 'configuration warning');
  const telemetry = await startTelemetry({
    serviceName: 'session-egress',
    serviceVersion: VERSION,
    logger,
    environment,
  });
  // Loaded only now: whatever is observed must be loaded after the observer.
  const { startEgress } = await import('./egress.js');
  if (signals.stopping.aborted) return undefined;
  const setLogLevel = logger.setLevel.bind(logger);
  return await startEgress({ configuration, source, setLogLevel, clock, logger, telemetry });
}
