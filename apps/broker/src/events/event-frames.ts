import type { Session } from '#libs/session';
import { sessionJson } from '../sessions/session-document.js';

/** A comment: it tells both ends, and everything between them, that the stream is alive. */
export const HEARTBEAT = Buffer.from(':\n\n');

/** How soon a browser's EventSource connects again (the specification of server-sent events, field `retry`). */
export function retryFrame(retryMs: number): Buffer {
  return Buffer.from(`retry: ${retryMs}\n\n`);
}

const framed = new WeakMap<Session, Buffer>();

/** The session as one event whose id is its generation: written once, however many watchers it is sent to. */
export function sessionFrame(session: Session): Buffer {
  const known = framed.get(session);
  if (known !== undefined) return known;
  const frame = Buffer.from(`event: session\nid: ${session.generation}\ndata: ${sessionJson(session)}\n\n`);
  framed.set(session, frame);
  return frame;
}
