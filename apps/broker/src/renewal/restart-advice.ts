import type { Logger } from '#libs/telemetry';
import type { LastReading } from '../configuration/configuration-in-force.js';
import type { StoreCondition, StoreState } from './store.js';

interface AdviceParts {
  readonly lastReading: LastReading;
  readonly state: StoreState;
  readonly logger: Logger;
}

interface RestartAdvice {
  /** A clause that begins in lower case. */
  readonly text: string;
  /** The page of docs/runbooks to continue with. */
  readonly runbook: string;
}

const CAN_WAIT = 'nothing to do tonight: restart in office hours';
/** Until something has tried them, it is not known whether the store's new settings lead to a store. */
const ONCE_GREEN = 'once session-broker doctor is green';

/**
 * What to do about settings that wait for the next start, as worded in the log, on the status page and by
 * `session-broker status`; undefined if none are waiting. Silence may have causes other than the settings, and a
 * replica that restarts gives up what it holds in memory, so doctor should first show whether the new settings reach
 * the store. No replica starts with files that are refused.
 */
export function restartAdvice(
  { awaitingRestart, refused }: Pick<LastReading, 'awaitingRestart' | 'refused'>,
  condition: StoreCondition | undefined,
): RestartAdvice | undefined {
  if (awaitingRestart.length === 0) return undefined;
  if (!isCure(awaitingRestart, condition)) {
    const text = awaitingRestart.includes('store') ? `${CAN_WAIT}, ${ONCE_GREEN}` : CAN_WAIT;
    return { text, runbook: 'config-reload-failed' };
  }
  const first = refused === undefined ? '' : 'correct what is refused, then ';
  const once = condition === 'silent' ? ` ${ONCE_GREEN}` : '';
  return {
    text: `the new settings of the store may be what is missing: ${first}restart one replica${once}`,
    runbook: 'store-down',
  };
}

/** A restart only helps if the store refuses or is silent while its new settings wait. */
const isCure = (awaitingRestart: readonly string[], condition: StoreCondition | undefined): boolean =>
  awaitingRestart.includes('store') && (condition === 'refuses' || condition === 'silent');

/**
 * Logs when a restart may be the cure, whether the settings or the store's trouble came first; once per store
 * condition, until either is over.
 */
export function adviseRestart({ lastReading, state, logger }: AdviceParts): void {
  let told: StoreCondition | undefined;
  const look = (): void => {
    const { condition, reason } = state.current ?? {};
    const due = isCure(lastReading.awaitingRestart, condition) ? condition : undefined;
    const advice = due === undefined || due === told ? undefined : restartAdvice(lastReading, due);
    if (advice !== undefined) logger.warn({ detail: reason, runbook: advice.runbook }, advice.text);
    told = due;
  };
  state.onChange(look);
  lastReading.onChange(look);
}
