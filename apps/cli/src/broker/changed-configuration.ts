import { faultsText } from '#libs/configuration';

/** As `GET /v1/merchants` has it. */
export interface ChangedConfiguration {
  readonly refusedSince?: string;
  readonly faults?: number;
  /** The setting that the first of them is about. Brokers of 0.1 have none. */
  readonly firstFault?: string;
  readonly awaitingRestart?: readonly string[];
  /** What to do about them. Brokers of 0.1 have none. */
  readonly advice?: string;
  readonly runbook?: string;
}

/** What a person has to know of changed files of a replica, one line each. */
export function configurationTrouble({
  refusedSince,
  faults = 1,
  firstFault,
  awaitingRestart = [],
  advice,
  runbook = CONFIG_RELOAD_FAILED,
}: ChangedConfiguration = {}): string[] {
  const lines = [];
  if (refusedSince !== undefined) {
    const since = refusedSince.replace('T', ' ').replace(/(?:\.\d+)?Z$/, ' UTC');
    const found = faultsText({ faults, ...(firstFault === undefined ? {} : { firstFault }) });
    lines.push(
      `Configuration: a change has been refused since ${since} (${found}); the one before is in force (runbook: ${CONFIG_RELOAD_FAILED}).`,
    );
  }
  if (awaitingRestart.length > 0) {
    const what = `Configuration: changed, and in force with the next start: ${awaitingRestart.join(', ')}`;
    const toDo = advice === undefined ? '' : `. ${advice.charAt(0).toUpperCase()}${advice.slice(1)}`;
    lines.push(`${what}${toDo} (runbook: ${runbook}).`);
  }
  return lines;
}

const CONFIG_RELOAD_FAILED = 'config-reload-failed';

/** @param value as a replica answered it, which may be a newer or an older one */
export function changedConfiguration(value: unknown): ChangedConfiguration | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { refusedSince, faults, firstFault, awaitingRestart, advice, runbook } = value as Readonly<
    Record<string, unknown>
  >;
  return {
    ...(typeof refusedSince === 'string' ? { refusedSince } : {}),
    ...(typeof faults === 'number' ? { faults } : {}),
    ...(typeof firstFault === 'string' ? { firstFault } : {}),
    ...(Array.isArray(awaitingRestart) ? { awaitingRestart: awaitingRestart.map(String) } : {}),
    ...(typeof advice === 'string' ? { advice } : {}),
    ...(typeof runbook === 'string'
      ? { runbook }
      : typeof refusedSince === 'string'
        ? { runbook: CONFIG_RELOAD_FAILED }
        : {}),
  };
}
