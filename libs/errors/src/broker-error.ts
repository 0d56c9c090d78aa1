import { errorCodes, type ErrorCode, type ErrorEntry } from './error-codes.js';
import type { UnavailableReason } from './unavailable-reasons.js';

interface BrokerErrorOptions {
  /** For the log: what happened, with no secret in it. */
  readonly detail?: string;
  /** For the caller: what to correct. Only a failure that is the caller's fault may carry one. */
  readonly publicDetail?: string;
  /** With `session_unavailable`: why. */
  readonly reason?: UnavailableReason;
  /** With `session_unavailable`: what is wrong, in words for people, safe for anyone who may read the session. */
  readonly publicCause?: string | undefined;
  /** When to try again, in milliseconds from now. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** The base of every error the product throws on purpose. `code` is stable; the message never carries a secret. */
export class BrokerError extends Error {
  readonly code: ErrorCode;
  readonly detail: string | undefined;
  readonly publicDetail: string | undefined;
  readonly reason: UnavailableReason | undefined;
  readonly publicCause: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, options: BrokerErrorOptions = {}) {
    const detail = options.detail ?? options.publicDetail;
    super(detail === undefined ? errorCodes[code].title : `${errorCodes[code].title}: ${detail}`, {
      cause: options.cause,
    });
    this.name = new.target.name;
    this.code = code;
    this.detail = detail;
    this.publicDetail = options.publicDetail;
    this.reason = options.reason;
    this.publicCause = options.publicCause;
    this.retryAfterMs = options.retryAfterMs;
  }

  get entry(): ErrorEntry {
    return errorCodes[this.code];
  }
}

/** Describes a caught value in one line, whatever was thrown. Never includes a stack. */
export function describeError(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : 'a value that is not an Error was thrown';
}
