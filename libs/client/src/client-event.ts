import type { HoldEnd } from './handover-notice.js';
import type { SessionBrokerError } from './errors.js';
import type { FollowMode } from './follow-policy.js';
import type { SessionSource } from './session-shelf.js';

/** What happens inside, for logs and metrics. No event carries a secret. */
export type ClientEvent =
  /** A newer session is there. */
  | {
      readonly type: 'session';
      readonly generation: number;
      readonly expiresAt: string;
      readonly source: SessionSource;
    }
  /** Newer sessions now come by themselves. */
  | { readonly type: 'following'; readonly mode: FollowMode }
  /**
   * They do not; the next try is in `retryInMs`. The session that is held goes on being served while it is valid. What a
   * person has to mend (a refused token, a merchant that is removed or not this caller's) is told once, and asked again
   * every few seconds to half a minute.
   */
  | {
      readonly type: 'interrupted';
      readonly mode: FollowMode;
      readonly retryInMs: number;
      readonly error: SessionBrokerError | undefined;
    }
  /** A call that somebody waits for has failed so many times, and is tried again in `retryInMs`. */
  | {
      readonly type: 'retrying';
      readonly attempt: number;
      readonly retryInMs: number;
      readonly error: SessionBrokerError;
    }
  /** A session is about to be replaced: new calls wait for the next one, and so many run to their end. */
  | { readonly type: 'holding'; readonly generation: number; readonly running: number }
  /** Calls go on; so many were held. */
  | {
      readonly type: 'resumed';
      readonly generation: number;
      readonly because: HoldEnd;
      readonly held: number;
      readonly heldMs: number;
    }
  /** A dead session is reported to the broker. */
  | { readonly type: 'rejection'; readonly generation: number; readonly reason: string };

/** Called at once and never awaited: hand over what takes time. */
export type ClientEventListener = (event: ClientEvent) => void;

/**
 * Tells the listener. What that throws disturbs nothing here, and shows as a warning of the process, by its name only.
 */
export function tell(listener: ClientEventListener | undefined, event: ClientEvent): void {
  try {
    listener?.(event);
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    process.emitWarning(`onEvent of the session broker client threw (${name})`, { code: 'SESSION_BROKER_LISTENER' });
  }
}
