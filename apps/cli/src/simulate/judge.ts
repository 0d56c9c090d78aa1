import { isBeyondAnySetting, sufficientLead, tryChanges } from './changes.js';
import { figuresOf, isHarmless, isHitHarder } from './figures.js';
import { hardestNights } from './hardest-nights.js';
import { hardestHit, isWaitedFor, type Judged, type Member, membersOf, worstOf } from './judged.js';
import { MAX_RENEWALS_TO_REPEAT, outageWarning } from './limits-of-a-run.js';
import { simulate, type SimulationSetup } from './simulation.js';
import { otherRuns } from './situations.js';
import type { PlayedRun } from './trials.js';

/**
 * For how many merchants alike, besides the hardest-hit one, a change is tried. All the others are played only once it
 * bridges the gap.
 */
const MAX_ALIKE_TRIED = 4;

/**
 * What the runs of merchants with the same settings show, together with other runs like them.
 * @param isAdvised whether to seek advice if there is a gap
 */
export async function judge(members: readonly Member[], isAdvised: boolean): Promise<Judged> {
  const judged = { ...hardestServed(members), ...(members.length > 1 && { alike: members }) };
  const { setup, figures } = judged;
  const { behaviour, durationMs } = setup;
  const isTooLong = durationMs / behaviour.lifetimeMs > MAX_RENEWALS_TO_REPEAT;
  if (!isAdvised || isTooLong || figures.sessions === 0) return judged;
  if (judged.notPlayed !== undefined) return { ...judged, ...(await neededLead(judged)) };
  const others = await playedOthers(setup);
  const whole = { ...judged, ...(others.length > 0 && { others }) };
  return { ...whole, ...(await neededLead(judged)), ...(await advice(whole)) };
}

/** A merchant that never had a session shows nothing about what keeps others from having one. */
function hardestServed(members: readonly Member[]): Member {
  const served = members.filter(({ figures }) => figures.sessions > 0);
  return hardestHit(served.length > 0 ? served : members);
}

/** Only the runs that hold the whole outage: the budget may keep it from being played. */
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

async function advice(judged: Judged): Promise<Pick<Judged, 'tried' | 'inVain' | 'outdone'>> {
  const { setup, figures, others = [] } = judged;
  if (isHarmless(worstOf(judged).figures) || isWaitedFor(judged) || isBeyondAnySetting(setup, figures)) return {};
  const alike = membersOf(judged)
    .filter((one) => one.setup !== setup)
    .toSorted(byHarm);
  return tryChanges(
    [{ setup, figures }, ...others, ...alike.slice(0, MAX_ALIKE_TRIED)],
    alike.slice(MAX_ALIKE_TRIED).map((one) => one.setup),
  );
}

const byHarm = ({ figures: one }: Member, { figures: other }: Member): number =>
  Number(isHitHarder(other, one)) - Number(isHitHarder(one, other));
