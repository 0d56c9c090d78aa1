/** @import { StatusReplica } from '../status-document.js' */
import { countText, timeText } from './wording.js';

/** @typedef {{ readonly text: string, readonly runbook: string | undefined }} Notice */

/**
 * What became of changed files, where a person has something left to do.
 * @param {Pick<StatusReplica, 'refusedChange' | 'awaitingRestart' | 'awaitingSince'>} replica
 * @returns {Notice | undefined} undefined while the files say what is in force
 */
export function configurationNotice({ refusedChange, awaitingRestart = [], awaitingSince }) {
  const sentences = [];
  if (refusedChange !== undefined) {
    const faults = countText(refusedChange.faults, 'fault', 'faults');
    const since = timeText(refusedChange.since);
    sentences.push(`Configuration: a change is refused since ${since} (${faults}); the one before is in force.`);
  }
  if (awaitingRestart.length > 0) {
    const since = awaitingSince === undefined ? '' : ` since ${timeText(awaitingSince)}`;
    const settings = awaitingRestart.join(', ');
    sentences.push(
      `Configuration: changed${since}, and in force with the next start: ${settings}. Nothing to do tonight: restart in office hours.`,
    );
  }
  if (sentences.length === 0) return undefined;
  return { text: sentences.join(' '), runbook: 'config-reload-failed' };
}
