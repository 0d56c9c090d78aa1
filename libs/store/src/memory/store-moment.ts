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

/** Servers that take over from one another disagree by less. */
const SET_BACK_MS = 2_000;

/** A moment is over when its time has come, or when it lies further ahead than it was set: the clock was set back. */
export function isOver(moment: StoreMoment, nowMs: number): boolean {
  return remainingMs(moment, nowMs) === 0 || moment.endsAtMs - nowMs > moment.lengthMs + SET_BACK_MS;
}
