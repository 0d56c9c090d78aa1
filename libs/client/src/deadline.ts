import { BrokerUnavailable, CallAborted, SessionBrokerError } from './errors.js';
import type { Time, Timer, TimerOptions } from './time.js';

/**
 * Settles as `work` does, or rejects with the signal's error as soon as it aborts, even if the work ignores the signal.
 * What the work does after that is ignored.
 */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise<T>((resolve, reject) => {
    const leave = (): void => reject(reasonOf(signal));
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

/** Resolves after `delayMs`; rejects with the signal's error. */
export async function pause(
  time: Time,
  delayMs: number,
  { signal, ...options }: TimerOptions & { readonly signal: AbortSignal },
): Promise<void> {
  let timer: Timer | undefined;
  const over = new Promise<void>((resolve) => (timer = time.schedule(delayMs, resolve, options)));
  await orAborted(over, signal).finally(() => timer?.cancel());
}

/** Our own aborts, such as timeouts, carry their error as the reason; a caller's reason can be anything. */
export function reasonOf(signal: AbortSignal): SessionBrokerError {
  const reason: unknown = signal.reason;
  return reason instanceof SessionBrokerError ? reason : CallAborted.by(reason);
}

interface DeadlineOptions extends TimerOptions {
  readonly ms: number;
  readonly says?: string;
  /** Signals that may also end the work; undefined ones are ignored. */
  readonly parents: readonly (AbortSignal | undefined)[];
}

/**
 * One deadline for work in several steps: a signal that aborts with `BrokerUnavailable` when the time is up, or with a
 * parent's reason when that parent aborts. The owner closes it, so that no timer or listener is left behind.
 */
export class Deadline {
  readonly #time: Time;
  readonly #options: TimerOptions;
  readonly #says: string;
  readonly #controller = new AbortController();
  readonly signal: AbortSignal = this.#controller.signal;
  readonly #parents: AbortSignal[];
  #endsAtMs = 0;
  #timer: Timer | undefined;

  constructor(time: Time, { ms, parents, says = '', ...options }: DeadlineOptions) {
    this.#time = time;
    this.#options = options;
    this.#says = says;
    this.#parents = parents.filter((parent) => parent !== undefined);
    this.restart(ms);
    for (const parent of this.#parents) parent.addEventListener('abort', this.#follow, { once: true });
    this.#follow();
  }

  remainingMs(): number {
    return Math.max(0, this.#endsAtMs - this.#time.monotonicMs());
  }

  restart(ms: number): void {
    this.#timer?.cancel();
    this.#endsAtMs = this.#time.monotonicMs() + ms;
    const expire = (): void =>
      this.#controller.abort(new BrokerUnavailable('timeout', `No answer within ${Math.round(ms)} ms${this.#says}`));
    this.#timer = this.#time.schedule(ms, expire, this.#options);
  }

  close(): void {
    this.#timer?.cancel();
    for (const parent of this.#parents) parent.removeEventListener('abort', this.#follow);
  }

  readonly #follow = (): void => {
    const parent = this.#parents.find(({ aborted }) => aborted);
    if (parent === undefined) return;
    this.#timer?.cancel();
    this.#controller.abort(reasonOf(parent));
  };
}

export async function within<T>(
  time: Time,
  options: DeadlineOptions,
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const deadline = new Deadline(time, options);
  try {
    return await work(deadline);
  } finally {
    deadline.close();
  }
}
