import type { Logger } from './logger.js';
import { someOf } from './some-of.js';

interface AwaitingRestart {
  readonly settings: readonly string[];
  /** Since they were last told: each set of them is told once, not with every file that changes afterwards. */
  readonly change: { readonly added: readonly string[]; readonly removed: readonly string[] };
  /** The page of docs/runbooks that says what to do. */
  readonly runbook: string;
}

/** Tells of settings that wait for the next start of the program, and of those that do so no more. */
export function tellAwaitingRestart(logger: Logger, { settings, change, runbook }: AwaitingRestart): void {
  if (change.removed.length > 0) {
    logger.info(
      { settings: someOf(change.removed) },
      'these settings are again what is in force; no restart is needed for them',
    );
  }
  if (change.added.length > 0) {
    logger.warn(
      { settings: someOf(settings), runbook },
      'these settings have changed and take effect with the next start',
    );
  }
}
