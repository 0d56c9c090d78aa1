import { faultsText } from '#libs/configuration';

/** As in the answer to `GET /v1/merchants`. */
export interface ChangedConfiguration {
  readonly refusedSince?: string;
  readonly faults?: number;
  /** The setting that the first fault is about. Brokers of version 0.1 do not send it. */
  readonly firstFault?: string;
  readonly awaitingRestart?: readonly string[];
  /** What to do about them. Brokers of version 0.1 do not send it. */
  readonly advice?: string;
  readonly runbook?: string;
}

/** What a person needs to know about a replica's changed files, one line each. */
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
      `Configuration: a change has been refused since ${since} (${found}); the previous configuration is in force (runbook: ${CONFIG_RELOAD_FAILED}).`,
    );
  }
  if (awaitingRestart.length > 0) {
    const what = `Configuration: changed, to take effect with the next start: ${awaitingRestart.join(', ')}`;
    const toDo = advice === undefined ? '' : `. ${advice.charAt(0).toUpperCase()}${advice.slice(1)}`;
    lines.push(`${what}${toDo} (runbook: ${runbook}).`);
  }
  return lines;
}

const CONFIG_RELOAD_FAILED = 'config-reload-failed';

/** @param value as a replica sent it, which may be of a newer or an older version */
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
