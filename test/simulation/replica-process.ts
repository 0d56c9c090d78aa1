import { type Clock, type Instant, instantFromEpochMs, type ScheduledTask } from '#libs/clock';
import type { PortMoment, PortOperation, PortPoint } from './scenario.js';
import type { VirtualWorld } from './virtual-world.js';

/** The world's wall clock when a simulation begins. */
export const WORLD_EPOCH_MS = Date.parse('2026-01-01T00:00:00.000Z');

interface ArmedStop {
  readonly at: PortPoint;
  readonly stop: () => void;
}

/**
 * A process of the operating system: it can be frozen and killed. Everything that reaches the program in it (timers,
 * answers, announcements, questions) comes through `arrive`, and everything it sends goes through `leave`, so that each
 * port call and its continuation is a place at which the schedule may stop it.
 */
export class ReplicaProcess {
  readonly owner: string;
  readonly clock: ReplicaClock;
  readonly #world: VirtualWorld;
  readonly #inbox: (() => void)[] = [];
  readonly #outbox: (() => void)[] = [];
  #state: 'running' | 'frozen' | 'dead' = 'running';
  #armed: ArmedStop[] = [];
  #working = false;

  constructor(owner: string, world: VirtualWorld, wallOffsetMs: number) {
    this.owner = owner;
    this.#world = world;
    this.clock = new ReplicaClock(this, world, wallOffsetMs);
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  get isDead(): boolean {
    return this.#state === 'dead';
  }

  /** Hands something to the program: now, after what is already waiting, or never. */
  arrive(task: () => void): void {
    if (this.#state === 'dead') return;
    this.#inbox.push(task);
    this.#work();
  }

  /** The answer to a port call: the program may be stopped before it sees it. */
  answer(operation: PortOperation, task: () => void): void {
    this.#pass(operation, 'answer');
    this.arrive(task);
  }

  /** The program calls a port: it may be stopped before or after the request is on its way. */
  leave(operation: PortOperation, send: () => void): void {
    this.#pass(operation, 'before');
    if (this.#state === 'dead') return;
    if (this.#state === 'frozen') this.#outbox.push(() => this.#send(operation, send));
    else this.#send(operation, send);
  }

  /** `stop` is called the next time that the program reaches this place. */
  arm(at: PortPoint, stop: () => void): void {
    this.#armed.push({ at, stop });
  }

  freeze(): void {
    if (this.#state === 'running') this.#state = 'frozen';
  }

  thaw(): void {
    if (this.#state !== 'frozen') return;
    this.#state = 'running';
    for (const send of this.#outbox.splice(0)) send();
    this.#work();
  }

  kill(): void {
    this.#state = 'dead';
    this.#inbox.length = 0;
    this.#outbox.length = 0;
  }

  #send(operation: PortOperation, send: () => void): void {
    send();
    this.#pass(operation, 'after');
  }

  #pass(operation: PortOperation, moment: PortMoment): void {
    if (this.#state !== 'running') return;
    const met = this.#armed.find(({ at }) => at.operation === operation && at.moment === moment);
    if (met === undefined) return;
    this.#armed = this.#armed.filter((armed) => armed !== met);
    met.stop();
  }

  /** One thing at a time: what it starts has settled before the next. */
  #work(): void {
    if (this.#working || this.#state !== 'running') return;
    const next = this.#inbox.shift();
    if (next === undefined) return;
    this.#working = true;
    next();
    this.#world.after(0, () => {
      this.#working = false;
      this.#work();
    });
  }
}

/**
 * How one process sees time: a wall clock that may be wrong and jump, and a monotonic one that goes on while it is
 * frozen.
 */
export class ReplicaClock implements Clock {
  readonly #process: ReplicaProcess;
  readonly #world: VirtualWorld;
  readonly #startedAtMs: number;
  #wallOffsetMs: number;
  #pending = 0;

  constructor(process: ReplicaProcess, world: VirtualWorld, wallOffsetMs: number) {
    this.#process = process;
    this.#world = world;
    this.#startedAtMs = world.nowMs;
    this.#wallOffsetMs = wallOffsetMs;
  }

  get wallOffsetMs(): number {
    return this.#wallOffsetMs;
  }

  /** Pending timers: a replica that has stopped leaves none. */
  get pendingTasks(): number {
    return this.#pending;
  }

  now(): Instant {
    return instantFromEpochMs(WORLD_EPOCH_MS + Math.floor(this.#world.nowMs + this.#wallOffsetMs));
  }

  monotonicMs(): number {
    return this.#world.nowMs - this.#startedAtMs;
  }

  schedule(delayMs: number, task: () => void): ScheduledTask {
    this.#pending += 1;
    let isPending = true;
    const end = (): boolean => {
      const was = isPending;
      if (was) this.#pending -= 1;
      isPending = false;
      return was;
    };
    const planned = this.#world.after(delayMs, () => {
      this.#process.arrive(() => {
        if (end()) task();
      });
    });
    const cancel = (): void => {
      if (end()) planned.cancel();
    };
    return { cancel };
  }

  jump(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }
}
