import { STORE_DOWN } from './store-trouble.js';

/** As `GET /v1/merchants` has it. */
export interface ChangedConfiguration {
  readonly refusedSince?: string;
  readonly faults?: number;
  readonly awaitingRestart?: readonly string[];
}

/**
 * What a person has to know of changed files of a replica, one line each.
 * @param store what the replica says of its store
 */
export function configurationTrouble(
  { refusedSince, faults = 1, awaitingRestart = [] }: ChangedConfiguration = {},
  store?: string,
): string[] {
  const lines = [];
  if (refusedSince !== undefined) {
    const since = refusedSince.replace('T', ' ').replace(/(?:\.\d+)?Z$/, ' UTC');
    const count = faults === 1 ? '1 fault' : `${faults} faults`;
    lines.push(
      `Configuration: a change has been refused since ${since} (${count}); the one before is in force (runbook: config-reload-failed).`,
    );
  }
  if (awaitingRestart.length > 0) {
    const isCure = (store === 'refuses' || store === 'silent') && awaitingRestart.includes('store');
    const advice = isCure ? cureOf(store, refusedSince !== undefined) : CAN_WAIT;
    lines.push(`Configuration: changed, and in force with the next start: ${awaitingRestart.join(', ')}. ${advice}`);
  }
  return lines;
}

const CAN_WAIT = 'Nothing to do tonight: restart in office hours (runbook: config-reload-failed).';

/** A replica does not start with files that are refused, and gives up what it holds in memory: silence may have another cause. */
function cureOf(store: string | undefined, isRefused: boolean): string {
  const first = isRefused ? 'correct what is refused, then ' : '';
  const once = store === 'silent' ? ' once session-broker doctor is green' : '';
  return `The new settings of the store may be what is missing: ${first}restart one replica${once} (runbook: ${STORE_DOWN}).`;
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
