import type { DailyTimes } from '#libs/clock';
import type { CreateCallBudget } from './ports/session-store.js';

/** How long before expiry something happens: a share of the session's lifetime, or a fixed time. */
export type LeadTime =
  { readonly kind: 'share'; readonly share: number } | { readonly kind: 'duration'; readonly durationMs: number };

/** How one merchant's sessions are renewed. Durations in milliseconds. */
export interface SessionSettings {
  /**
   * How long before expiry a replica renews. `undefined`: the default, 20 % and at least two gateway timeouts; at most
   * five minutes with quiet hours, which a session of one day reaches only with a short lead time.
   */
  readonly renewBefore: LeadTime | undefined;
  /** A session is renewed at this age, however long it lives. `undefined`: only its expiry counts. */
  readonly renewEveryMs: number | undefined;
  /** Hours in which sessions are renewed rather than between them. `undefined`: any hour is as good as another. */
  readonly quietHours: DailyTimes | undefined;
  /** How long before expiry a session stops being handed out as fresh. `undefined`: 5 %, at most 30 s. */
  readonly safetyMargin: LeadTime | undefined;
  /** Lifetime of a session whose answer names no expiry, counted from when the request was sent. */
  readonly fallbackLifetimeMs: number;
  /** For the whole create-session call, from connect to last byte. */
  readonly gatewayTimeoutMs: number;
  /** As it is written: see `budgetInForce`. */
  readonly budget: CreateCallBudget;
  /** The longest lifetime that is believed of a session, whatever its answer and the gateway's clock say. */
  readonly longestLifetimeMs: number;
  /** Beyond this one of the clocks is wrong, and the shorter of the two readings of an expiry counts. */
  readonly largestClockSkewMs: number;
  /** While somebody else creates sessions of the merchant, rejections create at most one in this time. */
  readonly foreignAuthorizerPauseMs: number;
  /** Whether a new session ends the one before (published: it does). Anything but `false` is treated as if it did. */
  readonly supersedes: boolean | 'unknown';
  /** How long at most a planned renewal waits for consumers to let their calls end; 0: it does not ask them. */
  readonly handoverMs: number;
}
