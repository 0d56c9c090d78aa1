/** @import { StatusReplica } from '../status-document.js' */
import { capital, timeText } from './wording.js';

/** @typedef {{ readonly text: string, readonly runbook: string | undefined }} Notice */

/**
 * What became of changed files, if a person still has something to do.
 * @param {Pick<StatusReplica, 'refusedChange' | 'awaitingRestart' | 'awaitingSince' | 'restartAdvice'>} replica
 * @param {number} now
 * @returns {Notice | undefined} undefined while the files match what is in force
 */
export function configurationNotice({ refusedChange, awaitingRestart = [], awaitingSince, restartAdvice }, now) {
  const sentences = [];
  if (refusedChange !== undefined) {
    const { text } = refusedChange;
    const since = timeText(refusedChange.since, now);
    sentences.push(
      `Configuration: a change has been refused since ${since} (${text}); the previous configuration is in force.`,
    );
  }
  if (restartAdvice !== undefined) {
    const at = awaitingSince === undefined ? '' : ` at ${timeText(awaitingSince, now)}`;
    const settings = awaitingRestart.join(', ');
    const advice = capital(restartAdvice.text);
    sentences.push(`Configuration: changed${at}, to take effect with the next start: ${settings}. ${advice}.`);
  }
  if (sentences.length === 0) return undefined;
  return {
    text: sentences.join('\n'),
    runbook: (refusedChange === undefined ? restartAdvice?.runbook : undefined) ?? 'config-reload-failed',
  };
}
