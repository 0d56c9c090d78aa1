import type { Clock } from '#libs/clock';
import { failuresAfter } from './retry-policy.js';

/** At least this long between two calls that one replica makes by itself, whatever the first one led to. */
const MIN_PAUSE_MS = 10_000;
/** Replicas on their own end each other's sessions: each rejection waits twice as long as the one before it. */
const MAX_PAUSE_MS = 600_000;

interface Allowance {
  /** The pause after a call, whatever it led to. */
  notBeforeMs: number;
  /** The back-off after a failed call. */
  backsOffUntilMs: number;
  rejections: number;
  failures: number;
}

/** When this replica may make calls by itself, merchant by merchant (ADR 8). It starts over when the store answers. */
export class AloneAllowance {
  readonly #clock: Clock;
  readonly #allowances = new Map<string, Allowance>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  waitMs(merchant: string): number {
    const { notBeforeMs, backsOffUntilMs } = this.#of(merchant);
    return Math.max(0, Math.max(notBeforeMs, backsOffUntilMs) - this.#clock.monotonicMs());
  }

  failures(merchant: string): number {
    return this.#of(merchant).failures;
  }

  called(merchant: string, because: 'rejection' | 'need'): void {
    const allowance = this.#of(merchant);
    if (because === 'rejection') allowance.rejections += 1;
    const pauseMs = Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** allowance.rejections);
    allowance.notBeforeMs = this.#clock.monotonicMs() + pauseMs;
  }

  succeeded(merchant: string): void {
    this.#of(merchant).failures = 0;
  }

  failed(
    merchant: string,
    { retryInMs, wasReached }: { readonly retryInMs: number; readonly wasReached: boolean },
  ): void {
    const allowance = this.#of(merchant);
    allowance.failures = failuresAfter(allowance.failures, wasReached);
    allowance.backsOffUntilMs = this.#clock.monotonicMs() + retryInMs;
  }

  /** The reason for the failures is gone. The pause after the last call stays. */
  endBackOff(merchant: string): void {
    this.#of(merchant).backsOffUntilMs = -Infinity;
  }

  /** The store answers again and sets the limits from here on. The pause after the last call stays. */
  startOver(): void {
    for (const allowance of this.#allowances.values()) allowance.rejections = 0;
  }

  #of(merchant: string): Allowance {
    const known = this.#allowances.get(merchant) ?? {
      notBeforeMs: -Infinity,
      backsOffUntilMs: -Infinity,
      rejections: 0,
      failures: 0,
    };
    this.#allowances.set(merchant, known);
    return known;
  }
}
