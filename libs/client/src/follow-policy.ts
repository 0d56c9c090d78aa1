import { BackOff } from './back-off.js';
import { BrokerUnavailable, isLasting, ProtocolError, RequestRefused } from './errors.js';

export type FollowMode = 'events' | 'poll';

/** How one turn of following ended. */
export type Turn =
  /** A stream was open; `error` is set if it broke rather than ended. */
  | { readonly kind: 'stream'; readonly lastedMs: number; readonly wasAlive: boolean; readonly error?: unknown }
  /** A long poll was answered; `waited` if that took about as long as requested. */
  | { readonly kind: 'polled'; readonly newer: boolean; readonly waited: boolean }
  /** Neither. */
  | { readonly kind: 'failed'; readonly error: unknown };

export interface NextTurn {
  readonly mode: FollowMode;
  readonly waitMs: number;
}

const BASE_MS = 1_000;
const CAP_MS = 30_000;
/** What is refused now will still be refused in a second: a person has to change something. */
const REFUSED_WAIT_MS = 5_000;
/** A stream that is cut sooner is not worth its connection. */
const HEALTHY_MS = 5_000;
const BAD_STREAMS_UNTIL_POLLING = 2;
const EVENTS_AGAIN_AFTER_MS = 60_000;

/**
 * Decides how to follow the broker next: by events; by long poll for a minute if something in between lets no stream
 * through; after a wait with full jitter whenever a turn went badly.
 *
 *     events --- refused, no stream, or cut early or silent twice ---> poll
 *       ^------------------- after a minute ----------------------------'
 */
export class FollowPolicy {
  readonly #backOff: BackOff;
  readonly #eventsAllowed: boolean;
  #mode: FollowMode;
  #badStreams = 0;
  #eventsAgainAtMs = 0;

  constructor({ start, random }: { readonly start: FollowMode; readonly random: () => number }) {
    this.#eventsAllowed = start === 'events';
    this.#mode = start;
    this.#backOff = new BackOff({ baseMs: BASE_MS, capMs: CAP_MS, random });
  }

  get mode(): FollowMode {
    return this.#mode;
  }

  /** The broker has said how soon it wants to be asked again. */
  pace(retryMs: number): void {
    this.#backOff.setBaseMs(retryMs);
  }

  after(turn: Turn, nowMs: number): NextTurn {
    const waitMs = this.#waitAfter(turn, nowMs);
    if (this.#mode === 'poll' && this.#eventsAllowed && nowMs >= this.#eventsAgainAtMs) this.#mode = 'events';
    return { mode: this.#mode, waitMs };
  }

  #waitAfter(turn: Turn, nowMs: number): number {
    switch (turn.kind) {
      case 'stream':
        return this.#afterStream(turn, nowMs);
      case 'polled':
        // Long polls that end at once, for example from a replica that is shutting down or through a proxy that ignores
        // `Prefer`, would otherwise become a loop without a pause.
        if (!turn.newer && !turn.waited) return this.#backOff.nextMs();
        this.#backOff.reset();
        return 0;
      case 'failed':
        return this.#afterFailure(turn.error, nowMs);
    }
  }

  #afterStream(turn: Turn & { kind: 'stream' }, nowMs: number): number {
    if (turn.wasAlive && turn.lastedMs >= HEALTHY_MS) {
      this.#badStreams = 0;
      this.#backOff.reset();
    } else this.#countBadStream(nowMs);
    if (turn.error instanceof ProtocolError) this.#poll(nowMs);
    return this.#backOff.nextMs();
  }

  #afterFailure(error: unknown, nowMs: number): number {
    if (isLasting(error)) return this.#backOff.nextMs(REFUSED_WAIT_MS);
    if (error instanceof BrokerUnavailable) {
      // A proxy that waits for the end of the body does not even let the headers of a stream through.
      if (this.#mode === 'events' && error.code === 'timeout') this.#countBadStream(nowMs);
      return this.#backOff.nextMs(error.retryAfterMs);
    }
    const isUnsupported = error instanceof RequestRefused || error instanceof ProtocolError;
    if (this.#mode === 'events' && isUnsupported) {
      this.#poll(nowMs);
      return 0;
    }
    return this.#backOff.nextMs();
  }

  #countBadStream(nowMs: number): void {
    this.#badStreams += 1;
    if (this.#badStreams >= BAD_STREAMS_UNTIL_POLLING) this.#poll(nowMs);
  }

  #poll(nowMs: number): void {
    this.#mode = 'poll';
    this.#badStreams = 0;
    this.#eventsAgainAtMs = nowMs + EVENTS_AGAIN_AFTER_MS;
  }
}
