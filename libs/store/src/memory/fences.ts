import type { Instant } from '#libs/clock';
import type { MerchantRecord } from './merchant-record.js';

/** Above this there is no room left for the numbers that have to follow. */
const LAST_FLOOR = Number.MAX_SAFE_INTEGER + 1 - 2 ** 20;
const TEN_YEARS_MS = 10 * 365.25 * 86_400_000;

/** An implausibly high floor does not count: it would leave no number for the next generation. */
export function believedFloor(floor: number): number {
  return floor <= LAST_FLOOR ? floor : 0;
}

/** Generations follow the clock: a number further ahead than any clock can be is a fault, not a generation. */
export function isBelievable(generation: number, wall: Instant, floor: number): boolean {
  return generation <= Math.max(wall, believedFloor(floor)) + TEN_YEARS_MS;
}

/** An implausible fence or generation counts as absent, so that it cannot block the merchant forever. */
export function forgetBeyondBelief(record: MerchantRecord, wall: Instant, floor: number): void {
  if (!isBelievable(record.fence, wall, floor)) record.fence = 0;
  const generation = record.stored?.session.generation ?? 0;
  if (!isBelievable(generation, wall, floor)) record.stored = undefined;
}

/** The first even number above everything that is known: odd numbers are for sessions that are made without a lease. */
export function nextFence(record: MerchantRecord, wall: Instant, floor: number): number {
  const generation = record.stored?.session.generation ?? 0;
  const least = Math.max(record.fence + 1, generation + 1, believedFloor(floor) + 1, Math.floor(wall));
  return least + (least % 2);
}
