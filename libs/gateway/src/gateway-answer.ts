import type { Instant } from '#libs/clock';
import type { AnswerHeaders } from '#libs/outbound';
import { GatewayFailure } from '#libs/session';

export type AnswerBody =
  | { readonly kind: 'complete'; readonly bytes: Uint8Array }
  /** Deliberately not read to its end. */
  | { readonly kind: 'refused'; readonly reason: 'too_large' | 'encoded' };

/** What came back over the wire, within bounds, before anything has examined it. */
export interface GatewayAnswer {
  readonly httpStatus: number;
  readonly headers: AnswerHeaders;
  readonly body: AnswerBody;
  readonly sentAt: Instant;
  readonly receivedAt: Instant;
}

/** What a failure may quote from an answer: reduced to a safe character set and length. */
export interface AnswerMarks {
  readonly httpStatus: number;
  readonly requestId?: string;
}

/** Reduces what a peer sent to something that may appear in a log line or as a metric label; undefined if it may not. */
export function safeMark(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z0-9_.-]{1,64}$/.test(value) ? value : undefined;
}

export function invalidResponse(marks: AnswerMarks, detail: string, cause?: unknown): GatewayFailure {
  return new GatewayFailure({ kind: 'invalid_response', detail, ...marks, lostSession: true, cause });
}
