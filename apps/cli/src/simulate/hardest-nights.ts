import { DailyWindow, type DailyTimes, plusMs } from '#libs/clock';
import { neededLeadMs } from './needed-lead.js';
import { simulate, type SimulationLog, type SimulationSetup } from './simulation.js';

/** A moment as shown by the clocks of the quiet hours' time zone. */
export interface ReadMoment {
  readonly day: string;
  readonly time: string;
}

interface Renewal {
  /** When its first call is made, from the start. */
  readonly atMs: number;
  /** The time left of the session that it replaces. */
  readonly leftMs: number;
}

/** This many lifetimes show how much of a session a night finds left, however short the run is. */
const LIFETIMES_TO_LOOK_AT = 8;
/** Besides the time that is left, only chance matters: the length of the pause in which the outage ends. */
const NIGHTS_TO_PLAY = 2;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const UNITS_MS = [24 * HOUR_MS, HOUR_MS];
/** The longest pause in which an outage may end. */
const MAX_PAUSE_MS = HOUR_MS;

/**
 * With quiet hours, a session may be a day old when one night replaces it, and minutes old in another, so the outage of
 * a single run is no measure. Returns the runs whose outage begins in the nights that find the least of a session left;
 * none if every night finds enough.
 */
export async function hardestNights(setup: SimulationSetup): Promise<readonly SimulationSetup[]> {
  if (setup.settings.quietHours === undefined || setup.behaviour.outageMs === 0) return [];
  const renewals = await renewalsWithoutOutage(setup);
  return hardestOf(renewals, setup).map(({ atMs }) => {
    const isAnother = (other: Renewal): boolean => other.atMs < atMs;
    const previousAtMs = renewals.findLast(isAnother)?.atMs ?? 0;
    const leastMs = Math.max(2 * previousAtMs + 1, atMs + setup.behaviour.outageMs + MAX_PAUSE_MS);
    const durationMs = runThatBreaksAt(atMs, leastMs);
    return { ...setup, durationMs };
  });
}

/** When the outage of a run began. Undefined if none did, or if there are no quiet hours. */
export function outageBeganIn(
  { outageEndsAtMs }: Pick<SimulationLog, 'outageEndsAtMs'>,
  setup: SimulationSetup,
): { readonly outageBegan?: ReadMoment } {
  const { quietHours } = setup.settings;
  if (outageEndsAtMs === undefined || quietHours === undefined) return {};
  return { outageBegan: readingOf(setup, outageEndsAtMs - setup.behaviour.outageMs, quietHours) };
}

const readingOf = ({ startsAt }: SimulationSetup, atMs: number, times: DailyTimes): ReadMoment =>
  new DailyWindow(times).reading(plusMs(startsAt, atMs));

/**
 * The outage begins with the first call after half of the run. The length is in whole days or hours if the run still
 * holds the outage and no earlier call then starts it.
 */
function runThatBreaksAt(atMs: number, leastMs: number): number {
  const lengths = UNITS_MS.map((unitMs) => Math.floor((2 * atMs) / unitMs) * unitMs);
  return lengths.find((lengthMs) => lengthMs >= leastMs) ?? Math.floor((2 * atMs) / MINUTE_MS) * MINUTE_MS;
}

async function renewalsWithoutOutage(setup: SimulationSetup): Promise<readonly Renewal[]> {
  const { behaviour, durationMs } = setup;
  const { callsAtMs, sessions, startsAt } = await simulate({
    ...setup,
    durationMs: Math.max(durationMs, behaviour.outageMs + LIFETIMES_TO_LOOK_AT * behaviour.lifetimeMs),
    behaviour: { ...behaviour, outageMs: 0 },
  });
  return sessions.flatMap(({ atMs: takenAtMs, session }) => {
    const atMs = callsAtMs.find((callAtMs) => callAtMs > takenAtMs);
    return atMs === undefined ? [] : [{ atMs, leftMs: session.expiresAt - startsAt - atMs }];
  });
}

/**
 * Those with the least left. Of two that are alike, the earlier one: its run is shorter, and still holds the outage.
 */
function hardestOf(renewals: readonly Renewal[], setup: SimulationSetup): readonly Renewal[] {
  const { outageMs, lifetimeMs } = setup.behaviour;
  return renewals
    .filter(({ atMs, leftMs }) => atMs >= outageMs + lifetimeMs && leftMs < neededLeadMs(setup, 'end'))
    .sort((one, other) => minutesLeft(one) - minutesLeft(other) || one.atMs - other.atMs)
    .slice(0, NIGHTS_TO_PLAY);
}

const minutesLeft = ({ leftMs }: Renewal): number => Math.round(leftMs / MINUTE_MS);
