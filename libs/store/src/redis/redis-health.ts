import { Alarm, type Clock } from '#libs/clock';
import { type RedisVerdict, WITHOUT_CONNECTION } from './redis-failure.js';

/** A store answers, refuses (a missing right, no memory, only reads) or is silent. */
export type StoreHealthState = 'answers' | RedisVerdict['kind'];

/** Called for the first verdict, each change, and another reason; `detail` is that in one line, free of secrets. */
export type StateChangeHandler = (state: StoreHealthState, detail: string) => void;

interface RedisHealthOptions {
  readonly clock: Clock;
  /** Does everything that the store needs from Redis, end to end, and says what the failure of any of it means. */
  readonly probe: () => Promise<RedisVerdict | undefined>;
  /** A probe that took longer than this ran in a stalled process, and says nothing about the store. */
  readonly stalledAfterMs: number;
  readonly onStateChange: StateChangeHandler;
}

/** While the store answers, a silent connection is noticed this soon even if there are no requests. */
const PROBE_WHEN_ANSWERING_MS = 2_000;
/** Otherwise it is probed this often, also if something fails: it bounds how long an outage seems to last. */
const PROBE_SOON_MS = 250;
/** A different reason is reported this long after the one before at the earliest: reasons may take turns. */
const REASON_STANDS_MS = 5_000;

/** As it was reported. */
interface Verdict {
  readonly state: StoreHealthState;
  readonly sinceMs: number;
  readonly detail: string;
  readonly toldAtMs: number;
}

/**
 * Whether the store can be used. Only a probe decides, because it does everything that the store does: so a store that
 * does some things and not others refuses and keeps refusing instead of flapping. A single command that fails brings a
 * probe forward.
 */
export class RedisHealth {
  readonly #options: RedisHealthOptions;
  readonly #firstVerdict = Promise.withResolvers<void>();
  #current: Verdict | undefined;
  readonly #alarm: Alarm;
  #lastProbeEndedAtMs = -Infinity;
  #probing = false;
  #closed = false;

  constructor(options: RedisHealthOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock, () => void this.#probe());
  }

  /** Resolves as soon as it is known whether the store answers. */
  settled(): Promise<void> {
    return this.#firstVerdict.promise;
  }

  /** Something failed: a probe finds out what it means. However much fails, probes keep their interval. */
  failed(): void {
    const sinceLastMs = this.#options.clock.monotonicMs() - this.#lastProbeEndedAtMs;
    this.probeIn(Math.max(0, PROBE_SOON_MS - sinceLastMs));
  }

  /** Unless one is under way, or comes sooner: finds out whether the connections, if there are any, are usable. */
  probeIn(delayMs: number): void {
    if (!this.#probing) this.#alarm.in(delayMs);
  }

  close(): void {
    this.#closed = true;
    this.#alarm.close();
    this.#firstVerdict.resolve();
  }

  async #probe(): Promise<void> {
    const { clock, probe, stalledAfterMs } = this.#options;
    this.#probing = true;
    const startedMs = clock.monotonicMs();
    const failure = await probe();
    this.#lastProbeEndedAtMs = clock.monotonicMs();
    this.#probing = false;
    if (this.#closed) return;
    const wasStalled = this.#lastProbeEndedAtMs - startedMs > stalledAfterMs;
    if (failure === undefined) this.#decide('answers', 'the store answers');
    else if (failure.kind === 'refuses' || !wasStalled) this.#decide(failure.kind, failure.reason);
    this.probeIn(failure === undefined ? PROBE_WHEN_ANSWERING_MS : PROBE_SOON_MS);
  }

  #decide(state: StoreHealthState, detail: string): void {
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#current;
    if (known?.state === state && !isNews(detail, known, nowMs)) return;
    const sinceMs = known?.state === state ? known.sinceMs : nowMs;
    this.#current = { state, sinceMs, detail, toldAtMs: nowMs };
    const isBack = state === 'answers' && known !== undefined;
    const after = isBack ? ` again, after ${Math.round(nowMs - known.sinceMs)} ms` : '';
    this.#options.onStateChange(state, `${detail}${after}`);
    this.#firstVerdict.resolve();
  }
}

/**
 * A connection that has just ended has no reason yet: the attempts to reconnect find it. A server that only hangs at
 * first may be gone later.
 */
function isNews(detail: string, told: Verdict, nowMs: number): boolean {
  if (detail === told.detail || WITHOUT_CONNECTION.has(detail)) return false;
  return WITHOUT_CONNECTION.has(told.detail) || nowMs - told.toldAtMs >= REASON_STANDS_MS;
}
