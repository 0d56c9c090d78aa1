import { DailyWindow, type DailyTimes, plusMs } from '#libs/clock';
import { neededLeadMs } from './needed-lead.js';
import { simulate, type SimulationLog, type SimulationSetup } from './simulation.js';

/** A moment by the clocks of the quiet hours' zone. */
export interface ReadMoment {
  readonly day: string;
  readonly time: string;
}

interface Renewal {
  /** From the start, when its first call is made. */
  readonly atMs: number;
  /** Of the session that it replaces. */
  readonly leftMs: number;
}

/** As many lifetimes show what a night finds of a session, however short the run is. */
const LIFETIMES_TO_LOOK_AT = 8;
/** What decides beside the time that is left is chance: how long the pause is in which the outage ends. */
const NIGHTS_TO_PLAY = 2;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const UNITS_MS = [24 * HOUR_MS, HOUR_MS];
/** In which an outage may end. */
const MAX_PAUSE_MS = HOUR_MS;

/**
 * With quiet hours a session that one night replaces may be a day old, and another one minutes: what the outage of one run
 * does is then no measure. The runs in which it begins in the nights that find the least of a session; none where any finds enough.
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

/** When the outage of a run began. Undefined where none did, or there are no quiet hours. */
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

/** The outage begins with the first call after half of the run; in days or hours where no other call comes before it then, and the run holds it. */
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

/** Those with the least left, the earlier one of two that are alike: its run is shorter, and holds the outage all the same. */
function hardestOf(renewals: readonly Renewal[], setup: SimulationSetup): readonly Renewal[] {
  const { outageMs, lifetimeMs } = setup.behaviour;
  return renewals
    .filter(({ atMs, leftMs }) => atMs >= outageMs + lifetimeMs && leftMs < neededLeadMs(setup, 'end'))
    .sort((one, other) => minutesLeft(one) - minutesLeft(other) || one.atMs - other.atMs)
    .slice(0, NIGHTS_TO_PLAY);
}

const minutesLeft = ({ leftMs }: Renewal): number => Math.round(leftMs / MINUTE_MS);
