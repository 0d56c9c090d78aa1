import { BackOff } from './attempts.js';
import { type FollowMode, tell } from './client-event.js';
import { pause } from './deadline.js';
import { BrokerUnavailable, isLasting, placed, ProtocolError, RequestRefused, SessionBrokerError } from './errors.js';
import { followEvents, type FollowParts, longPoll, POLL_WAIT_S } from './follow-broker.js';

/** The broker counts a wait in whole seconds: slightly less than requested is not early. */
const WAITED_MS = POLL_WAIT_S * 1_000 - 1_000;
const PACE = { baseMs: 1_000, capMs: 30_000 };
/** What is refused now will still be refused in a second: a person has to change something. */
const REFUSED_WAIT_MS = 5_000;
/** A stream that is cut sooner is not worth its connection. */
const HEALTHY_MS = 5_000;
const BAD_STREAMS_UNTIL_POLLING = 2;
const EVENTS_AGAIN_AFTER_MS = 60_000;

/**
 * Keeps the shelf fresh in the background, from `follow` until the client is closed: by events; by long poll for a
 * minute if something in between lets no stream through; after a wait with full jitter whenever a turn went badly.
 *
 *     events --- refused, no stream, or cut early or silent twice ---> poll
 *       ^------------------- after a minute ----------------------------'
 */
export class SessionFollower {
  readonly #parts: FollowParts;
  readonly #backOff: BackOff;
  #mode: FollowMode;
  #badStreams = 0;
  #eventsAgainAtMs = 0;
  #running: Promise<void> | undefined;
  #isLive = false;
  /** The code of a lasting refusal that was already reported. */
  #refusal: string | undefined;

  constructor(parts: FollowParts) {
    this.#parts = parts;
    this.#mode = parts.follow === 'poll' ? 'poll' : 'events';
    this.#backOff = new BackOff({ ...PACE, random: parts.random });
  }

  get isLive(): boolean {
    return this.#isLive;
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
      const mode = this.#mode;
      const { waitMs, error } = mode === 'events' ? await this.#stream() : await this.#poll();
      if (closed.aborted) return;
      if (follow === 'events' && time.monotonicMs() >= this.#eventsAgainAtMs) this.#mode = 'events';
      if (mode === 'poll' && waitMs === 0 && error === undefined) this.#nowLive('poll');
      else this.#interrupted(mode, waitMs, error);
      // It rejects when the client is closed, which ends the loop.
      if (waitMs > 0) await pause(time, waitMs, { signal: closed, background: true }).catch(() => undefined);
    }
  }

  async #stream(): Promise<Turn> {
    const { time } = this.#parts;
    let openedAtMs: number | undefined;
    let wasAlive = false;
    const watch = {
      opened: () => void (openedAtMs = time.monotonicMs()),
      alive: (retryMs: number | undefined) => {
        wasAlive = true;
        if (retryMs !== undefined) this.#backOff.setBaseMs(retryMs);
        this.#nowLive('events');
      },
    };
    const error: unknown = await followEvents(this.#parts, watch).catch((failure: unknown) => failure);
    if (openedAtMs === undefined) return { waitMs: this.#waitAfter(error), error };
    if (wasAlive && time.monotonicMs() - openedAtMs >= HEALTHY_MS) {
      this.#badStreams = 0;
      this.#backOff.reset();
    } else this.#countBadStream();
    if (error instanceof ProtocolError) this.#turnToPolling();
    return { waitMs: this.#backOff.nextMs(), error };
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
    if (error instanceof BrokerUnavailable) {
      // A proxy that waits for the end of the body does not even let the headers of a stream through.
      if (this.#mode === 'events' && error.code === 'timeout') this.#countBadStream();
      return this.#backOff.nextMs(error.retryAfterMs);
    }
    const isUnsupported = error instanceof RequestRefused || error instanceof ProtocolError;
    if (this.#mode === 'poll' || !isUnsupported) return this.#backOff.nextMs();
    this.#turnToPolling();
    return 0;
  }

  #countBadStream(): void {
    this.#badStreams += 1;
    if (this.#badStreams >= BAD_STREAMS_UNTIL_POLLING) this.#turnToPolling();
  }

  #turnToPolling(): void {
    this.#mode = 'poll';
    this.#badStreams = 0;
    this.#eventsAgainAtMs = this.#parts.time.monotonicMs() + EVENTS_AGAIN_AFTER_MS;
  }

  #interrupted(mode: FollowMode, waitMs: number, error: unknown): void {
    this.#isLive = false;
    const { onEvent } = this.#parts;
    const refusal = isLasting(error) ? error.code : undefined;
    if (refusal !== undefined && refusal === this.#refusal) return;
    this.#refusal = refusal;
    const told = error instanceof SessionBrokerError ? placed(error, this.#parts) : undefined;
    tell(onEvent, { type: 'interrupted', mode, retryInMs: Math.ceil(waitMs), error: told });
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
