import { type ClientEvent, Forbidden, type Session, Unauthenticated } from '#libs/client';
import { type Clock, type Instant, toRfc3339 } from '#libs/clock';
import { secondText } from '#libs/session';

type FollowMode = Extract<ClientEvent, { readonly type: 'following' }>['mode'];

/** The broker gives a sign of life every 15 s; the client package gives a stream up after 40 s without one. */
const SILENT_AFTER_MS = 20_000;

/** What is seen of a merchant where its condition is not. */
export interface Left {
  /** One kind is told apart from another by it. */
  readonly kind: 'stream' | 'silent' | 'nothing';
  readonly words: string;
  readonly facts: {
    /** Whether its sessions come all the same. */
    readonly streamOpen: boolean;
    /** Of a stream that is open still, and by which nothing is known to come. */
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

/** What the client package is doing, by its events. It may be told to wait for minutes, and is begun anew where nothing is left to wait for. */
export class FollowState {
  readonly #clock: Clock;
  #mode: FollowMode | undefined;
  #restsUntilMs = Number.NEGATIVE_INFINITY;
  #turn = new AbortController();
  #newest = 0;
  #hasBegun = false;
  /** The last one of the stream. */
  #sign: Sign | undefined;
  /** When the replica that is followed was asked last, where it has answered nothing. */
  #unansweredMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether newer sessions come by themselves. */
  get isLive(): boolean {
    return this.#mode !== undefined;
  }

  /** What is seen of the merchant where its condition is not. */
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

  /** Something has come by the stream. */
  heard(): void {
    this.#sign = { at: this.#clock.now(), atMs: this.#clock.monotonicMs() };
  }

  /** The replica that is followed was asked. @param unansweredMs when that was, where it has answered nothing */
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
    // Of a refusal that lasts the tries that follow it are not told.
    this.#restsUntilMs = isLasting(event.error)
      ? Number.POSITIVE_INFINITY
      : this.#clock.monotonicMs() + event.retryInMs;
  }

  /** @returns whether it is newer than every one before it */
  isNew({ generation }: Pick<Session, 'generation'>): boolean {
    if (generation <= this.#newest) return false;
    this.#newest = generation;
    return true;
  }

  /** Another client begins. @returns aborts when the next one is to */
  begin(): AbortSignal {
    this.#turn = new AbortController();
    this.#mode = undefined;
    this.#unansweredMs = undefined;
    this.#restsUntilMs = Number.NEGATIVE_INFINITY;
    return this.#turn.signal;
  }

  /** Ends the following of a replica that has gone silent, for one that holds this. @returns false for one that holds an older session */
  leaveFor({ generation = 0 }: Partial<Pick<Session, 'generation'>>): boolean {
    const isBehind = generation < this.#newest;
    if (!isBehind) this.#turn.abort();
    return !isBehind;
  }

  /** Ends a wait for the next try. @returns false where there is none to end */
  wake(): boolean {
    const isResting = this.#mode === undefined && this.#clock.monotonicMs() < this.#restsUntilMs;
    if (isResting) this.#turn.abort();
    return isResting;
  }
}

const isLasting = (error: unknown): boolean => error instanceof Unauthenticated || error instanceof Forbidden;
