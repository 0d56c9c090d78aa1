import {
  type DailyTimes,
  formatDuration,
  type Instant,
  instantFromEpochMs,
  parseDurationMs,
  SystemClock,
} from '#libs/clock';
import { readSchedule, type Schedule } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import type { CreateCallWindow } from '#libs/session';
import { chosenMerchant } from '../chosen-merchant.js';
import { demandKind } from '../file-kind.js';
import type { Report } from '../report.js';
import { callsWarning, outageWarning } from '../simulate/limits-of-a-run.js';
import { figuresOf, type ScheduleFigures } from '../simulate/figures.js';
import type { GatewayBehaviour } from '../simulate/played-gateway.js';
import { type RenewalDay, renewalDays } from '../simulate/renewal-days.js';
import { simulate, type SimulationSetup } from '../simulate/simulation.js';
import type { CommandContext } from '../terminal.js';

export interface SimulateOptions {
  readonly config: string;
  readonly merchant?: string;
  readonly lifetime?: string;
  readonly latency: string;
  readonly failures: string;
  readonly outage: string;
  readonly for: string;
  readonly from?: string;
  readonly replicas?: string;
  readonly seed: string;
}

const MAX_MERCHANTS = 20;
/** More than this takes longer than anybody waits, and shows nothing new. */
const MAX_RENEWALS = 20_000;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** A month of nights; `--json` has all of them. */
const MAX_SHOWN_DAYS = 31;
const MIN_LIFETIME_MS = 10_000;
/** What production runs, where the store lets replicas work together. */
const REPLICAS_THAT_SHARE = '3';

type StoreType = Schedule['store']['type'];
type Plan = Omit<SimulationSetup, 'merchant' | 'settings' | 'behaviour'> &
  Omit<GatewayBehaviour, 'lifetimeMs'> & { readonly store: StoreType };

/**
 * Plays the renewals of a configuration on virtual time, with the broker's own renewer and a gateway that behaves as
 * the options say. Reads the configuration alone: none of the files that it names need exist, and no secret be set.
 * @throws ConfigurationError, BrokerError `invalid_request` or `merchant_not_found`
 */
export async function simulateSchedule(options: SimulateOptions, { environment }: CommandContext): Promise<Report> {
  await demandKind(options.config, environment, {
    kind: 'broker',
    otherwise: ', which renews nothing: name that of its broker',
  });
  const { merchants, store } = await readSchedule(options.config, environment);
  const chosen = options.merchant === undefined ? merchants : [chosenMerchant(merchants, options.merchant)];
  if (chosen.length > MAX_MERCHANTS) throw refusal(`name one of the ${chosen.length} merchants with --merchant`);
  const plan = planOf(options, store.type);
  const played = [];
  for (const { id, session: settings } of chosen) {
    const lifetimeMs = lifetimeOf(options, settings.fallbackLifetimeMs, plan.durationMs);
    const log = await simulate({ ...plan, merchant: id, settings, behaviour: { ...plan, lifetimeMs } });
    const nights = settings.quietHours && {
      quietHours: settings.quietHours,
      days: renewalDays(log, settings.quietHours),
    };
    played.push({
      merchant: id,
      lifetimeMs,
      gatewayTimeoutMs: settings.gatewayTimeoutMs,
      isFallback: options.lifetime === undefined,
      ...figuresOf(log, plan.durationMs, settings.budget),
      ...outageWarning(log, { ...plan, lifetimeMs }),
      ...nights,
    });
  }
  return {
    lines: [headlineOf(plan), ...played.flatMap(linesOf)],
    json: { ...plan, merchants: played },
    warnings: [...storeWarningsOf(plan), ...played.flatMap(warningsOf)],
  };
}

function planOf(options: SimulateOptions, store: StoreType): Plan {
  const share = /^(\d{1,3}(?:\.\d{1,3})?)%$/.exec(options.failures)?.[1];
  if (share === undefined || Number(share) > 100) throw refusal('--failures is a percentage, such as 5%');
  const replicas = options.replicas ?? (store === 'memory' ? '1' : REPLICAS_THAT_SHARE);
  return {
    store,
    startsAt: startOf(options.from),
    latencyMs: durationOf(options.latency, '--latency'),
    outageMs: durationOf(options.outage, '--outage'),
    durationMs: Math.max(1, durationOf(options.for, '--for')),
    failureShare: Number(share) / 100,
    replicas: wholeNumber(replicas, { flag: '--replicas', min: 1, max: 20 }),
    seed: wholeNumber(options.seed, { flag: '--seed', min: 0, max: 2 ** 32 - 1 }),
  };
}

/** @param day such as `2026-10-24`; midnight in UTC, of today when it is left out */
function startOf(day: string | undefined): Instant {
  const startsAt = day === undefined ? new SystemClock().now() : Date.parse(day);
  const isDay = day === undefined || /^20\d\d-\d\d-\d\d$/.test(day);
  if (!isDay || Number.isNaN(startsAt)) throw refusal('--from is a day of this century, such as 2026-10-24');
  return instantFromEpochMs(startsAt - (startsAt % DAY_MS));
}

function lifetimeOf({ lifetime }: SimulateOptions, fallbackMs: number, durationMs: number): number {
  const lifetimeMs = lifetime === undefined ? fallbackMs : durationOf(lifetime, '--lifetime');
  if (lifetimeMs < MIN_LIFETIME_MS) throw refusal('--lifetime is at least 10s');
  if (durationMs / lifetimeMs > MAX_RENEWALS) {
    const longest = hours(Math.floor((MAX_RENEWALS * lifetimeMs) / HOUR_MS) * HOUR_MS);
    throw refusal(`--for is at most ${MAX_RENEWALS} lifetimes, here ${longest}`);
  }
  return lifetimeMs;
}

function durationOf(text: string, flag: string): number {
  const durationMs = parseDurationMs(text);
  if (durationMs === undefined) throw refusal(`${flag} is a duration, such as 300ms, 15m or 24h`);
  return durationMs;
}

interface Bounds {
  readonly flag: string;
  readonly min: number;
  readonly max: number;
}

function wholeNumber(text: string, { flag, min, max }: Bounds): number {
  const value = Number(text);
  if (!/^\d{1,10}$/.test(text) || value < min || value > max) {
    throw refusal(`${flag} is a whole number from ${min} to ${max}`);
  }
  return value;
}

const refusal = (detail: string): BrokerError => new BrokerError('invalid_request', { detail });

type Played = ScheduleFigures & {
  readonly merchant: string;
  readonly lifetimeMs: number;
  readonly gatewayTimeoutMs: number;
  /** The options named no lifetime. */
  readonly isFallback: boolean;
  readonly quietHours?: DailyTimes;
  readonly days?: readonly RenewalDay[];
  /** What of the outage was not played. */
  readonly notPlayed?: string;
};

function headlineOf({ durationMs, seed, latencyMs, failureShare, outageMs, ...plan }: Plan): string {
  const alone = plan.store === 'memory' ? '1 replica (the store is memory, for one alone)' : '1 replica';
  const replicas = plan.replicas === 1 ? alone : `${plan.replicas} replicas`;
  const outage = outageMs === 0 ? 'no outage' : `one outage of ${formatDuration(outageMs)}`;
  const gateway = `latency ${formatDuration(latencyMs)}, ${failureShare * 100} % failures, ${outage}`;
  return `simulated    ${formatDuration(durationMs)} of ${replicas} with seed ${seed}; ${gateway}`;
}

function linesOf(played: Played): readonly string[] {
  const { merchant, lifetimeMs, isFallback, createCalls, createCallsPerHour, mostInAnHour, budget } = played;
  const used = budget.map((window) => `${window.used} of ${inWindow(window)}`).join(', ');
  const failures = Object.entries(played.failures).map(([kind, count]) => `${count} ${kind}`);
  const remaining = played.worstRemainingMs;
  return [
    `${merchant}, lifetime ${formatDuration(lifetimeMs)}${isFallback ? ' (session.fallbackLifetime)' : ''}`,
    `  create calls     ${createCalls}: ${createCallsPerHour.toFixed(1)} an hour, at most ${mostInAnHour} in one`,
    `  budget           at most ${used} used, renewals held up: ${played.budgetRefusals}`,
    `  failed           ${failures.join(', ') || 'none'}`,
    `  worst remaining  ${remaining === undefined ? 'no session was replaced' : seconds(remaining)}`,
    `  past the margin  ${seconds(played.pastMarginMs)}`,
    `  without session  ${seconds(played.withoutSessionMs)}`,
    ...nightLinesOf(played),
  ];
}

function nightLinesOf({ quietHours, days = [] }: Played): readonly string[] {
  if (quietHours === undefined) return [];
  const count = (of: 'quiet' | 'other'): number => days.reduce((sum, day) => sum + day[of].length, 0);
  const more = days.length - MAX_SHOWN_DAYS;
  return [
    `  quiet hours      ${count('quiet')} of the calls in them, ${count('other')} outside; times in ${quietHours.timeZone}`,
    ...days
      .slice(0, MAX_SHOWN_DAYS)
      .map(
        ({ day, quiet, other }) =>
          `    ${day}     ${[...quiet, ...other.map((time) => `(${time})`)].sort(byTime).join(' ')}`,
      ),
    ...(more > 0 ? [`    and ${more} days more`] : []),
  ];
}

/** Those outside of the quiet hours stand in brackets. */
const byTime = (left: string, right: string): number => left.replace('(', '').localeCompare(right.replace('(', ''));

function storeWarningsOf({ store, replicas }: Plan): readonly string[] {
  if (store !== 'memory' || replicas === 1) return [];
  return [
    `store.type is memory, which is for one replica alone: the ${replicas} were played as if they shared a Redis`,
  ];
}

function warningsOf(played: Played): readonly string[] {
  const { merchant, notPlayed } = played;
  const warnings = [...(notPlayed === undefined ? [] : [notPlayed]), ...scheduleWarningsOf(played)];
  return warnings.map((warning) => `${merchant}: ${warning}`);
}

function scheduleWarningsOf(played: Played): readonly string[] {
  if (isAlwaysTooSlow(played)) return [tooSlowWarning(played)];
  const everyCall = callsWarning(played);
  if (everyCall !== undefined) return [everyCall];
  const { leadTimeShort: short, budgetRefusals, withoutSessionMs, pastMarginMs } = played;
  return [
    ...(short === undefined
      ? []
      : [
          `the lead time is ${seconds(short.leadMs)}, and two attempts take ${seconds(short.neededMs)}: raise session.renewBefore`,
        ]),
    ...(budgetRefusals === 0 ? [] : [budgetWarning(played)]),
    ...(withoutSessionMs > 0
      ? [`there was no session for ${seconds(withoutSessionMs)}: ${bridgeOf(played)}`]
      : pastMarginMs > 0
        ? [`sessions were handed out past their margin for ${seconds(pastMarginMs)}: raise session.renewBefore`]
        : []),
  ];
}

/** Then nothing else is to blame: each other warning would only follow from it. */
const isAlwaysTooSlow = ({ sessions, failures: { timeout = 0, ...others } }: Played): boolean =>
  sessions === 0 && timeout > 0 && Object.keys(others).length === 0;

const tooSlowWarning = ({ gatewayTimeoutMs }: Played): string =>
  `every create call took longer than gateway.timeout (${formatDuration(gatewayTimeoutMs)}), and no lead time ` +
  'helps: raise gateway.timeout, or ask the bank why its answers take so long';

const isBudgetTooSmall = ({ budget }: Played): boolean => budget.some(({ needed, calls }) => needed > calls);

const bridgeOf = (played: Played): string =>
  played.budgetRefusals > 0 && isBudgetTooSmall(played)
    ? 'no lead time bridges a budget that the schedule exceeds'
    : 'only a longer lead time or lifetime bridges this';

const inWindow = ({ calls, perMs }: CreateCallWindow): string => `${calls} in ${formatDuration(perMs)}`;

/** More calls help only where the schedule by itself needs them: after failures they would be more of the same. */
function budgetWarning({ budget, lifetimeMs }: Played): string {
  const tooSmall = budget.find(({ needed, calls }) => needed > calls);
  if (tooSmall === undefined) {
    return 'the budget of create calls was spent, by failed calls and not by the schedule: a larger session.budget would only allow more of them';
  }
  return (
    `the budget of create calls was spent: renewing sessions of ${formatDuration(lifetimeMs)} takes ${tooSmall.needed} calls ` +
    `in ${formatDuration(tooSmall.perMs)}, and session.budget allows ${inWindow(tooSmall)}. Ask the bank whether it ` +
    'expects so many before you allow them'
  );
}

/** Such as `13h 38m`: nobody reads 49091s. */
function hours(durationMs: number): string {
  const minutes = Math.round(Math.abs(durationMs) / MINUTE_MS);
  const rest = minutes % 60 === 0 ? '' : ` ${minutes % 60}m`;
  return `${durationMs < 0 ? '-' : ''}${Math.floor(minutes / 60)}h${rest}`;
}

const seconds = (durationMs: number): string => {
  const rounded = Math.round(durationMs / 1_000) * 1_000;
  if (Math.abs(rounded) >= HOUR_MS) return hours(rounded);
  return rounded < 0 ? `-${formatDuration(-rounded)}` : formatDuration(rounded).replace(/^0ms$/, '0s');
};
