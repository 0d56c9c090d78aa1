import type { Instant } from '#libs/clock';
import type { MomentMark } from '#libs/session';

/** One reading of both clocks: durations are measured by the monotonic one, fences are seeded from the wall clock. */
export interface StoreTime {
  readonly monotonicMs: number;
  readonly wall: Instant;
}

/** A moment that the store has set. */
export interface StoreMoment {
  /** Identifies this moment until it is set again. */
  readonly mark: MomentMark;
  readonly endsAtMs: number;
  /** How far ahead it was when it was set: what remains of it is never more than this. */
  readonly lengthMs: number;
}

export function remainingMs({ endsAtMs, lengthMs }: StoreMoment, nowMs: number): number {
  return Math.max(0, Math.min(endsAtMs - nowMs, lengthMs));
}

/** A moment is over when its time has come, or when the claimant has watched it unchanged for its whole length. */
export function isOver(moment: StoreMoment, nowMs: number, watched: MomentMark | undefined): boolean {
  return moment.mark === watched || remainingMs(moment, nowMs) === 0;
}
