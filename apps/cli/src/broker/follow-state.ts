import { type ClientEvent, Forbidden, type Session, Unauthenticated } from '#libs/client';
import type { Clock } from '#libs/clock';

type FollowMode = Extract<ClientEvent, { readonly type: 'following' }>['mode'];

/** What the client package is doing, by its events. It may be told to wait for minutes, and is begun anew where nothing is left to wait for. */
export class FollowState {
  readonly #clock: Clock;
  #mode: FollowMode | undefined;
  #restsUntilMs = Number.NEGATIVE_INFINITY;
  #turn = new AbortController();
  #newest = 0;
  #hasBegun = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether newer sessions come by themselves. */
  get isLive(): boolean {
    return this.#mode !== undefined;
  }

  /** Whether the stream of its sessions is. */
  get streamOpen(): boolean {
    return this.#mode === 'events';
  }

  /** What is seen of the merchant where its condition is not. */
  get leaves(): string {
    return this.streamOpen
      ? 'its sessions come by the stream that is open, and nothing else is seen of the merchant'
      : 'nothing is seen of the merchant';
  }

  /** Whether the merchant has ever been followed, or a session of it has come. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  note(event: ClientEvent): void {
    if (event.type === 'following' || event.type === 'session') this.#hasBegun = true;
    if (event.type === 'following') this.#mode = event.mode;
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
