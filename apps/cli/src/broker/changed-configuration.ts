/** As `GET /v1/merchants` has it. */
export interface ChangedConfiguration {
  readonly refusedSince?: string;
  readonly faults?: number;
  readonly awaitingRestart?: readonly string[];
}

/** What a person has to know of changed files of a replica, one line each. */
export function configurationTrouble({
  refusedSince,
  faults = 1,
  awaitingRestart = [],
}: ChangedConfiguration = {}): string[] {
  const lines = [];
  if (refusedSince !== undefined) {
    const since = refusedSince.replace('T', ' ').replace(/(?:\.\d+)?Z$/, ' UTC');
    const count = faults === 1 ? '1 fault' : `${faults} faults`;
    lines.push(
      `Configuration: a change is refused since ${since} (${count}); the one before is in force (runbook: config-reload-failed).`,
    );
  }
  if (awaitingRestart.length > 0)
    lines.push(
      `Configuration: changed, and in force with the next start: ${awaitingRestart.join(', ')}. Nothing to do tonight: restart in office hours (runbook: config-reload-failed).`,
    );
  return lines;
}

/** @param value as a replica answered it, which may be a newer or an older one */
export function changedConfiguration(value: unknown): ChangedConfiguration | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { refusedSince, faults, awaitingRestart } = value as Readonly<Record<string, unknown>>;
  return {
    ...(typeof refusedSince === 'string' ? { refusedSince } : {}),
    ...(typeof faults === 'number' ? { faults } : {}),
    ...(Array.isArray(awaitingRestart) ? { awaitingRestart: awaitingRestart.map(String) } : {}),
  };
}
