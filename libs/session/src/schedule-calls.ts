import { formatDuration } from '#libs/clock';
import type { CreateCallWindow } from './ports/session-store.js';
import { renewalIntervalMs } from './session-moments.js';
import type { SessionSettings } from './session-settings.js';

/** A window of the budget that renewing on schedule exceeds, even if no call fails. */
export interface ExceededWindow extends CreateCallWindow {
  readonly needed: number;
}

/** What makes it certain that the schedule will run out of calls, and its merchant out of sessions. */
export interface BudgetShortfall {
  readonly lifetimeMs: number;
  readonly windows: readonly ExceededWindow[];
  /** The setting that costs the calls; `bank`: none of ours, the sessions are too short. */
  readonly mendedBy: 'renewEvery' | 'renewBefore' | 'bank';
}

/** A lead time as short as anybody should set: it costs as few calls as possible. */
const SHORT_LEAD = { kind: 'share', share: 0.1 } as const;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
/**
 * Sessions live a second or two less than their gateway says, so that nobody is late by any clock: from this lifetime
 * on, they are given in minutes.
 */
const TOLD_IN_MINUTES_FROM_MS = 5 * MINUTE_MS;

/** How many calls renewing sessions of this lifetime takes in a stretch of time, if no call fails. */
export function callsOnSchedule(lifetimeMs: number, settings: SessionSettings, perMs: number): number {
  return Math.ceil(perMs / Math.max(1, renewalIntervalMs(lifetimeMs, settings)));
}

/** Compares the calls of the schedule with each window of the budget; undefined if they fit all of them. */
export function budgetShortfall(lifetimeMs: number, settings: SessionSettings): BudgetShortfall | undefined {
  const windows = exceededWindows(lifetimeMs, settings);
  return windows.length === 0 ? undefined : { lifetimeMs, windows, mendedBy: mendedBy(lifetimeMs, settings) };
}

function exceededWindows(lifetimeMs: number, settings: SessionSettings): readonly ExceededWindow[] {
  return settings.budget
    .map((window) => ({ ...window, needed: callsOnSchedule(lifetimeMs, settings, window.perMs) }))
    .filter(({ calls, needed }) => needed > calls);
}

function mendedBy(lifetimeMs: number, settings: SessionSettings): BudgetShortfall['mendedBy'] {
  const fits = (change: Partial<SessionSettings>): boolean =>
    exceededWindows(lifetimeMs, { ...settings, ...change }).length === 0;
  if (fits({ renewEveryMs: undefined })) return 'renewEvery';
  return fits({ renewEveryMs: undefined, renewBefore: SHORT_LEAD }) ? 'renewBefore' : 'bank';
}

/** For example `renewing sessions of 15m takes about 124 create calls a day, and session.budget allows 60: …`. */
export function shortfallText({ lifetimeMs, windows }: BudgetShortfall): string {
  const needs = windows.map(({ needed, perMs }) => `${needed} ${inStretch(perMs)}`).join(' and ');
  const allowed = windows.map(({ calls }) => calls).join(' and ');
  const takes = `renewing sessions of ${lifeText(lifetimeMs)} takes about ${needs.replace(' ', ' create calls ')}`;
  return `${takes}, and session.budget allows ${allowed}: ${lossText(windows)}`;
}

const OUR_SETTINGS = {
  renewEvery: 'renew less often, by a longer session.renewEvery or none',
  renewBefore: 'renew later, by a shorter session.renewBefore',
  bank: 'ask the bank for longer sessions',
} as const;

export function shortfallRemedy({ mendedBy: setting }: Pick<BudgetShortfall, 'mendedBy'>): string {
  const ask = setting === 'bank' ? 'or whether' : 'or ask the bank whether';
  return `${OUR_SETTINGS[setting]}, ${ask} it allows so many calls, and raise session.budget then`;
}

/** By the window that loses the largest share of its time. */
function lossText(windows: readonly ExceededWindow[]): string {
  const shares = windows.map(({ calls, needed, perMs }) => ({ perMs, lost: 1 - calls / needed }));
  const { perMs, lost } = shares.reduce((most, next) => (next.lost > most.lost ? next : most));
  return `about ${spanText(perMs * lost)} of every ${perMs === DAY_MS ? 'day' : formatDuration(perMs)} without a session`;
}

function inStretch(perMs: number): string {
  if (perMs === DAY_MS) return 'a day';
  return perMs === HOUR_MS ? 'an hour' : `in ${formatDuration(perMs)}`;
}

const lifeText = (lifetimeMs: number): string =>
  formatDuration(toWhole(lifetimeMs, lifetimeMs < TOLD_IN_MINUTES_FROM_MS ? SECOND_MS : MINUTE_MS));

/** In a unit of which there are at least two. */
function spanText(durationMs: number): string {
  const unitMs = [HOUR_MS, MINUTE_MS].find((ms) => durationMs >= 2 * ms) ?? SECOND_MS;
  return formatDuration(toWhole(durationMs, unitMs)).replace('1d', '24h');
}

/** At least one. */
const toWhole = (durationMs: number, unitMs: number): number => Math.max(1, Math.round(durationMs / unitMs)) * unitMs;
