import { type Clock, type Instant, instantFromEpochMs, type ScheduledTask } from '#libs/clock';
import type { FakeClock } from '#libs/testing';

/** With more timers than this at one moment, time would never go on. */
const MAX_AT_ONCE = 20_000;

/**
 * A process of the operating system, and how it sees time: a wall clock that may be wrong, and a monotonic one that
 * goes on while it is frozen. Whatever reaches the program in it comes through `arrive`: once it has thawed, or never.
 */
export class SimulatedProcess implements Clock {
  readonly owner: string;
  /** By true time: since when it is as it is. */
  awakeSinceMs: number;
  wallOffsetMs: number;
  readonly #world: FakeClock;
  readonly #noPace: () => void;
  readonly #startedAtMs: number;
  readonly #inbox: (() => void)[] = [];
  readonly #timers = new Set<object>();
  #state: 'running' | 'frozen' | 'dead' = 'running';
  #atOnce = { atMs: 0, timers: 0 };

  constructor(owner: string, world: FakeClock, of: { readonly wallOffsetMs: number; readonly noPace: () => void }) {
    this.owner = owner;
    this.wallOffsetMs = of.wallOffsetMs;
    this.#world = world;
    this.#noPace = of.noPace;
    this.#startedAtMs = world.monotonicMs();
    this.awakeSinceMs = this.#startedAtMs;
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  /** A replica that has stopped leaves none. */
  get timers(): number {
    return this.#timers.size;
  }

  now(): Instant {
    return instantFromEpochMs(Math.floor(this.#world.now() + this.wallOffsetMs));
  }

  monotonicMs(): number {
    return this.#world.monotonicMs() - this.#startedAtMs;
  }

  schedule(delayMs: number, task: () => void): ScheduledTask {
    const timer = {};
    if (!this.#hasPace()) return { cancel: () => undefined };
    this.#timers.add(timer);
    const planned = this.#world.schedule(delayMs, () => this.arrive(() => this.#timers.delete(timer) && task()));
    return { cancel: () => void (this.#timers.delete(timer) && planned.cancel()) };
  }

  arrive(task: () => void): void {
    if (this.#state === 'running') task();
    else if (this.#state === 'frozen') this.#inbox.push(task);
  }

  freeze(): void {
    if (this.#state === 'running') this.#state = 'frozen';
  }

  thaw(): void {
    if (this.#state !== 'frozen') return;
    this.#state = 'running';
    this.awakeSinceMs = this.#world.monotonicMs();
    for (const task of this.#inbox.splice(0)) this.#world.schedule(0, () => this.arrive(task));
  }

  kill(): void {
    this.#state = 'dead';
  }

  #hasPace(): boolean {
    const atMs = this.#world.monotonicMs();
    this.#atOnce = { atMs, timers: this.#atOnce.atMs === atMs ? this.#atOnce.timers + 1 : 1 };
    if (this.#atOnce.timers <= MAX_AT_ONCE) return true;
    this.#noPace();
    return false;
  }
}
