import type { Session, SessionLeft } from '#libs/session';
import type { HandoverNotice } from './handover-notice.js';
import { sessionJson } from '../sessions/session-document.js';

/** A comment: it shows both ends, and everything between them, that the stream is alive. */
export const HEARTBEAT = Buffer.from(':\n\n');

/** How soon a browser's EventSource reconnects (the specification of server-sent events, field `retry`). */
export function retryFrame(retryMs: number): Buffer {
  return Buffer.from(`retry: ${retryMs}\n\n`);
}

const framed = new WeakMap<Session, { readonly json: string; readonly frame: Buffer }>();

/** The session as one event whose id is its generation: made once for each form of its JSON, however many watch. */
export function sessionFrame(session: Session, left: SessionLeft): Buffer {
  const json = sessionJson(session, left);
  const known = framed.get(session);
  if (known?.json === json) return known.frame;
  const frame = Buffer.from(`event: session\nid: ${session.generation}\ndata: ${json}\n\n`);
  framed.set(session, { json, frame });
  return frame;
}

/** It has no id: the last id a consumer has seen is still its session's generation. */
export function handoverFrame(notice: HandoverNotice): Buffer {
  return Buffer.from(`event: handover\ndata: ${JSON.stringify(notice)}\n\n`);
}
