import { oneOf, optional, readInput, shape, wholeNumber } from './input/read-input.js';
import { lifetimeMs } from './merchants/merchant.js';

/** Applies to the whole gateway; can be changed while it runs. */
export interface Settings {
  /** For the sessions of a merchant that does not specify it. */
  lifetimeMs: number;
  /** How far the clock that the gateway shows, in `Date` and in every expiry, is ahead of the true one. */
  skewMs: number;
  /** How long a payment takes. */
  paymentMs: number;
  /** Whether a merchantRequestId may be used again. `accepted` doubles the payment, and the ledger shows it. */
  duplicates: (typeof duplicateRules)[number];
  /** How long a refund stays pending. */
  settleMs: number;
}

const duplicateRules = ['refused', 'accepted'] as const;
const A_DAY_MS = 86_400_000;

export const defaultSettings: Readonly<Settings> = {
  lifetimeMs: 15 * 60_000,
  skewMs: 0,
  paymentMs: 0,
  duplicates: 'refused',
  settleMs: 1_000,
};

const change = shape({
  lifetimeMs: optional(lifetimeMs),
  skewMs: optional(wholeNumber(-365 * A_DAY_MS, 365 * A_DAY_MS)),
  paymentMs: optional(wholeNumber(0, A_DAY_MS)),
  duplicates: optional(oneOf(duplicateRules)),
  settleMs: optional(wholeNumber(0, A_DAY_MS)),
});

/** Applies the members that are given. @throws BrokerError `invalid_request`, in which case nothing is changed */
export function changeSettings(settings: Settings, value: unknown): void {
  const given = Object.entries(readInput(change, value)).filter(([, read]) => read !== undefined);
  Object.assign(settings, Object.fromEntries(given));
}
