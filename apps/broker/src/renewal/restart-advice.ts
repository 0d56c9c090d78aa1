import type { LastReading } from '../configuration/configuration-in-force.js';
import type { StoreCondition } from './store.js';

const CAN_WAIT = 'nothing to do tonight: restart in office hours';
/** Until something has tried them, it is not known whether the store's new settings lead to a store. */
const ONCE_GREEN = 'once session-broker doctor is green';

/**
 * What to do about settings that wait for the next start, in a clause and with the page of docs/runbooks to continue
 * with; undefined if none are waiting. A restart only helps if the store refuses or is silent while its new settings
 * wait. Silence may have other causes, and a replica that restarts gives up what it holds in memory, so doctor should
 * first show whether the new settings reach the store. No replica starts with files that are refused.
 */
export function restartAdvice(
  { awaitingRestart, refused }: Pick<LastReading, 'awaitingRestart' | 'refused'>,
  condition: StoreCondition | undefined,
): { readonly text: string; readonly runbook: string } | undefined {
  if (awaitingRestart.length === 0) return undefined;
  const isOfStore = awaitingRestart.includes('store');
  if (!isOfStore || condition === 'answers' || condition === undefined) {
    return { text: isOfStore ? `${CAN_WAIT}, ${ONCE_GREEN}` : CAN_WAIT, runbook: 'config-reload-failed' };
  }
  const first = refused === undefined ? '' : 'correct what is refused, then ';
  const once = condition === 'silent' ? ` ${ONCE_GREEN}` : '';
  const text = `the new settings of the store may be what is missing: ${first}restart one replica${once}`;
  return { text, runbook: 'store-down' };
}
