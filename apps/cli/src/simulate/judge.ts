import { isBeyondAnySetting, sufficientLead, tryChanges } from './changes.js';
import { figuresOf, isHarmless } from './figures.js';
import { hardestNights } from './hardest-nights.js';
import { isWaitedFor, type Judged, worstOf } from './judged.js';
import { MAX_RENEWALS_TO_REPEAT, outageWarning } from './limits-of-a-run.js';
import { simulate, type SimulationLog, type SimulationSetup } from './simulation.js';
import { otherRuns } from './situations.js';
import type { PlayedRun } from './trials.js';

interface Sought {
  /** Whether to seek advice where there is a gap. */
  readonly isAdvised: boolean;
  /** The same for other merchants: what is advised is for them, too. */
  readonly ofOthersAlike: readonly PlayedRun[];
}

/** What a run shows, and others like it. */
export async function judge(
  setup: SimulationSetup,
  log: SimulationLog,
  { isAdvised, ofOthersAlike }: Sought,
): Promise<Judged> {
  const { behaviour, durationMs, settings } = setup;
  const figures = figuresOf(log, durationMs, settings);
  const judged = { setup, figures, ...outageWarning(log, setup) };
  const isTooLong = durationMs / behaviour.lifetimeMs > MAX_RENEWALS_TO_REPEAT;
  if (!isAdvised || isTooLong || figures.sessions === 0) return judged;
  if (judged.notPlayed !== undefined) return { ...judged, ...(await neededLead(judged)) };
  const others = await playedOthers(setup);
  const whole = { ...judged, ...(others.length > 0 && { others }) };
  return { ...whole, ...(await neededLead(judged)), ...(await advice(whole, ofOthersAlike)) };
}

/** Those that hold the outage to its end: the budget may keep it from being played. */
async function playedOthers(setup: SimulationSetup): Promise<readonly PlayedRun[]> {
  const others: PlayedRun[] = [];
  for (const run of [...(await hardestNights(setup)), ...otherRuns(setup)]) {
    const log = await simulate(run);
    if (outageWarning(log, run).notPlayed !== undefined) continue;
    const { outageEndsAtMs } = log;
    const figures = figuresOf(log, run.durationMs, run.settings);
    others.push({ setup: run, figures, ...(outageEndsAtMs !== undefined && { outageEndsAtMs }) });
  }
  return others;
}

async function neededLead({ setup, figures }: Judged): Promise<Pick<Judged, 'leadShare'>> {
  const leadShare = figures.leadTimeShort === undefined ? undefined : await sufficientLead(setup);
  return leadShare === undefined ? {} : { leadShare };
}

async function advice(judged: Judged, ofOthersAlike: readonly PlayedRun[]): Promise<Pick<Judged, 'tried' | 'inVain'>> {
  const { setup, figures, others = [] } = judged;
  if (isHarmless(worstOf(judged).figures) || isWaitedFor(judged) || isBeyondAnySetting(setup, figures)) return {};
  return tryChanges([{ setup, figures }, ...others, ...ofOthersAlike]);
}
