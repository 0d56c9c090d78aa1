import type { Session } from '#libs/session';
import type { FakeClock } from '#libs/testing';

/** What must hold, whatever fails. */
export type Invariant =
  | 'no expired session is handed out'
  | 'no generation names two sessions'
  | 'no generation that is held goes back'
  | 'the budget of a merchant is kept'
  | 'the ceiling of a replica is kept'
  | 'a dead session is not served for long after the last fault'
  | 'there is a session to serve soon after the last fault'
  | 'no more create calls than expected'
  | 'every promise settles'
  | 'no rejection is unhandled'
  | 'no timer is left after the stop'
  | 'nothing is broken'
  | 'every loop has a pace';

export interface Violation {
  readonly invariant: Invariant;
  readonly atMs: number;
  readonly detail: string;
}

/** The replica in whose process a promise is to settle. */
interface Settling {
  readonly process: { readonly awakeSinceMs: number; readonly isRunning: boolean };
  /** From when it was made, or from when the process last woke up. */
  readonly withinMs: number;
}

/** Keeps the first violation, and what led to it: anything later would be a consequence. */
export class Judge {
  readonly trace: string[] = [];
  violation: Violation | undefined;
  readonly #world: FakeClock;
  readonly #outstanding = new Map<object, Settling & { readonly name: string; readonly sinceMs: number }>();
  readonly #tokens = new Map<string, string>();

  constructor(world: FakeClock) {
    this.#world = world;
  }

  note(line: string): void {
    this.trace.push(`${this.#world.monotonicMs().toFixed(1).padStart(9)}  ${line}`);
  }

  violated(invariant: Invariant, detail: string): void {
    if (this.violation !== undefined) return;
    this.note(`VIOLATED: ${invariant}: ${detail}`);
    this.violation = { invariant, atMs: this.#world.monotonicMs(), detail };
  }

  broken(what: string, error: unknown): void {
    this.violated('nothing is broken', `${what}: ${error instanceof Error ? error.stack : String(error)}`);
  }

  /** One generation, one session: on its way to the store, at rest, and held in each life of each replica. */
  seen({ merchant, generation, authToken }: Session, where: string): void {
    const name = `${merchant}/${generation}`;
    const known = this.#tokens.get(name) ?? authToken;
    this.#tokens.set(name, known);
    if (known === authToken) return;
    this.violated('no generation names two sessions', `${name} is ${known} and ${authToken} (${where})`);
  }

  /** Tracks a promise that must settle in time as long as its process runs, and must not be rejected. */
  track(name: string, promise: Promise<unknown>, settling: Settling): void {
    const key = {};
    this.#outstanding.set(key, { name, sinceMs: this.#world.monotonicMs(), ...settling });
    promise
      .catch((error: unknown) => this.broken(`${name} was rejected`, error))
      .finally(() => this.#outstanding.delete(key));
  }

  look(): void {
    for (const { name, process, sinceMs, withinMs } of this.#outstanding.values()) {
      const waitedMs = this.#world.monotonicMs() - Math.max(sinceMs, process.awakeSinceMs);
      if (process.isRunning && waitedMs > withinMs) {
        this.violated('every promise settles', `${name}, after ${waitedMs} ms`);
      }
    }
  }
}
