import { pause } from './deadline.js';
import { type ClientEventListener, tell } from './client-event.js';
import { isLasting, type Place, placed, SessionBrokerError } from './errors.js';
import { followEvents, type FollowParts, longPoll, POLL_WAIT_S } from './follow-broker.js';
import { type FollowMode, FollowPolicy, type Turn } from './follow-policy.js';

export interface FollowerParts extends FollowParts {
  readonly random: () => number;
  readonly onEvent: ClientEventListener | undefined;
  readonly start: FollowMode;
  /** For messages: which broker was asked, for which merchant. */
  readonly place: Place;
}

/** The broker counts a wait in whole seconds: slightly less than requested is not early. */
const WAITED_MS = POLL_WAIT_S * 1_000 - 1_000;

/** Keeps the shelf fresh in the background, from `follow` until the client is closed. */
export class SessionFollower {
  readonly #parts: FollowerParts;
  readonly #policy: FollowPolicy;
  #running: Promise<void> | undefined;
  #isLive = false;
  /** The code of a lasting refusal that was already reported. */
  #refusal: string | undefined;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#policy = new FollowPolicy({ start: parts.start, random: parts.random });
  }

  /** Whether newer sessions currently arrive on their own. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** Starts once; further calls do nothing. */
  follow(): void {
    this.#running ??= this.#run();
  }

  /** Resolves once following has ended, which it does when the client is closed. */
  async ended(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    const { closed, time } = this.#parts;
    while (!closed.aborted) {
      const { mode } = this.#policy;
      const turn = mode === 'events' ? await this.#streamTurn() : await this.#pollTurn();
      if (closed.aborted) return;
      const next = this.#policy.after(turn, time.monotonicMs());
      this.#report(mode, turn, next.waitMs);
      if (next.waitMs > 0 && !(await this.#rest(next.waitMs))) return;
    }
  }

  async #streamTurn(): Promise<Turn> {
    const { time } = this.#parts;
    let openedAtMs: number | undefined;
    let wasAlive = false;
    const watch = {
      opened: () => void (openedAtMs = time.monotonicMs()),
      alive: (retryMs: number | undefined) => {
        wasAlive = true;
        if (retryMs !== undefined) this.#policy.pace(retryMs);
        this.#nowLive('events');
      },
    };
    const ended = (error?: unknown): Turn =>
      openedAtMs === undefined
        ? { kind: 'failed', error }
        : { kind: 'stream', lastedMs: time.monotonicMs() - openedAtMs, wasAlive, error };
    return followEvents(this.#parts, watch).then(() => ended(), ended);
  }

  async #pollTurn(): Promise<Turn> {
    const { time } = this.#parts;
    const startedAtMs = time.monotonicMs();
    try {
      const newer = await longPoll(this.#parts);
      const waited = time.monotonicMs() - startedAtMs >= WAITED_MS;
      return { kind: 'polled', newer, waited };
    } catch (error) {
      return { kind: 'failed', error };
    }
  }

  #report(mode: FollowMode, turn: Turn, waitMs: number): void {
    if (turn.kind === 'polled' && waitMs === 0) return this.#nowLive('poll');
    this.#isLive = false;
    const { onEvent, place } = this.#parts;
    const refusal = 'error' in turn && isLasting(turn.error) ? turn.error.code : undefined;
    if (refusal !== undefined && refusal === this.#refusal) return;
    this.#refusal = refusal;
    const cause = 'error' in turn ? placed(turn.error, place) : undefined;
    const error = cause instanceof SessionBrokerError ? cause : undefined;
    tell(onEvent, { type: 'interrupted', mode, retryInMs: Math.ceil(waitMs), error });
  }

  #nowLive(mode: FollowMode): void {
    this.#refusal = undefined;
    if (this.#isLive) return;
    this.#isLive = true;
    tell(this.#parts.onEvent, { type: 'following', mode });
  }

  /** @returns false when the client was closed meanwhile */
  async #rest(waitMs: number): Promise<boolean> {
    const { time, closed } = this.#parts;
    const rested = pause(time, waitMs, { signal: closed, background: true });
    return rested.then(
      () => true,
      () => false,
    );
  }
}
