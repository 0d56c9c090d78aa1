import type { Clock } from '#libs/clock';
import type { ClaimRefusal, MomentMark } from './ports/session-store.js';

/** What ends at a moment of the store. */
export type MomentKind = 'lease' | 'due' | 'cool_down';

interface Watch {
  readonly mark: MomentMark;
  readonly endsAtMs: number;
}

/** Added to the moment itself: the store and we do not agree to the millisecond. */
const GRACE_MS = 250;

const kindOf: Readonly<Record<ClaimRefusal['kind'], MomentKind | undefined>> = {
  held: 'lease',
  not_due: 'due',
  backing_off: 'due',
  cooled_down: 'cool_down',
  budget_exhausted: undefined,
};

/**
 * Moments of the store that this process watches by its own monotonic clock. One that has stood unchanged for as long
 * as it had left when first seen is over, whatever the store's clock was set to in the meantime.
 */
export class MomentWatches {
  readonly #clock: Clock;
  readonly #watches = {
    lease: new Map<string, Watch>(),
    due: new Map<string, Watch>(),
    cool_down: new Map<string, Watch>(),
  };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Seen again unchanged, a moment keeps the end it had when first seen. */
  see(merchant: string, kind: MomentKind, { mark, inMs }: { readonly mark: MomentMark; readonly inMs: number }): void {
    if (this.#watches[kind].get(merchant)?.mark === mark) return;
    this.#watches[kind].set(merchant, { mark, endsAtMs: this.#clock.monotonicMs() + inMs + GRACE_MS });
  }

  seeRefusal(merchant: string, { kind, mark, retryInMs }: ClaimRefusal): void {
    const moment = kindOf[kind];
    if (moment !== undefined && mark !== undefined) this.see(merchant, moment, { mark, inMs: retryInMs });
  }

  /** The moment of this kind if it is over; undefined if it is not, or not known. */
  over(merchant: string, kind: MomentKind): MomentMark | undefined {
    const watch = this.#watches[kind].get(merchant);
    return watch !== undefined && watch.endsAtMs <= this.#clock.monotonicMs() ? watch.mark : undefined;
  }

  forget(merchant: string, kind?: MomentKind): void {
    if (kind !== undefined) this.#watches[kind].delete(merchant);
    else for (const watches of Object.values(this.#watches)) watches.delete(merchant);
  }
}
