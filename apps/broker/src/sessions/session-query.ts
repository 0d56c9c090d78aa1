import { parseDurationMs } from '#libs/clock';
import { BrokerError } from '#libs/errors';

/** Asking for more than an hour to be left must be a mistake: no session is renewed that early. */
const MAX_MIN_REMAINING_MS = 3_600_000;
const KNOWN = new Set(['minRemaining']);

interface SessionQuery {
  /** 0 when any session will do. */
  readonly minRemainingMs: number;
}

/** @throws BrokerError `invalid_request` naming the parameter, never its value */
export function parseSessionQuery(query: Readonly<Record<string, unknown>>): SessionQuery {
  const unknown = Object.keys(query).filter((name) => !KNOWN.has(name));
  if (unknown.length > 0) {
    throw new BrokerError('invalid_request', { publicDetail: 'unknown query parameter; known is: minRemaining' });
  }
  const { minRemaining } = query;
  if (minRemaining === undefined) return { minRemainingMs: 0 };
  const minRemainingMs = typeof minRemaining === 'string' ? parseDurationMs(minRemaining) : undefined;
  if (minRemainingMs === undefined || minRemainingMs > MAX_MIN_REMAINING_MS) {
    throw new BrokerError('invalid_request', {
      publicDetail: 'minRemaining must be one duration of at most an hour, such as 60s or 2m',
    });
  }
  return { minRemainingMs };
}
