import type { Clock, ScheduledTask } from '#libs/clock';
import { describeRedisError } from './redis-failure.js';

/** Called once per change, and once for the first verdict; `detail` is one line, free of secrets. */
export type StateChangeHandler = (up: boolean, detail: string) => void;

export interface RedisHealthOptions {
  readonly clock: Clock;
  /** Does what the store needs of Redis, end to end; rejects when any of it fails. */
  readonly probe: () => Promise<void>;
  readonly onStateChange: StateChangeHandler;
}

/** While up, a silent connection is noticed this soon even when nobody asks for anything. */
const PROBE_WHEN_UP_MS = 2_000;
/** While down, the way back is looked for this often: it bounds how long an outage outlives itself. */
const PROBE_WHEN_DOWN_MS = 250;

/**
 * Whether the store can be used. Any failure says no; only a probe that passed in full says yes, so that a store that
 * does some things and not others (a read-only replica, one dead shard) is down and stays down instead of flapping.
 */
export class RedisHealth {
  readonly #options: RedisHealthOptions;
  readonly #firstVerdict: Promise<void>;
  #decided: () => void = () => undefined;
  #state: { readonly up: boolean; readonly sinceMs: number } | undefined;
  #next: ScheduledTask | undefined;
  #probing = false;
  #probeAgain = false;
  #closed = false;

  constructor(options: RedisHealthOptions) {
    this.#options = options;
    this.#firstVerdict = new Promise((resolve) => {
      this.#decided = resolve;
    });
  }

  get up(): boolean {
    return this.#state?.up === true;
  }

  /** Resolves when it is known for the first time whether the store answers. */
  settled(): Promise<void> {
    return this.#firstVerdict;
  }

  /** Gives the connections `graceMs` to come up before silence is taken for an answer. */
  start(graceMs: number): void {
    this.#probeIn(graceMs);
  }

  failed(detail: string): void {
    // While down the next probe is on its way already, and must not be put off by every further failure.
    if (this.#state?.up === false) return;
    this.#decide(false, detail);
    this.#probeIn(PROBE_WHEN_DOWN_MS);
  }

  /** A connection is there (again): finds out at once whether it is of use. */
  probeNow(): void {
    if (this.#probing) this.#probeAgain = true;
    else this.#probeIn(0);
  }

  close(): void {
    this.#closed = true;
    this.#next?.cancel();
    this.#decided();
  }

  #probeIn(delayMs: number): void {
    if (this.#closed || this.#probing) return;
    this.#next?.cancel();
    this.#next = this.#options.clock.schedule(delayMs, () => void this.#probe());
  }

  async #probe(): Promise<void> {
    this.#probing = true;
    this.#probeAgain = false;
    const failure = await this.#options.probe().then(() => undefined, describeRedisError);
    this.#probing = false;
    if (this.#closed) return;
    if (failure === undefined) this.#decide(true, 'the store answers');
    else this.#decide(false, failure);
    this.#probeIn(this.#probeAgain ? 0 : this.up ? PROBE_WHEN_UP_MS : PROBE_WHEN_DOWN_MS);
  }

  #decide(up: boolean, detail: string): void {
    if (this.#closed || this.#state?.up === up) return;
    const nowMs = this.#options.clock.monotonicMs();
    const wasForMs = this.#state === undefined ? undefined : Math.round(nowMs - this.#state.sinceMs);
    this.#state = { up, sinceMs: nowMs };
    this.#options.onStateChange(up, wasForMs === undefined || !up ? detail : `${detail} again, after ${wasForMs} ms`);
    this.#decided();
  }
}
