import type { Judge } from './judge.js';
import type { VirtualWorld } from './virtual-world.js';

/** The replica in whose process a promise is to settle. */
interface Settling {
  readonly life: { readonly awakeSinceMs: number; readonly isRunning: boolean };
  /** From when it was made, or from when the process last woke up. */
  readonly withinMs: number;
}

interface Outstanding extends Settling {
  readonly name: string;
  readonly sinceMs: number;
}

/** Promises that replicas have given: each settles in time, as long as its process runs. */
export class Settlements {
  readonly #world: VirtualWorld;
  readonly #judge: Judge;
  readonly #outstanding = new Set<Outstanding>();

  constructor(world: VirtualWorld, judge: Judge) {
    this.#world = world;
    this.#judge = judge;
  }

  /** Tracks a promise that must not be rejected. */
  track(name: string, promise: Promise<unknown>, settling: Settling): void {
    const outstanding = { name, sinceMs: this.#world.nowMs, ...settling };
    this.#outstanding.add(outstanding);
    promise.then(
      () => this.#outstanding.delete(outstanding),
      (error: unknown) => {
        this.#outstanding.delete(outstanding);
        const detail = error instanceof Error ? error.stack : String(error);
        this.#judge.violated('nothing is broken', `${name} was rejected: ${detail}`);
      },
    );
  }

  look(): void {
    for (const outstanding of this.#outstanding) {
      const { name, life, sinceMs, withinMs } = outstanding;
      if (!life.isRunning) continue;
      const waitedMs = this.#world.nowMs - Math.max(sinceMs, life.awakeSinceMs);
      if (waitedMs > withinMs) this.#judge.violated('every promise settles', `${name}, after ${waitedMs} ms`);
    }
  }
}
