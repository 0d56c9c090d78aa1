import type { DailyTimes } from '#libs/clock';
import type { CreateCallBudget } from './ports/session-store.js';

/** How long before expiry something happens: a share of the session's lifetime, or a fixed time. */
export type LeadTime =
  { readonly kind: 'share'; readonly share: number } | { readonly kind: 'duration'; readonly durationMs: number };

/** How one merchant's sessions are renewed. Durations in milliseconds. */
export interface SessionSettings {
  /**
   * Before expiry, from when a replica renews. `undefined`: the default, 20 % and at least two gateway timeouts; at most
   * five minutes with quiet hours, which a session of a day reaches only with a short one.
   */
  readonly renewBefore: LeadTime | undefined;
  /** A session is renewed at this age, however long it lives. `undefined`: only its expiry counts. */
  readonly renewEveryMs: number | undefined;
  /** Where a session is renewed rather than between them. `undefined`: any hour is as good as another. */
  readonly quietHours: DailyTimes | undefined;
  /** Before expiry, from when a session is not handed out as fresh. `undefined`: 5 %, at most 30 s. */
  readonly safetyMargin: LeadTime | undefined;
  /** Lifetime of a session whose answer names no expiry, counted from when the request was sent. */
  readonly fallbackLifetimeMs: number;
  /** The whole create-session call, connect to last byte. */
  readonly gatewayTimeoutMs: number;
  readonly budget: CreateCallBudget;
  /** The longest life that is believed of a session, whatever its answer and the gateway's clock say. */
  readonly longestLifetimeMs: number;
  /** Beyond this the gateway's `Date` is not believed, and our own clock counts. */
  readonly largestClockSkewMs: number;
  /** While somebody else creates sessions of the merchant, rejections create one in this time at most. */
  readonly foreignAuthorizerPauseMs: number;
  /**
   * Whether a new session ends the one before it (published: it does). Anything but `false` is treated as if it did.
   */
  readonly supersedes: boolean | 'unknown';
  /**
   * What happens past the margin while the store does not answer: `authorize`, each replica creates for itself within
   * the budget, counted locally; `fail`, nothing is created, and the session is served until it expires.
   */
  readonly onStoreOutage: 'authorize' | 'fail';
}
