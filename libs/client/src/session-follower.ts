import { BackOff } from './attempts.js';
import { networkError } from './broker-http.js';
import { type HandoverNotice, readHandover } from './call-gate.js';
import { type FollowMode, tell } from './client-event.js';
import type { ClientParts } from './client-parts.js';
import { orAborted, pause, within } from './deadline.js';
import { BrokerUnavailable, isLasting, placed, ProtocolError, RequestRefused, SessionBrokerError } from './errors.js';
import { type BodyReader, discard, type FetchAnswer } from './fetch.js';
import { type JsonObject, parseJsonObject } from './json.js';
import { readEndMs, readSession } from './session.js';
import type { SessionSource } from './session-shelf.js';
import { SseParser } from './sse-parser.js';

/** How long the headers of a stream may take, or how far a long poll may exceed the requested wait. */
const ANSWER_TIMEOUT_MS = 10_000;
/** The broker sends a comment every 15 s: when two and a half of them have been missed, the other end is gone. */
const SILENCE_MS = 40_000;
/** A session takes about 600 characters. */
const MAX_EVENT_LENGTH = 65_536;
/** Shorter than the idle timeout of common proxies, and than the longest wait that the broker allows. */
const POLL_WAIT_S = 30;
/** The broker counts a wait in whole seconds: slightly less than requested is not early. */
const WAITED_MS = POLL_WAIT_S * 1_000 - 1_000;
const PACE = { baseMs: 1_000, capMs: 30_000 };
/** What is refused now will still be refused in a second: a person has to change something. */
const REFUSED_WAIT_MS = 5_000;
/** A stream that is cut sooner does not start the waits anew. */
const HEALTHY_MS = 5_000;
const EVENTS_AGAIN_AFTER_MS = 60_000;

/**
 * Keeps the shelf fresh in the background, from `follow` until the client is closed: by events; by long poll for a
 * minute if something in between lets no stream through; after a wait with full jitter whenever a turn went badly.
 */
export class SessionFollower {
  readonly #parts: ClientParts;
  readonly #onHandover: (notice: HandoverNotice) => void;
  readonly #backOff: BackOff;
  #eventsAgainAtMs = 0;
  #running: Promise<void> | undefined;
  #isLive = false;
  /** The code of a lasting refusal that was already reported. */
  #refusal: string | undefined;

  /** @param onHandover called when a session is about to be replaced */
  constructor(parts: ClientParts, onHandover: (notice: HandoverNotice) => void) {
    this.#parts = parts;
    this.#onHandover = onHandover;
    this.#backOff = new BackOff({ ...PACE, random: parts.random });
  }

  follow(): void {
    this.#running ??= this.#run();
  }

  /** Resolves once following has ended, which it does when the client is closed. */
  async ended(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    const { closed, time, follow } = this.#parts;
    while (!closed.aborted) {
      const mode = follow === 'poll' || time.monotonicMs() < this.#eventsAgainAtMs ? 'poll' : 'events';
      const { waitMs, error } = mode === 'events' ? await this.#stream() : await this.#poll();
      if (closed.aborted) return;
      if (mode === 'poll' && waitMs === 0) this.#nowLive('poll');
      else this.#interrupted(mode, waitMs, error);
      // It rejects when the client is closed, which ends the loop.
      if (waitMs > 0) await pause(time, waitMs, { signal: closed, background: true }).catch(() => undefined);
    }
  }

  async #stream(): Promise<Turn> {
    const { time } = this.#parts;
    const startedAtMs = time.monotonicMs();
    let wasAlive = false;
    const watch = {
      onHandover: this.#onHandover,
      alive: (retryMs: number | undefined) => {
        wasAlive = true;
        if (retryMs !== undefined) this.#backOff.setBaseMs(retryMs);
        this.#nowLive('events');
      },
    };
    const error: unknown = await followEvents(this.#parts, watch).catch((failure: unknown) => failure);
    if (wasAlive && time.monotonicMs() - startedAtMs >= HEALTHY_MS) this.#backOff.reset();
    // A proxy that waits for the end of the body does not even let the headers of a stream through.
    const isMute = !wasAlive && (error === undefined || (error as SessionBrokerError).code === 'timeout');
    const isUnfit = error instanceof ProtocolError || (error instanceof RequestRefused && !isLasting(error));
    if (!isMute && !isUnfit) return { waitMs: this.#waitAfter(error), error };
    this.#eventsAgainAtMs = time.monotonicMs() + EVENTS_AGAIN_AFTER_MS;
    return { waitMs: 0, error };
  }

  async #poll(): Promise<Turn> {
    const { time } = this.#parts;
    const startedAtMs = time.monotonicMs();
    try {
      const isNewer = await longPoll(this.#parts);
      const hasWaited = time.monotonicMs() - startedAtMs >= WAITED_MS;
      // Long polls that end at once, for example from a replica that is shutting down or through a proxy that ignores
      // `Prefer`, would otherwise become a loop without a pause.
      if (!isNewer && !hasWaited) return { waitMs: this.#backOff.nextMs() };
      this.#backOff.reset();
      return { waitMs: 0 };
    } catch (error) {
      return { waitMs: this.#waitAfter(error), error };
    }
  }

  #waitAfter(error: unknown): number {
    if (isLasting(error)) return this.#backOff.nextMs(REFUSED_WAIT_MS);
    return this.#backOff.nextMs(error instanceof BrokerUnavailable ? error.retryAfterMs : 0);
  }

  #interrupted(mode: FollowMode, waitMs: number, error: unknown): void {
    this.#isLive = false;
    const refusal = isLasting(error) ? error.code : undefined;
    if (refusal !== undefined && refusal === this.#refusal) return;
    this.#refusal = refusal;
    const told = error instanceof SessionBrokerError ? placed(error, this.#parts) : undefined;
    tell(this.#parts.onEvent, { type: 'interrupted', mode, retryInMs: Math.ceil(waitMs), error: told });
  }

  #nowLive(mode: FollowMode): void {
    this.#refusal = undefined;
    if (this.#isLive) return;
    this.#isLive = true;
    tell(this.#parts.onEvent, { type: 'following', mode });
  }
}

/** How one turn of following ended: how long to wait before the next, and what went wrong, if anything did. */
interface Turn {
  readonly waitMs: number;
  readonly error?: unknown;
}

interface StreamWatch {
  onHandover(notice: HandoverNotice): void;
  /** A whole line arrived: the other end is alive. */
  alive(retryMs: number | undefined): void;
}

/**
 * Follows the broker's events until their stream ends, and puts every session on the shelf.
 * @throws SessionBrokerError when the stream cannot be opened, breaks, falls silent or makes no sense
 */
async function followEvents(parts: ClientParts, watch: StreamWatch): Promise<void> {
  const { http, shelf, time, closed } = parts;
  const headers: Record<string, string> = shelf.newest > 0 ? { 'last-event-id': String(shelf.newest) } : {};
  const path = '/session/events?handover=true';
  await within(time, { ms: ANSWER_TIMEOUT_MS, parents: [closed], background: true }, async (deadline) => {
    const { signal } = deadline;
    // An event may have waited unread, here or on its way, but hardly since before the stream was last heard.
    let heardAtMs = time.monotonicMs();
    const reader = eventReader(await http.open({ path, headers, signal }, 'text/event-stream'));
    const parser = new SseParser({ maxCharacters: MAX_EVENT_LENGTH });
    deadline.restart(SILENCE_MS);
    try {
      for (let lines = 0; ;) {
        const { done, value } = await orAborted(reader.read(), signal);
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
          if (notice !== undefined) watch.onHandover(notice);
        }
        heardAtMs = time.monotonicMs();
      }
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

interface Taken {
  readonly source: SessionSource;
  readonly countedFromMs: number;
}

function take({ shelf, merchant }: ClientParts, document: JsonObject, { source, countedFromMs }: Taken): boolean {
  return shelf.offer(readSession(document, merchant), { source, endsAtMs: readEndMs(document, countedFromMs) });
}

/** One read that the broker holds until there is a newer session. @returns whether one came @throws SessionBrokerError */
async function longPoll(parts: ClientParts): Promise<boolean> {
  const { http, shelf, time, closed } = parts;
  const ms = POLL_WAIT_S * 1_000 + ANSWER_TIMEOUT_MS;
  const known: Record<string, string> = shelf.newest > 0 ? { 'if-none-match': `"${shelf.newest}"` } : {};
  const headers = { prefer: `wait=${POLL_WAIT_S}`, ...known };
  const { status, document, countedFromMs } = await within(
    time,
    { ms, parents: [closed], background: true },
    ({ signal }) => http.json({ path: '/session', headers, signal }),
  );
  return status !== 304 && take(parts, document, { source: 'poll', countedFromMs });
}
