import { type Change, changed } from './change.js';
import { figuresOf, type ScheduleFigures } from './figures.js';
import { bridgesWhereverItBegins, hasCallsToSpare, type Limit } from './needed-lead.js';
import { simulate, type SimulationSetup } from './simulation.js';

/** Of a change on the time without a session, or past the margin where there was always one. */
export type Effect = 'bridges' | 'shortens' | 'none' | 'lengthens';

/** One change, or two at once, in a run that is the same otherwise. */
export interface Tried {
  readonly changes: readonly Change[];
  readonly effect: Effect;
  readonly figures: ScheduleFigures;
  /** Of the time without a session, or past the margin. */
  readonly lostMs: number;
  /** It lost too much to be played on: how much in all is not known. */
  readonly isCutShort?: boolean;
  /** It bridges the outage of this run, and not for certain one that begins with another renewal. */
  readonly isForThisStart?: boolean;
  /** What is lost of it with another seed, or where the outage begins later or earlier. Absent: that was not played. */
  readonly lostElsewhereMs?: number;
  /** So many with other seeds or beginnings were bridged, and this one. Absent where that was not played, or one was not. */
  readonly runs?: number;
}

/** A call takes at most so many times the average: see `GatewayBehaviour`. */
export const SLOWEST_CALL = 1.5;
/** Less than a tenth is as likely chance, and so is what replicas that look once a second decide. */
const NOTABLE_SHARE = 0.9;
const NOTABLE_MS = 2_000;
const CUT_SHORT_AFTER_MS = 10_000;
/** What makes runs differ where nothing fails by chance is where the outage begins: two more show that. */
const OTHER_STARTS = 2;
/** Chance takes more of them: as many as so many lifetimes allow, so that advice takes seconds. */
const MAX_OTHER_SEEDS = 9;
const LIFETIMES_OF_OTHERS = 2_000;
const MAX_SEED = 2 ** 32;
/** Of all trials of one run together, so many times the other runs of one. */
const TRIALS_WITH_OTHERS = 4;

export const played = async (setup: SimulationSetup): Promise<ScheduleFigures> =>
  figuresOf(await simulate(setup), setup.durationMs, setup.settings);

/** With every seed that was played, and wherever the outage begins. */
export const bridges = ({ effect, isForThisStart = false, lostElsewhereMs = 0 }: Tried): boolean =>
  effect === 'bridges' && !isForThisStart && lostElsewhereMs === 0;

/** Then another seed is another run. */
export function failsByChance({ settings, behaviour }: Pick<SimulationSetup, 'settings' | 'behaviour'>): boolean {
  return behaviour.failureShare > 0 || SLOWEST_CALL * behaviour.latencyMs > settings.gatewayTimeoutMs;
}

/** The run itself, and where calls fail by chance the same with other seeds. */
export function seedsOf(setup: SimulationSetup): readonly SimulationSetup[] {
  return [setup, ...(failsByChance(setup) ? otherRuns(setup).map(({ seed }) => ({ ...setup, seed })) : [])];
}

/** With other seeds, and with the outage some lifetimes earlier, or later where the run is too short for that. */
function otherRuns(setup: SimulationSetup): readonly SimulationSetup[] {
  const { outageMs, lifetimeMs } = setup.behaviour;
  return Array.from({ length: countOfOthers(setup) }, (_, index) => {
    const shiftMs = outageMs === 0 ? 0 : 2 * ((index % OTHER_STARTS) + 1) * lifetimeMs;
    const shorterMs = setup.durationMs - shiftMs;
    const durationMs = shorterMs >= 2 * (outageMs + lifetimeMs) ? shorterMs : setup.durationMs + shiftMs;
    return { ...setup, durationMs, seed: (setup.seed + index + 1) % MAX_SEED };
  });
}

function countOfOthers(setup: SimulationSetup): number {
  if (!failsByChance(setup)) return OTHER_STARTS;
  const fitting = Math.floor((LIFETIMES_OF_OTHERS * setup.behaviour.lifetimeMs) / setup.durationMs);
  return Math.min(MAX_OTHER_SEEDS, Math.max(OTHER_STARTS, fitting));
}

export function effectOf(before: ScheduleFigures, after: ScheduleFigures): Effect {
  if (before.withoutSessionMs === 0 && after.withoutSessionMs > 0) return 'lengthens';
  const [wasMs, isMs] = [lostMs(before, before), lostMs(before, after)];
  if (isMs === 0) return 'bridges';
  if (Math.abs(isMs - wasMs) < NOTABLE_MS) return 'none';
  if (isMs <= NOTABLE_SHARE * wasMs) return 'shortens';
  return isNotablyLonger(wasMs, isMs) && isNotablyLonger(wasMs - pauseMs(before), isMs - pauseMs(after))
    ? 'lengthens'
    : 'none';
}

const isNotablyLonger = (wasMs: number, isMs: number): boolean =>
  NOTABLE_SHARE * isMs >= wasMs && isMs - wasMs >= NOTABLE_MS;

/** By more than chance alone may decide. */
export const leavesLess = (one: Pick<Tried, 'lostMs'>, other: Pick<Tried, 'lostMs'>): boolean =>
  isNotablyLonger(one.lostMs, other.lostMs);

/** How long the pause is in which an outage happens to end is chance: another setting is not worse for a longer one. */
const pauseMs = ({ afterOutage }: ScheduleFigures): number => (afterOutage?.by === 'back_off' ? afterOutage.gapMs : 0);

const lostMs = (before: ScheduleFigures, figures: ScheduleFigures): number =>
  before.withoutSessionMs > 0 ? figures.withoutSessionMs : figures.pastMarginMs + figures.withoutSessionMs;

/** Plays changes of one run. */
export class Trials {
  readonly before: ScheduleFigures;
  readonly #setup: SimulationSetup;
  #otherRunsLeft: number;

  constructor(setup: SimulationSetup, before: ScheduleFigures) {
    this.#setup = setup;
    this.before = before;
    this.#otherRunsLeft = TRIALS_WITH_OTHERS * countOfOthers(setup);
  }

  async attempt(...changes: readonly Change[]): Promise<Tried> {
    // With room for a tick or two: a run that is cut short has lost, and says so.
    const mostGapMs = this.before.withoutSessionMs / NOTABLE_SHARE + CUT_SHORT_AFTER_MS;
    const run = { ...changed(this.#setup, changes), mostGapMs };
    const tried = await this.#played(run, changes);
    const { figures } = tried;
    if (tried.effect !== 'bridges') return tried;
    const limit: Limit = this.before.withoutSessionMs > 0 ? 'end' : 'margin';
    if (!bridgesWhereverItBegins(run, limit) || !(failsByChance(run) || hasCallsToSpare(run, figures.budget)))
      return { ...tried, isForThisStart: true };
    const mayDiffer = failsByChance(run) || run.behaviour.outageMs > 0;
    const others = otherRuns(run);
    if (!mayDiffer || this.#otherRunsLeft < others.length) return tried;
    const lostElsewhereMs = await this.#lostElsewhereMs(others);
    return { ...tried, lostElsewhereMs, ...(lostElsewhereMs === 0 && { runs: others.length + 1 }) };
  }

  /** As it is told: a run that was cut short is played again, for what it loses in all, and why. */
  async toTheEnd(tried: Tried): Promise<Tried> {
    const { isCutShort = false, changes } = tried;
    return isCutShort ? this.#played(changed(this.#setup, changes), changes) : tried;
  }

  /** A change that makes another warning necessary is none to advise. */
  isNewlyShort({ figures }: Tried): boolean {
    return this.before.leadTimeShort === undefined && figures.leadTimeShort !== undefined;
  }

  async #played(run: SimulationSetup, changes: readonly Change[]): Promise<Tried> {
    const log = await simulate(run);
    const figures = figuresOf(log, run.durationMs, run.settings);
    const { before } = this;
    const tried = { changes, figures, effect: effectOf(before, figures), lostMs: lostMs(before, figures) };
    return log.isCutShort ? { ...tried, isCutShort: true } : tried;
  }

  async #lostElsewhereMs(others: readonly SimulationSetup[]): Promise<number> {
    for (const run of others) {
      this.#otherRunsLeft -= 1;
      const lost = lostMs(this.before, await played(run));
      if (lost > 0) return lost;
    }
    return 0;
  }
}
