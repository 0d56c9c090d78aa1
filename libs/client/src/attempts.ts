import { Deadline, pause, within } from './deadline.js';
import { tell } from './client-event.js';
import { BrokerUnavailable, placed, type SessionBrokerError } from './errors.js';
import type { Settings } from './options.js';

interface Pace {
  readonly baseMs: number;
  readonly capMs: number;
  readonly random: () => number;
}

/**
 * Exponential back-off with full jitter, so that a broker that comes back is not hit by all its clients at once. The
 * first wait is drawn from [0, base), the next from [0, 2 base), and so on up to the cap.
 */
export class BackOff {
  readonly #options: Pace;
  #baseMs: number;
  #failures = 0;

  constructor(options: Pace) {
    this.#options = options;
    this.#baseMs = options.baseMs;
  }

  get failures(): number {
    return this.#failures;
  }

  /** @param atLeastMs what the broker asked for; the jitter is added to it */
  nextMs(atLeastMs = 0): number {
    const { capMs, random } = this.#options;
    // 2 ** 30 keeps the product finite however long a broker is away.
    const span = Math.min(capMs, this.#baseMs * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    return atLeastMs + random() * span;
  }

  setBaseMs(baseMs: number): void {
    this.#baseMs = Math.min(baseMs, this.#options.capMs);
  }

  reset(): void {
    this.#failures = 0;
  }
}

type AttemptsParts = Settings & { readonly closed: AbortSignal };

/** The broker lets a plain read wait slightly longer than the gateway timeout, which is 5 s by default. */
const MAX_ATTEMPT_MS = 8_000;
const BASE_MS = 200;
const CAP_MS = 2_000;

/** Work that a caller waits for: retried while the broker is unreachable, restarting or busy, until its time is up. */
export class Attempts {
  readonly #parts: AttemptsParts;
  readonly #attemptMs: number;
  #running = 0;
  #lastFailure: SessionBrokerError | undefined;

  constructor(parts: AttemptsParts) {
    this.#parts = parts;
    // A connection to a replica that has vanished uses up one attempt, not all of the time.
    this.#attemptMs = Math.min(MAX_ATTEMPT_MS, Math.ceil(parts.timeoutMs / 2));
  }

  /** Of the most recent attempt; undefined if it succeeded. Reset when work starts while none is running. */
  get lastFailure(): SessionBrokerError | undefined {
    return this.#lastFailure;
  }

  /**
   * @param once must be safe to repeat
   * @throws the last complete failure when the time is up; any other error, from `once` or a signal, immediately
   */
  async run<T>(once: (signal: AbortSignal) => Promise<T>, signals: readonly (AbortSignal | undefined)[]): Promise<T> {
    const place = this.#parts;
    const { time, random, timeoutMs, closed, onEvent } = place;
    const whole = new Deadline(time, { ms: timeoutMs, parents: [closed, ...signals] });
    const backOff = new BackOff({ baseMs: BASE_MS, capMs: CAP_MS, random });
    let last: BrokerUnavailable | undefined;
    // An old failure says nothing about the current state.
    if (this.#running === 0) this.#lastFailure = undefined;
    this.#running += 1;
    try {
      for (let waitMs = 0; ;) {
        try {
          if (last !== undefined) await pause(time, waitMs, { signal: whole.signal });
          return await this.#attempt(once, whole);
        } catch (error) {
          if (!(error instanceof BrokerUnavailable)) throw placed(error, place);
          // "The time is up" is less useful than what went wrong before.
          if (error === whole.signal.reason) throw placed(last ?? error, place);
          last = error;
          this.#lastFailure = placed(error, place);
          waitMs = backOff.nextMs(error.retryAfterMs);
          if (waitMs >= whole.remainingMs()) throw placed(error, place);
          const facts = { attempt: backOff.failures, retryInMs: Math.ceil(waitMs) };
          tell(onEvent, { type: 'retrying', ...facts, error: placed(error, place) });
        }
      }
    } finally {
      this.#running -= 1;
      whole.close();
    }
  }

  async #attempt<T>(once: (signal: AbortSignal) => Promise<T>, whole: Deadline): Promise<T> {
    const says = ', the time of one try of several';
    const bounds = { ms: this.#attemptMs, parents: [whole.signal], says };
    const outcome = await within(this.#parts.time, bounds, ({ signal }) => once(signal));
    this.#lastFailure = undefined;
    return outcome;
  }
}
