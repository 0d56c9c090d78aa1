import { networkError } from './broker-http.js';
import type { ClientParts } from './client-parts.js';
import { type Deadline, orAborted, within } from './deadline.js';
import { ProtocolError } from './errors.js';
import type { BodyReader, FetchAnswer } from './fetch.js';
import { type HandoverNotice, readHandover } from './call-gate.js';
import { discard, type JsonObject, parseJsonObject } from './json.js';
import { readLeft, readSession } from './session.js';
import type { SessionSource } from './session-shelf.js';
import { SseParser } from './sse-parser.js';

export interface FollowParts extends ClientParts {
  /** Called when a session is about to be replaced; undefined for clients that take no part in hand-overs. */
  readonly onHandover: ((notice: HandoverNotice) => void) | undefined;
}

export interface StreamWatch {
  opened(): void;
  /** A whole line arrived: the other end is alive. */
  alive(retryMs: number | undefined): void;
}

/** How long the headers of a stream may take, or how far a long poll may exceed the requested wait. */
const ANSWER_TIMEOUT_MS = 10_000;
/** The broker sends a comment every 15 s: when two and a half of them have been missed, the other end is gone. */
const SILENCE_MS = 40_000;
/** A session takes about 600 characters. */
const MAX_EVENT_LENGTH = 65_536;
/** Shorter than the idle timeout of common proxies, and than the longest wait that the broker allows. */
export const POLL_WAIT_S = 30;

/**
 * Follows the broker's events until their stream ends, and puts every session on the shelf.
 * @throws SessionBrokerError when the stream cannot be opened, breaks, falls silent or makes no sense
 */
export async function followEvents(parts: FollowParts, watch: StreamWatch): Promise<void> {
  const { http, shelf, time, closed, onHandover } = parts;
  const headers: Record<string, string> = shelf.newest > 0 ? { 'last-event-id': String(shelf.newest) } : {};
  const path = `/session/events${onHandover === undefined ? '' : '?handover=true'}`;
  await within(time, { ms: ANSWER_TIMEOUT_MS, parents: [closed], background: true }, async (deadline) => {
    const { signal } = deadline;
    const sentAtMs = time.monotonicMs();
    const answer = await http.open({ path, headers, background: true, signal }, 'text/event-stream');
    const reader = eventReader(answer);
    watch.opened();
    try {
      await readEvents(parts, { reader, watch, deadline, sentAtMs });
    } catch (error) {
      discard(reader);
      throw networkError(error, signal);
    }
  });
}

function eventReader(answer: FetchAnswer): BodyReader {
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream && answer.body !== null) return answer.body.getReader();
  discard(answer.body);
  throw new ProtocolError('events_unsupported', 'The broker, or what is in front of it, gives no event stream');
}

interface OpenStream {
  readonly reader: BodyReader;
  readonly watch: StreamWatch;
  readonly deadline: Deadline;
  readonly sentAtMs: number;
}

async function readEvents(parts: FollowParts, stream: OpenStream): Promise<void> {
  const { reader, watch, deadline } = stream;
  const parser = new SseParser({ maxCharacters: MAX_EVENT_LENGTH });
  // An event may have waited unread, here or on its way, but hardly since before the stream was last heard.
  let heardAtMs = stream.sentAtMs;
  deadline.restart(SILENCE_MS);
  for (let lines = 0; ;) {
    const { done, value } = await orAborted(reader.read(), deadline.signal);
    if (done) return;
    const events = value === undefined ? [] : parser.push(value);
    // Whole lines count, not octets: a stream that trickles without ever ending a line delivers nothing.
    if (parser.lines > lines) {
      lines = parser.lines;
      deadline.restart(SILENCE_MS);
      watch.alive(parser.retryMs);
    }
    for (const { type, data } of events) {
      if (type === 'session') take(parts, parseJsonObject(data), { source: 'events', countedFromMs: heardAtMs });
      const notice = type === 'handover' ? readHandover(parseJsonObject(data)) : undefined;
      if (notice !== undefined) parts.onHandover?.(notice);
    }
    heardAtMs = parts.time.monotonicMs();
  }
}

interface Taken {
  readonly source: SessionSource;
  readonly countedFromMs: number;
}

function take({ shelf, merchant }: FollowParts, document: JsonObject, { source, countedFromMs }: Taken): boolean {
  return shelf.offer(readSession(document, merchant), { source, left: readLeft(document, countedFromMs) });
}

/** One read that the broker holds until there is a newer session. @returns whether one came @throws SessionBrokerError */
export async function longPoll(parts: FollowParts): Promise<boolean> {
  const { http, shelf, time, closed } = parts;
  const ms = POLL_WAIT_S * 1_000 + ANSWER_TIMEOUT_MS;
  const known: Record<string, string> = shelf.newest > 0 ? { 'if-none-match': `"${shelf.newest}"` } : {};
  const headers = { prefer: `wait=${POLL_WAIT_S}`, ...known };
  const { document, countedFromMs } = await within(time, { ms, parents: [closed], background: true }, ({ signal }) =>
    http.json({ path: '/session', headers, background: true, signal }),
  );
  return document !== undefined && take(parts, document, { source: 'poll', countedFromMs });
}
