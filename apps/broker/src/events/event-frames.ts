import type { Session } from '#libs/session';
import type { HandoverNotice } from './handover-notice.js';
import { sessionJson } from '../sessions/session-document.js';

/** A comment: it shows both ends, and everything between them, that the stream is alive. */
export const HEARTBEAT = Buffer.from(':\n\n');

/** How soon a browser's EventSource reconnects (the specification of server-sent events, field `retry`). */
export function retryFrame(retryMs: number): Buffer {
  return Buffer.from(`retry: ${retryMs}\n\n`);
}

const framed = new WeakMap<Session, Buffer>();

/** The session as one event whose id is its generation: serialised once, however many watchers it is sent to. */
export function sessionFrame(session: Session): Buffer {
  const known = framed.get(session);
  if (known !== undefined) return known;
  const frame = Buffer.from(`event: session\nid: ${session.generation}\ndata: ${sessionJson(session)}\n\n`);
  framed.set(session, frame);
  return frame;
}

/** It has no id: the last id a consumer has seen is still its session's generation. */
export function handoverFrame(notice: HandoverNotice): Buffer {
  return Buffer.from(`event: handover\ndata: ${JSON.stringify(notice)}\n\n`);
}
