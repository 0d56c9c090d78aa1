import type { HeldSessions } from './held-sessions.js';
import type { SessionEvents } from './ports/session-events.js';
import { haveSameServerKey, type Session } from './session.js';

export interface Arrival {
  readonly session: Session;
  /** Since the gateway's answer. */
  readonly ageMs: number;
  readonly source: 'own' | 'store';
}

/** Takes a session into memory if it is newer than the held one, and says so. */
export function adopt(
  { held, events }: { readonly held: HeldSessions; readonly events: SessionEvents },
  { session, ageMs, source }: Arrival,
): void {
  const { merchant, generation } = session;
  const before = held.get(merchant);
  if (!held.adopt(session, ageMs)) return;
  const serverKeyChanged = before !== undefined && !haveSameServerKey(before, session);
  events.emit({ event: 'session_adopted', merchant, generation, source, ageMs, serverKeyChanged });
}
