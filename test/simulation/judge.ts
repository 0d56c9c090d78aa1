import type { VirtualWorld } from './virtual-world.js';

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

/** Keeps the first violation, and what led to it. The run ends with it: anything later would be a consequence. */
export class Judge {
  readonly #world: VirtualWorld;
  readonly #keepsTrace: boolean;
  readonly trace: string[] = [];
  #violation: Violation | undefined;
  #digest = 0x811c9dc5;

  constructor(world: VirtualWorld, keepsTrace: boolean) {
    this.#world = world;
    this.#keepsTrace = keepsTrace;
  }

  get violation(): Violation | undefined {
    return this.#violation;
  }

  /** A number that stands for the whole trace: two runs of the same scenario have the same one. */
  get digest(): number {
    return this.#digest;
  }

  note(line: () => string): void {
    if (!this.#keepsTrace) return;
    const noted = `${this.#world.nowMs.toFixed(1).padStart(9)}  ${line()}`;
    for (let at = 0; at < noted.length; at += 1) {
      this.#digest = Math.imul(this.#digest ^ noted.charCodeAt(at), 0x01000193) >>> 0;
    }
    this.trace.push(noted);
  }

  violated(invariant: Invariant, detail: string): void {
    if (this.#violation !== undefined) return;
    this.note(() => `VIOLATED: ${invariant}: ${detail}`);
    this.#violation = { invariant, atMs: this.#world.nowMs, detail };
    this.#world.stop();
  }
}
