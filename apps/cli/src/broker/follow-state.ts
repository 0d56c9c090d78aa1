import { type ClientEvent, Forbidden, type Session, Unauthenticated } from '#libs/client';
import { type Clock, type Instant, toRfc3339 } from '#libs/clock';
import { secondText } from '#libs/session';

type FollowMode = Extract<ClientEvent, { readonly type: 'following' }>['mode'];

/** The broker gives a sign of life every 15 s; the client package gives up a stream after 40 s without one. */
const SILENT_AFTER_MS = 20_000;

/** What is seen of a merchant while its condition is not. */
export interface Left {
  /** Distinguishes one kind from another. */
  readonly kind: 'stream' | 'silent' | 'nothing';
  readonly words: string;
  readonly facts: {
    /** Whether its sessions still come. */
    readonly streamOpen: boolean;
    /** For a stream that is still open but is not known to deliver anything. */
    readonly streamSilentSince?: string;
  };
}

interface Sign {
  readonly at: Instant;
  readonly atMs: number;
}

const BY_STREAM: Left = {
  kind: 'stream',
  words: "the merchant's sessions come by the stream that is open, and nothing else is seen of it",
  facts: { streamOpen: true },
};
const NOTHING: Left = { kind: 'nothing', words: 'nothing is seen of the merchant', facts: { streamOpen: false } };

/**
 * What the client package is doing, judging by its events. It may have been told to wait for minutes, and is restarted
 * once there is nothing left to wait for.
 */
export class FollowState {
  readonly #clock: Clock;
  #mode: FollowMode | undefined;
  #restsUntilMs = Number.NEGATIVE_INFINITY;
  #turn = new AbortController();
  #newest = 0;
  #hasBegun = false;
  /** The stream's last sign of life. */
  #sign: Sign | undefined;
  /** When the followed replica was last asked, if it has not answered. */
  #unansweredMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether newer sessions come by themselves. */
  get isLive(): boolean {
    return this.#mode !== undefined;
  }

  /** What is seen of the merchant while its condition is not. */
  get left(): Left {
    const sign = this.#sign;
    if (this.#mode !== 'events' || sign === undefined) return NOTHING;
    if (this.#isHeardOf(sign)) return BY_STREAM;
    const since = secondText(sign.at, this.#clock.now());
    const words = `nothing is seen of the merchant, and its stream, which is open still, has been silent since ${since}`;
    return { kind: 'silent', words, facts: { streamOpen: false, streamSilentSince: toRfc3339(sign.at) } };
  }

  #isHeardOf({ atMs }: Sign): boolean {
    const isLater = this.#unansweredMs === undefined || atMs > this.#unansweredMs;
    return isLater && this.#clock.monotonicMs() - atMs < SILENT_AFTER_MS;
  }

  /** Something has come through the stream. */
  heard(): void {
    this.#sign = { at: this.#clock.now(), atMs: this.#clock.monotonicMs() };
  }

  /**
   * The followed replica was asked.
   * @param unansweredMs when that was, if it did not answer
   */
  asked(unansweredMs: number | undefined): void {
    this.#unansweredMs = unansweredMs;
  }

  /** Whether the merchant has ever been followed, or a session of it has come. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  note(event: ClientEvent): void {
    if (event.type === 'following' || event.type === 'session') this.#hasBegun = true;
    if (event.type === 'following') {
      this.#mode = event.mode;
      this.heard();
    }
    if (event.type !== 'interrupted') return;
    this.#mode = undefined;
    // After a lasting refusal, further attempts are not reported.
    this.#restsUntilMs = isLasting(event.error)
      ? Number.POSITIVE_INFINITY
      : this.#clock.monotonicMs() + event.retryInMs;
  }

  /** @returns whether it is newer than all before it */
  isNew({ generation }: Pick<Session, 'generation'>): boolean {
    if (generation <= this.#newest) return false;
    this.#newest = generation;
    return true;
  }

  /**
   * Another client begins.
   * @returns a signal that aborts when the next one is to begin
   */
  begin(): AbortSignal {
    this.#turn = new AbortController();
    this.#mode = undefined;
    this.#unansweredMs = undefined;
    this.#restsUntilMs = Number.NEGATIVE_INFINITY;
    return this.#turn.signal;
  }

  /**
   * Stops following a replica that has gone silent, for one that holds this session.
   * @returns false if that one holds an older session
   */
  leaveFor({ generation = 0 }: Partial<Pick<Session, 'generation'>>): boolean {
    const isBehind = generation < this.#newest;
    if (!isBehind) this.#turn.abort();
    return !isBehind;
  }

  /**
   * Ends a wait for the next attempt.
   * @returns false if there is none to end
   */
  wake(): boolean {
    const isResting = this.#mode === undefined && this.#clock.monotonicMs() < this.#restsUntilMs;
    if (isResting) this.#turn.abort();
    return isResting;
  }
}

const isLasting = (error: unknown): boolean => error instanceof Unauthenticated || error instanceof Forbidden;
