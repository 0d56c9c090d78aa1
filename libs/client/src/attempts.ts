import { Deadline, pause, within } from './deadline.js';
import { tell } from './client-event.js';
import { BrokerUnavailable, placed } from './errors.js';
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
  readonly #pace: Pace;
  #failures = 0;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** @param atLeastMs what the broker asked for; the jitter is added to it */
  nextMs(atLeastMs = 0): number {
    const { baseMs, capMs, random } = this.#pace;
    // 2 ** 30 keeps the product finite however long a broker is away.
    const span = Math.min(capMs, baseMs * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    return atLeastMs + random() * span;
  }

  reset(): void {
    this.#failures = 0;
  }
}

/** The broker lets a plain read wait slightly longer than the gateway timeout, which is 5 s by default. */
const MAX_ATTEMPT_MS = 8_000;
const PACE = { baseMs: 200, capMs: 2_000 };

/**
 * Work that a caller waits for: tried again while the broker is unreachable, restarting or busy, until its time is up.
 * @param once must be safe to repeat
 * @throws the last complete failure when the time is up; any other error, from `once` or a signal, immediately
 */
export async function persist<T>(
  parts: Settings & { readonly closed: AbortSignal },
  once: (signal: AbortSignal) => Promise<T>,
  signals: readonly (AbortSignal | undefined)[],
): Promise<T> {
  const { time, random, timeoutMs, closed, onEvent } = parts;
  const whole = new Deadline(time, { ms: timeoutMs, parents: [closed, ...signals] });
  // A connection to a replica that has vanished uses up one attempt, not all of the time.
  const ms = Math.min(MAX_ATTEMPT_MS, Math.ceil(timeoutMs / 2));
  const bounds = { ms, parents: [whole.signal], says: ', the time of one try of several' };
  const backOff = new BackOff({ ...PACE, random });
  let last: BrokerUnavailable | undefined;
  try {
    for (let [attempt, waitMs] = [1, 0]; ; attempt += 1) {
      try {
        if (last !== undefined) await pause(time, waitMs, { signal: whole.signal });
        return await within(time, bounds, ({ signal }) => once(signal));
      } catch (error) {
        if (!(error instanceof BrokerUnavailable)) throw placed(error, parts);
        // "The time is up" is less useful than what went wrong before.
        if (error === whole.signal.reason) throw placed(last ?? error, parts);
        last = error;
        waitMs = backOff.nextMs(error.retryAfterMs);
        if (waitMs >= whole.remainingMs()) throw placed(error, parts);
        tell(onEvent, { type: 'retrying', attempt, retryInMs: Math.ceil(waitMs), error: placed(error, parts) });
      }
    }
  } finally {
    whole.close();
  }
}
