import { optional, readInput, shape, wholeNumber } from './input/read-input.js';
import { lifetimeMs } from './merchants/merchant.js';

/** What holds for the whole gateway; changed while it runs. */
export interface Settings {
  /** Of the sessions of a merchant that does not say. */
  lifetimeMs: number;
  /** How far the clock that the gateway shows, in `Date` and in every expiry, is ahead of the true one. */
  skewMs: number;
}

export const defaultSettings: Readonly<Settings> = { lifetimeMs: 15 * 60_000, skewMs: 0 };

const change = shape({
  lifetimeMs: optional(lifetimeMs),
  skewMs: optional(wholeNumber(-365 * 86_400_000, 365 * 86_400_000)),
});

/** Applies the members that are given. @throws BrokerError `invalid_request`, and then nothing is changed */
export function changeSettings(settings: Settings, value: unknown): void {
  const read = readInput(change, value);
  settings.lifetimeMs = read.lifetimeMs ?? settings.lifetimeMs;
  settings.skewMs = read.skewMs ?? settings.skewMs;
}
