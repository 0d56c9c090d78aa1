import type { RenewalTrigger } from './session-events.js';

export interface TracedRenewal {
  readonly merchant: string;
  readonly trigger: RenewalTrigger;
}

/** The steps of a renewal that take time. */
type RenewalStep = 'claim' | 'gateway_call' | 'open' | 'publish';

/**
 * Brackets around pieces of work, to show what they consist of and how long they take. What the work returns or throws
 * is passed through; steps belong to the renewal in which they run.
 */
export interface Tracing {
  renewal<Result extends { readonly kind: string }>(
    renewal: TracedRenewal,
    run: () => Promise<Result>,
  ): Promise<Result>;
  step<Result>(step: RenewalStep, run: () => Promise<Result>): Promise<Result>;
}

/** No tracing: the work is done, and nothing is recorded. */
export const untraced: Tracing = {
  renewal: (_renewal, run) => run(),
  step: (_step, run) => run(),
};
