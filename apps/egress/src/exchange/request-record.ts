import type { ErrorCode } from '#libs/errors';
import type { EgressOutcome, RequestSpan } from '#libs/telemetry';
import type { Form } from '../callers/callers.js';

/** For labels when nothing better is known. */
const UNKNOWN = '_unknown';
export const NO_ROUTE = '_none';
export const CREATE_ROUTE = '_create';

const outcomes: Partial<Readonly<Record<ErrorCode, EgressOutcome>>> = {
  session_unavailable: 'no_session',
  shutting_down: 'no_session',
  overloaded: 'no_session',
  gateway_unreachable: 'unreachable',
  answer_late: 'unknown',
  answer_lost: 'unknown',
  answer_unusable: 'unknown',
  answer_unopened: 'unopened',
  internal_error: 'failed',
};

/** What a failure means for the payer; a code not listed was refused because of what the client sent. */
export function outcomeOf(code: ErrorCode): EgressOutcome {
  return outcomes[code] ?? 'refused';
}

/** The outcome of one request: for metrics, the audit and the log, which all read it at the end. */
export class RequestRecord {
  client = UNKNOWN;
  merchant = UNKNOWN;
  route = NO_ROUTE;
  /** Until the caller is known, what its headers show. */
  form: Form | undefined;
  outcome: EgressOutcome = 'answered';
  /** Of the last session it was sent with. */
  generation: number | undefined;
  isRepeated = false;
  /** Its body seems to hold a card number in clear. */
  hasCard = false;
  /** Its credential was not accepted. */
  isCallerRefused = false;
  /** Set only if traces are recorded. */
  span: RequestSpan | undefined;
  /** The codes by which the gateway refused its sessions. */
  readonly deaths: string[] = [];
}
