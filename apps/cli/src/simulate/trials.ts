import { type Change, changed, type ChangeKind, kindOf } from './change.js';
import { failsByChance } from './chance.js';
import { type Effect, effectOf, isLonger, isNotablyLonger, lostIn } from './effect.js';
import { figuresOf, type ScheduleFigures, type WindowFigures } from './figures.js';
import { bridgesWhereverItBegins, hasCallsToSpare, tightWindows } from './needed-lead.js';
import { furtherRuns, isRepeated } from './situations.js';
import { simulate, type SimulationSetup } from './simulation.js';

/** A run and its results. */
export interface PlayedRun {
  readonly setup: SimulationSetup;
  readonly figures: ScheduleFigures;
  readonly outageEndsAtMs?: number;
}

/** What a schedule takes if nothing fails. */
export interface CalmRun {
  readonly createCalls: number;
  readonly outsideQuietHours: number;
}

/** One change, or several at once, in runs that are otherwise the same. */
export interface Tried {
  readonly changes: readonly Change[];
  readonly effect: Effect;
  /** From the run that loses most. */
  readonly figures: ScheduleFigures;
  /** From the requested run, or from the first one that it was played in. */
  readonly own: ScheduleFigures;
  /** Windows of the budget that another run may use up, each from the run that uses the most of it. */
  readonly tight: readonly WindowFigures[];
  /** The time without a session, or past the margin, in the run that loses least and in the one that loses most. */
  readonly leastLostMs: number;
  readonly lostMs: number;
  /** The least that a session had left when the next one came, in all of the runs. Absent if none was replaced. */
  readonly leastLeftMs?: number;
  /** The most that any run loses without the change. */
  readonly wasMs: number;
  /**
   * From the requested run if nothing failed, with the lead unchanged and changed. Absent if the lead alone decides.
   */
  readonly calm?: { readonly was: CalmRun; readonly is: CalmRun };
  /** How many runs were played with it. */
  readonly runs: number;
  /** How many merchants these runs belong to, if several have the same settings. */
  readonly merchants: number;
  /** How many of the runs lost less without it. */
  readonly longerRuns: number;
  /** Whether its numbers show that it bridges the outage wherever that begins, and not only in these runs. */
  readonly isSure: boolean;
}

/** This many runs show whether a change is worth playing in all of them. */
const RUNS_TO_CHOOSE_BY = 3;

export const played = async (setup: SimulationSetup): Promise<ScheduleFigures> =>
  figuresOf(await simulate(setup), setup.durationMs, setup.settings);

export const bridges = ({ effect }: Tried): boolean => effect === 'bridges';

/** Bridges it wherever the outage begins, which is more than that some runs had no gap. */
export const bridgesForSure = (one: Tried): boolean => bridges(one) && one.isSure;

export const isBetter = ({ effect }: Tried): boolean => effect === 'bridges' || effect === 'shortens';

/** By more than chance alone may explain. */
export const leavesLess = (one: Pick<Tried, 'lostMs'>, other: Pick<Tried, 'lostMs'>): boolean =>
  isNotablyLonger(one.lostMs, other.lostMs);

/** Whether the longest of all is notably shorter with it, whatever happens to the others. */
export const shortensLongest = (one: Tried): boolean => leavesLess(one, { lostMs: one.wasMs });

const merchantsIn = (setups: readonly SimulationSetup[]): number =>
  new Set(setups.map(({ merchant }) => merchant)).size;

function tightIn(runs: readonly PlayedRun[]): readonly WindowFigures[] {
  const tight = new Map<number, WindowFigures>();
  for (const window of runs.flatMap(({ setup, figures }) => tightWindows(setup, figures.budget))) {
    if (window.used > (tight.get(window.perMs)?.used ?? 0)) tight.set(window.perMs, window);
  }
  return [...tight.values()];
}

function leastLeftIn(figures: readonly ScheduleFigures[]): Pick<Tried, 'leastLeftMs'> {
  const left = figures.flatMap(({ worstRemainingMs }) => worstRemainingMs ?? []);
  return left.length === 0 ? {} : { leastLeftMs: Math.min(...left) };
}

/** Plays changes in runs that were played without them. */
export class Trials {
  /** The requested run comes first. */
  readonly before: readonly PlayedRun[];
  readonly #alike: readonly SimulationSetup[];
  readonly #isOfSessions: boolean;
  readonly #hardest: readonly PlayedRun[];
  readonly #proved = new Map<string, Tried>();
  readonly #changes = new Map<string, readonly Change[]>();
  /** Runs in which a change was looked at are not replayed when it is proved. */
  readonly #figures = new Map<string, ScheduleFigures>();

  /** @param alike further merchants with the same settings: a change that bridges the gap must bridge theirs too */
  constructor(before: readonly PlayedRun[], alike: readonly SimulationSetup[] = []) {
    this.before = before;
    this.#alike = alike;
    this.#isOfSessions = before.some(({ figures }) => figures.withoutSessionMs > 0);
    const short = before.filter(({ setup }) => isRepeated(setup));
    this.#hardest = [...(short.length === 0 ? before : short)]
      .sort((one, other) => this.#lost(other.figures) - this.#lost(one.figures))
      .slice(0, RUNS_TO_CHOOSE_BY);
  }

  /** The runs that lose most, which is where a setting has to make a difference. */
  get hardest(): readonly SimulationSetup[] {
    return this.#hardest.map(({ setup }) => setup);
  }

  /** Plays the changes in the few runs that lose most. */
  look(changes: readonly Change[]): Promise<Tried> {
    return this.#attempt(changes, this.#hardest);
  }

  /** Plays the changes in every run: whatever is reported comes from here. */
  async prove(changes: readonly Change[]): Promise<Tried> {
    const key = JSON.stringify(changes);
    const proved = this.#proved.get(key) ?? (await this.#confirmed(await this.#attempt(changes, this.before)));
    this.#proved.set(key, proved);
    return proved;
  }

  /**
   * Chance may have spared all of these runs: what bridges them has to bridge further ones too, and those that it does
   * not are counted. For merchants alike, the first one that it does not bridge decides, because hundreds may follow.
   */
  async #confirmed(proved: Tried): Promise<Tried> {
    const [own] = this.before;
    if (!bridges(proved) || own === undefined) return proved;
    const further = furtherRuns(own.setup);
    const unspared = await this.#unspared(proved.changes, further);
    let count = further.length;
    for (const setup of this.#alike) {
      if (unspared.length > 0) break;
      unspared.push(...(await this.#unspared(proved.changes, [setup])));
      count += 1;
    }
    const whole = unspared.length === 0 ? proved : await this.#attempt(proved.changes, [...this.before, ...unspared]);
    const played = [...this.before.map(({ setup }) => setup), ...[...further, ...this.#alike].slice(0, count)];
    const figures: ScheduleFigures[] = [];
    for (const setup of played) figures.push(await this.#played(changed(setup, proved.changes)));
    return { ...whole, ...leastLeftIn(figures), runs: played.length, merchants: merchantsIn(played) };
  }

  async #unspared(changes: readonly Change[], setups: readonly SimulationSetup[]): Promise<PlayedRun[]> {
    const unspared: PlayedRun[] = [];
    for (const setup of setups) {
      if (this.#lost(await this.#played(changed(setup, changes))) === 0) continue;
      unspared.push({ setup, figures: await this.#played(setup) });
    }
    return unspared;
  }

  /**
   * The kinds of which something was played that is not reported, while nothing that is reported helps.
   * @param outdone what bridges the gap too, and needs more calls than something that is reported
   */
  kindsInVain(told: readonly Tried[], outdone: readonly Tried[] = []): readonly ChangeKind[] {
    const helping = new Set([...told.filter(isBetter), ...outdone].map(({ changes }) => kindOf(changes)));
    const keys = new Set(told.map(({ changes }) => JSON.stringify(changes)));
    const untold = [...this.#changes].filter(([key]) => !keys.has(key)).map(([, changes]) => kindOf(changes));
    return [...new Set(untold)].flatMap((kind) => (kind === undefined || helping.has(kind) ? [] : [kind]));
  }

  /** A change that makes another warning necessary is not advised. */
  isNewlyShort({ figures }: Tried): boolean {
    return this.before.every((run) => run.figures.leadTimeShort === undefined) && figures.leadTimeShort !== undefined;
  }

  async #attempt(changes: readonly Change[], before: readonly PlayedRun[]): Promise<Tried> {
    this.#changes.set(JSON.stringify(changes), changes);
    const after: PlayedRun[] = [];
    for (const run of before) {
      const setup = changed(run.setup, changes);
      after.push({ setup, figures: await this.#played(setup) });
    }
    const lost = after.map(({ figures }) => this.#lost(figures));
    const lostMs = Math.max(...lost);
    const [own] = after;
    if (own === undefined) throw new RangeError('there is no run to play the change in');
    const { figures } = after[lost.indexOf(lostMs)] ?? own;
    const wasMs = Math.max(...before.map((run) => this.#lost(run.figures)));
    const compared = before.map((run, index) => ({ wasMs: this.#lost(run.figures), isMs: lost[index] ?? 0 }));
    return {
      ...{ changes, wasMs, lostMs, leastLostMs: Math.min(...lost), figures, own: own.figures },
      ...{ runs: after.length, merchants: merchantsIn(after.map(({ setup }) => setup)) },
      ...{ effect: effectOf(compared), longerRuns: compared.filter(isLonger).length },
      ...{ isSure: after.every((run) => this.#isSure(run)), tight: tightIn(after) },
      ...leastLeftIn(after.map((run) => run.figures)),
    };
  }

  async #played(setup: SimulationSetup): Promise<ScheduleFigures> {
    const key = JSON.stringify(setup);
    const figures = this.#figures.get(key) ?? (await played(setup));
    this.#figures.set(key, figures);
    return figures;
  }

  #lost(figures: ScheduleFigures): number {
    return lostIn(figures, this.#isOfSessions);
  }

  #isSure({ setup, figures }: PlayedRun): boolean {
    if (failsByChance(setup)) return false;
    return (
      bridgesWhereverItBegins({ ...setup, budget: figures.budget }, this.#isOfSessions ? 'end' : 'margin') &&
      hasCallsToSpare(setup, figures.budget)
    );
  }
}
