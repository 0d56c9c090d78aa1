/** @import { StatusReplica, StatusStore } from '../status-document.js' */
import { countText, timeText } from './wording.js';

/** @typedef {{ readonly text: string, readonly runbook: string | undefined }} Notice */

/**
 * What became of changed files, where a person has something left to do.
 * @param {Pick<StatusReplica, 'refusedChange' | 'awaitingRestart' | 'awaitingSince'>} replica
 * @param {Pick<StatusStore, 'condition'>} store
 * @param {number} now
 * @returns {Notice | undefined} undefined while the files say what is in force
 */
export function configurationNotice({ refusedChange, awaitingRestart = [], awaitingSince }, { condition }, now) {
  const isCure = (condition === 'refuses' || condition === 'silent') && awaitingRestart.includes('store');
  const sentences = [];
  if (refusedChange !== undefined) {
    const faults = countText(refusedChange.faults, 'fault', 'faults');
    const since = timeText(refusedChange.since, now);
    sentences.push(`Configuration: a change has been refused since ${since} (${faults}); the one before is in force.`);
  }
  if (awaitingRestart.length > 0) {
    const at = awaitingSince === undefined ? '' : ` at ${timeText(awaitingSince, now)}`;
    const settings = awaitingRestart.join(', ');
    sentences.push(
      `Configuration: changed${at}, and in force with the next start: ${settings}. ${isCure ? cureOf(condition, refusedChange !== undefined) : CAN_WAIT}`,
    );
  }
  if (sentences.length === 0) return undefined;
  return {
    text: sentences.join('\n'),
    runbook: isCure && refusedChange === undefined ? 'store-down' : 'config-reload-failed',
  };
}

const CAN_WAIT = 'Nothing to do tonight: restart in office hours.';

/**
 * A replica does not start with files that are refused.
 * @param {StatusStore['condition']} condition
 * @param {boolean} isRefused
 */
function cureOf(condition, isRefused) {
  const once = condition === 'silent' ? ' once session-broker doctor is green' : '';
  const first = isRefused ? 'correct what is refused, then ' : '';
  return `The new settings of the store may be what is missing: ${first}restart one replica${once}.`;
}
