import type { Clock, ScheduledTask } from '#libs/clock';
import { returnMemory } from './return-memory.js';

const MIB = 1_048_576;
const LOOK_MS = 15_000;
/** If less is left behind, it is not worth a collection. */
const MIN_LEFT_BEHIND_BYTES = 16 * MIB;
/** Share of one processor's time between two looks: the collection then holds up only a few. */
const MAX_IDLE_SHARE = 0.02;
/** Load that comes and goes is no reason to collect each time it goes. */
const MIN_BETWEEN_MS = 300_000;

export interface ProcessUsage {
  readonly residentBytes: number;
  /** Of all threads, since the start. */
  readonly processorMs: number;
}

interface MemoryParts {
  readonly clock: Clock;
  readonly usage?: () => ProcessUsage;
  readonly giveBack?: () => void;
}

/**
 * Gives back the memory that a period of load has left behind, once there is next to nothing to do. Created when
 * everything is loaded, it compares with what the process uses then. What a collection cannot free is needed, and
 * becomes the new baseline.
 */
export class MemoryAfterLoad {
  readonly #clock: Clock;
  readonly #usage: () => ProcessUsage;
  readonly #giveBack: () => void;
  #last: ProcessUsage;
  #lastAtMs: number;
  #atRestBytes: number;
  #givenBackAtMs = Number.NEGATIVE_INFINITY;
  #next: ScheduledTask;

  constructor({ clock, usage = usageOfProcess, giveBack = returnMemory }: MemoryParts) {
    this.#clock = clock;
    this.#usage = usage;
    this.#giveBack = giveBack;
    this.#last = usage();
    this.#lastAtMs = clock.monotonicMs();
    this.#atRestBytes = this.#last.residentBytes;
    this.#next = this.#lookLater();
  }

  close(): void {
    this.#next.cancel();
  }

  #lookLater(): ScheduledTask {
    return this.#clock.schedule(LOOK_MS, () => {
      this.#look();
      this.#next = this.#lookLater();
    });
  }

  #look(): void {
    const before = this.#last;
    const elapsedMs = this.#clock.monotonicMs() - this.#lastAtMs;
    this.#note();
    this.#atRestBytes = Math.min(this.#atRestBytes, this.#last.residentBytes);
    if (this.#last.residentBytes < this.#atRestBytes + MIN_LEFT_BEHIND_BYTES) return;
    const isIdle = this.#last.processorMs - before.processorMs <= elapsedMs * MAX_IDLE_SHARE;
    if (!isIdle || this.#lastAtMs - this.#givenBackAtMs < MIN_BETWEEN_MS) return;
    this.#giveBack();
    this.#givenBackAtMs = this.#clock.monotonicMs();
    this.#note();
    this.#atRestBytes = this.#last.residentBytes;
  }

  #note(): void {
    this.#last = this.#usage();
    this.#lastAtMs = this.#clock.monotonicMs();
  }
}

function usageOfProcess(): ProcessUsage {
  const { user, system } = process.cpuUsage();
  return { residentBytes: process.memoryUsage.rss(), processorMs: (user + system) / 1_000 };
}
