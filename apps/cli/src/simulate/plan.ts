import { type Instant, instantFromEpochMs, parseDurationMs, SystemClock, toRfc3339 } from '#libs/clock';
import type { Schedule } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import type { GatewayBehaviour, SimulationSetup } from './played-gateway.js';

export interface SimulateOptions {
  readonly config: string;
  readonly merchant?: string;
  readonly lifetime?: string;
  readonly latency: string;
  readonly failures: string;
  readonly outage: string;
  readonly skew: string;
  readonly for: string;
  readonly from?: string;
  readonly replicas?: string;
  readonly seed: string;
  readonly json?: true;
}

type StoreType = Schedule['store']['type'];

/** A run of every merchant, as the options describe it. */
export type Plan = Omit<SimulationSetup, 'merchant' | 'settings' | 'behaviour'> &
  Omit<Required<GatewayBehaviour>, 'lifetimeMs'> & { readonly store: StoreType };

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MIN_LIFETIME_MS = 10_000;
/** More than this takes longer than anyone waits, and shows nothing new. */
const MAX_LIFETIMES = 20_000;
/** What production runs if the store lets replicas work together. */
const REPLICAS_THAT_SHARE = '3';

const refusal = (detail: string): BrokerError => new BrokerError('invalid_request', { detail });

/** @throws BrokerError `invalid_request` */
export function planOf(options: SimulateOptions, store: StoreType): Plan {
  const share = /^(\d{1,3}(?:\.\d{1,3})?)%$/.exec(options.failures)?.[1];
  if (share === undefined || Number(share) > 100)
    throw refusal('--failures is a percentage from 0% to 100%, such as 5%');
  if (durationOf(options.for, '--for') === 0) throw refusal('--for is longer than 0s, such as 24h');
  const replicas = options.replicas ?? (store === 'memory' ? '1' : REPLICAS_THAT_SHARE);
  return {
    store,
    startsAt: startOf(options.from),
    latencyMs: durationOf(options.latency, '--latency'),
    outageMs: durationOf(options.outage, '--outage'),
    skewMs: skewOf(options.skew),
    durationMs: durationOf(options.for, '--for'),
    failureShare: Number(share) / 100,
    replicas: wholeNumber(replicas, { flag: '--replicas', min: 1, max: 20 }),
    seed: wholeNumber(options.seed, { flag: '--seed', min: 0, max: 2 ** 32 - 1 }),
  };
}

/**
 * The run of each merchant.
 * @throws BrokerError `invalid_request` if a lifetime is too short, on its own or for the length of the runs
 */
export function setupsOf(
  merchants: Schedule['merchants'],
  { lifetime }: SimulateOptions,
  plan: Plan,
): readonly SimulationSetup[] {
  const setups = merchants.map(({ id, session: settings }) => {
    const lifetimeMs = lifetime === undefined ? settings.fallbackLifetimeMs : durationOf(lifetime, '--lifetime');
    if (lifetimeMs < MIN_LIFETIME_MS) throw refusal('--lifetime is at least 10s');
    return { ...plan, merchant: id, settings, behaviour: { ...plan, lifetimeMs } };
  });
  const inHour = setups.reduce((sum, { behaviour }) => sum + HOUR_MS / behaviour.lifetimeMs, 0);
  if (plan.durationMs > (MAX_LIFETIMES * HOUR_MS) / inHour) {
    const ofAll = setups.length === 1 ? '' : ' of all merchants together, so name one with --merchant';
    throw refusal(`--for is at most ${MAX_LIFETIMES} lifetimes, here ${Math.floor(MAX_LIFETIMES / inHour)}h${ofAll}`);
  }
  return setups;
}

/** @param day such as `2026-10-24`, which means midnight UTC; today if left out */
function startOf(day: string | undefined): Instant {
  const startsAt = day === undefined ? new SystemClock().now() : Date.parse(day);
  const isDay = day === undefined || /^20\d\d-\d\d-\d\d$/.test(day);
  if (!isDay || Number.isNaN(startsAt)) throw refusal('--from is a day of this century, such as 2026-10-24');
  const midnight = instantFromEpochMs(startsAt - (startsAt % DAY_MS));
  // JavaScript lets a day that does not exist roll over into the next month.
  if (day !== undefined && !toRfc3339(midnight).startsWith(day))
    throw refusal(`--from ${day} is no day of the calendar`);
  return midnight;
}

function skewOf(text: string): number {
  const skewMs = durationOf(text.replace(/^-/, ''), '--skew');
  return text.startsWith('-') ? -skewMs : skewMs;
}

function durationOf(text: string, flag: string): number {
  // In the form in which durations are printed: `1h 30m`.
  const parts = text.split(/(?<=[a-z]) ?(?=\d)/).map(parseDurationMs);
  const durationMs = parts.reduce<number>((sum, part) => sum + (part ?? NaN), 0);
  if (Number.isNaN(durationMs))
    throw refusal(`${flag} is a duration in ms, s, m, h or d, ten years at most: such as 300ms, 90m, 1h30m or 24h`);
  return durationMs;
}

function wholeNumber(
  text: string,
  { flag, min, max }: { readonly flag: string; readonly min: number; readonly max: number },
): number {
  const value = Number(text);
  if (!/^\d{1,10}$/.test(text) || value < min || value > max) {
    throw refusal(`${flag} is a whole number from ${min} to ${max}`);
  }
  return value;
}
