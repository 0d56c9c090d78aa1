import type { RenewalTrigger, SessionEvents } from './ports/session-events.js';
import type { AttemptResult } from './renewal-attempt.js';

export interface EndedAttempt {
  readonly generation: number;
  readonly result: AttemptResult;
  readonly durationMs: number;
}

/** Tells what became of an attempt: one event that it finished, and another one where something is out of the order. */
export function reportAttempt(
  events: SessionEvents,
  wish: { readonly merchant: string; readonly trigger: RenewalTrigger },
  { generation, result, durationMs }: EndedAttempt,
): void {
  const { merchant, trigger } = wish;
  const finished = { event: 'renewal_finished', merchant, trigger, generation, durationMs } as const;
  switch (result.kind) {
    case 'published':
      return events.emit({ ...finished, outcome: 'success' });
    case 'unconfirmed':
    case 'alone':
      events.emit({ ...finished, outcome: 'success' });
      return events.emit({ event: 'unconfirmed_publish', merchant, generation });
    case 'failed': {
      const { outcome, failure, retryInMs } = result;
      return events.emit({ ...finished, outcome, failure, retryInMs });
    }
    case 'late':
      events.emit({ event: 'late_result', merchant, generation });
      return events.emit({ ...finished, outcome: 'lease_lost' });
    case 'fenced':
      events.emit({ event: 'fenced_publish', merchant, generation });
      return events.emit({ ...finished, outcome: 'lease_lost' });
    case 'abandoned':
      return events.emit({ event: 'renewal_abandoned', merchant, generation });
  }
}
