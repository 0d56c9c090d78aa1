import type { Instant } from '#libs/clock';
import type { MomentMark } from '#libs/session';

/** One reading of both clocks: durations are judged by the monotonic one, fences are seeded from the wall. */
export interface StoreTime {
  readonly monotonicMs: number;
  readonly wall: Instant;
}

/** A moment that the store has set. */
export interface StoreMoment {
  /** Names this moment until it is set anew. */
  readonly mark: MomentMark;
  readonly endsAtMs: number;
  /** How far ahead it was when it was set: never more than this remains of it. */
  readonly lengthMs: number;
}

export function remainingMs({ endsAtMs, lengthMs }: StoreMoment, nowMs: number): number {
  return Math.max(0, Math.min(endsAtMs - nowMs, lengthMs));
}

/** A moment is over when its time has come, or when the claimant has watched it stand for its whole length. */
export function isOver(moment: StoreMoment, nowMs: number, watched: MomentMark | undefined): boolean {
  return moment.mark === watched || remainingMs(moment, nowMs) === 0;
}
