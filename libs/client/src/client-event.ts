import type { SessionBrokerError } from './errors.js';
import type { SessionSource } from './session-shelf.js';

interface EventFacts {
  /** A newer session has arrived. */
  session: { generation: number; expiresAt: string; source: SessionSource };
  /** Newer sessions now arrive on their own. */
  following: object;
  /**
   * Newer sessions no longer arrive on their own; the next try is in `retryInMs`. The current session is still served
   * while it is valid. A problem that a person has to fix (a refused token, a merchant that was removed or that this
   * caller may not use) is reported once, and retried every few seconds to half a minute.
   */
  interrupted: { retryInMs: number; error: SessionBrokerError | undefined };
  /** A call that a caller waits for has failed `attempt` times, and is retried in `retryInMs`. */
  retrying: { attempt: number; retryInMs: number; error: SessionBrokerError };
  /** A session is about to be replaced: new calls wait for the next one, and the `running` ones are left to finish. */
  holding: { generation: number; running: number };
  /** Calls continue; `held` of them had been waiting. */
  resumed: { generation: number; held: number };
  /** A dead session is being reported to the broker. */
  rejection: { generation: number; reason: string };
}

/** What happens inside the client, for logs and metrics. No event carries a secret. */
export type ClientEvent = {
  [Type in keyof EventFacts]: { readonly type: Type } & Readonly<EventFacts[Type]>;
}[keyof EventFacts];

/** Called synchronously and never awaited: do slow work elsewhere. */
export type ClientEventListener = (event: ClientEvent) => void;

/** Calls the listener. An error that it throws has no effect here, and only its name is shown, in a process warning. */
export function tell(listener: ClientEventListener | undefined, event: ClientEvent): void {
  try {
    listener?.(event);
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    process.emitWarning(`onEvent of the session broker client threw (${name})`, { code: 'SESSION_BROKER_LISTENER' });
  }
}
