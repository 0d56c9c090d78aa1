import { DailyWindow } from '#libs/clock';
import { budgetShortfall, type CreateCallBudget, leadShares, type LeadTime, safetyMarginMs } from '#libs/session';
import { type Change, changed, type ChangeKind, kindOf } from './change.js';
import { ampleBudgets, askedFor, inFewestCalls } from './budgets.js';
import { withCalmCalls } from './calm-calls.js';
import { failsByChance, SLOWEST_CALL } from './chance.js';
import type { ScheduleFigures } from './figures.js';
import { believedLifeMs, currentLeadShare, neededLeadMs } from './needed-lead.js';
import {
  isLongEnough,
  type Lead,
  pacedChanges,
  pacedWithMoreCalls,
  sparingChanges,
  sparingWithMoreCalls,
  withSurerLead,
} from './pacing.js';
import type { SimulationSetup } from './simulation.js';
import { tooSmallOf } from './spare-calls.js';
import {
  bridges,
  bridgesForSure,
  isBetter,
  leavesLess,
  played,
  type PlayedRun,
  shortensLongest,
  type Tried,
  Trials,
} from './trials.js';

/** The most that `gateway.timeout` can be. */
export const MAX_TIMEOUT_MS = 60_000;
const LEAD_SHARES = [0.05, 0.1, 0.2, 0.3, 0.4, leadShares.longest];
/** Multiples of the given lifetime. */
const LIFETIMES = [2, 4, 8];
/** For each kind of change, how many that looked good in a few runs are proved in all. */
const MAX_PROOFS = 3;
/** A lead in minutes is a multiple of this. */
const LEAD_STEP_MS = 300_000;
/**
 * Without a configured margin, `config check` refuses a share that is not larger than this: for short sessions, the
 * margin is that long.
 */
const MIN_SHARE_WITHOUT_MARGIN = 0.05;

export interface Advice {
  readonly tried: readonly Tried[];
  /** Kinds of which more changes were tried than are reported, and of which nothing reported helps. */
  readonly inVain: readonly ChangeKind[];
  /** Kinds of which one bridges the gap too, and would need more calls from the bank than something that is reported. */
  readonly outdone: readonly ChangeKind[];
}

/**
 * Replays the runs with each change that may help and reports its effect, so that advice states what was actually seen,
 * in every one of them. Each kind of change is first sought in the few runs that lose most, and played in all of them
 * if it is worth that. What only the bank decides comes last, and only if nothing else bridges the gap.
 * @param alike runs of further merchants, in which only what bridges the gap is played
 */
export async function tryChanges(
  before: readonly PlayedRun[],
  alike: readonly SimulationSetup[] = [],
): Promise<Advice> {
  const trials = new Trials(before, alike);
  const timeout = timeoutFor(before);
  const withTimeout = timeout && (await trials.prove([timeout]));
  if (timeout === undefined || withTimeout === undefined || !isWorthIt(withTimeout)) return adviceOf(trials);
  if (bridges(withTimeout)) return { tried: [withTimeout], inVain: [], outdone: [] };
  // A timeout that cuts calls short is wrong in any case, so further changes are sought with a longer one.
  const longer = new Trials(
    await replayed(before, timeout),
    alike.map((setup) => changed(setup, [timeout])),
  );
  const { tried, ...others } = await adviceOf(longer);
  const further = tried.filter(isBetter).map((one) => ({ ...one, changes: [timeout, ...one.changes] }));
  return { tried: [withTimeout, ...further], ...others };
}

function timeoutFor([own]: readonly PlayedRun[]): Change | undefined {
  return own && longEnoughTimeout(own.setup, own.figures);
}

const isWorthIt = (one: Tried): boolean => isBetter(one) || shortensLongest(one);

async function replayed(before: readonly PlayedRun[], change: Change): Promise<readonly PlayedRun[]> {
  const after: PlayedRun[] = [];
  for (const run of before) {
    const setup = changed(run.setup, [change]);
    after.push({ ...run, setup, figures: await played(setup) });
  }
  return after;
}

async function adviceOf(trials: Trials): Promise<Advice> {
  const [own] = trials.before;
  if (own === undefined) return { tried: [], inVain: [], outdone: [] };
  const { better, outdone } = await soughtIn(trials, own);
  const tried = await withCalmCalls(own.setup, better);
  const inVain = trials.kindsInVain(tried, outdone);
  const helping = new Set([...tried.filter(isBetter).map(({ changes }) => kindOf(changes)), ...inVain]);
  const kinds = new Set(outdone.flatMap(({ changes }) => kindOf(changes) ?? []));
  return { tried, inVain, outdone: [...kinds].filter((kind) => !helping.has(kind)) };
}

interface Sought {
  readonly better: readonly Tried[];
  /** Bridges the gap like one of these, and asks the bank for more. */
  readonly outdone: readonly Tried[];
}

async function soughtIn(trials: Trials, own: PlayedRun): Promise<Sought> {
  const leads = leadsToTry(own);
  const byLead = await bestOf(
    trials,
    leads.map((lead) => [lead]),
  );
  const paced = byLead.some(bridges) ? [] : await pacedIn(trials, own, byLead);
  const { budget: before } = own.setup.settings;
  // Then nobody has to ask the bank for anything.
  const isFreeAndSure = paced.some((one) => bridgesForSure(one) && askedFor(one, before) === 0);
  const alone = [...byLead, ...(isFreeAndSure ? [] : await moreCalls(trials))];
  const isBridged = isFreeAndSure || alone.some(bridges);
  const both = isBridged ? [] : await leadWithBudget(own.setup, trials, alone);
  const shorter = alone.some(bridges) ? await shorterWithBudget(trials, own) : [];
  const found = [...alone, ...both, ...paced, ...shorter];
  const least = leastAsked(found, before);
  const isFree = least.some((one) => bridges(one) && askedFor(one, before) === 0);
  // What only shortens the gap is of no use beside what bridges it without asking the bank.
  const better = least.filter((one) => bridges(one) || !isFree);
  const byBank = better.some(bridges)
    ? []
    : await bestOf(
        trials,
        lifetimesToTry(own.setup).map((life) => [life]),
      );
  const warned = byLead.some(bridges) ? [] : await longestLead(trials, leads, byLead);
  return {
    better: [...better, ...byBank, ...warned],
    outdone: found.filter((one) => bridges(one) && !least.includes(one)),
  };
}

async function moreCalls(trials: Trials): Promise<readonly Tried[]> {
  const candidates = (await ampleBudgets(trials, [])).map((budget) => [budget]);
  return inFewestCalls(trials, await bestOf(trials, candidates));
}

/** Nobody asks the bank for more calls if fewer of them, or none, do as well: what is certain is more than that. */
function leastAsked(found: readonly Tried[], before: CreateCallBudget): readonly Tried[] {
  const isAsGood = (one: Tried, other: Tried): boolean =>
    bridges(one)
      ? one.tight.length === 0 && (one.isSure || !bridgesForSure(other))
      : !bridges(other) && !leavesLess(other, one);
  const asksForLess = (one: Tried, other: Tried): boolean => askedFor(one, before) < askedFor(other, before);
  return found.filter((one) => !found.some((other) => asksForLess(other, one) && isAsGood(other, one)));
}

/**
 * The first change that bridges the gap, otherwise the one that leaves the least of it; none if what was seen in a few
 * runs did not hold in all. A change that makes another warning necessary is never advised.
 * @param rivals a change that does not bridge the gap is worth something only if it leaves less than each of these
 */
async function bestOf(
  trials: Trials,
  candidates: readonly (readonly Change[])[],
  rivals: readonly Tried[] = [],
): Promise<readonly Tried[]> {
  const isAdvice = (one: Tried): boolean =>
    isBetter(one) && !trials.isNewlyShort(one) && (bridges(one) || rivals.every((rival) => leavesLess(one, rival)));
  const looked: Tried[] = [];
  for (const changes of candidates) {
    const seen = await trials.look(changes);
    if (isAdvice(seen)) looked.push(seen);
    if (!bridges(seen) || !isAdvice(seen)) continue;
    const proved = await trials.prove(changes);
    if (bridges(proved) && isAdvice(proved)) return [proved];
  }
  return bestProved(trials, looked, isAdvice);
}

/** Changes that are about equally good in a few runs are played in all, which shows which one leaves the least. */
async function bestProved(
  trials: Trials,
  looked: readonly Tried[],
  isAdvice: (one: Tried) => boolean,
): Promise<readonly Tried[]> {
  let left = looked;
  let held: { readonly looked: Tried; readonly proved: Tried } | undefined;
  for (let tries = 0; tries < MAX_PROOFS && left.length > 0; tries += 1) {
    const next = left.reduce((least, other) => (isPreferred(other, least) ? other : least));
    if (held !== undefined && (needsMoreCalls(next) || leavesLess(held.looked, next))) break;
    const proved = await trials.prove(next.changes);
    if (isAdvice(proved) && (held === undefined || isPreferred(proved, held.proved))) held = { looked: next, proved };
    left = left.filter((other) => other !== next);
  }
  return held === undefined ? [] : [held.proved];
}

/** More calls are for the bank to allow: a change that needs them has to leave less by more than chance. */
const isPreferred = (one: Tried, other: Tried): boolean =>
  needsMoreCalls(one) ? leavesLess(one, other) : one.lostMs < other.lostMs;

const needsMoreCalls = ({ changes }: Tried): boolean => changes.some(({ of }) => of === 'budget');

/** The longest lead time, if someone who goes further in that direction would lose by it, or gain nothing. */
async function longestLead(
  trials: Trials,
  leads: readonly Change[],
  found: readonly Tried[],
): Promise<readonly Tried[]> {
  const [own] = trials.before;
  const current = own === undefined ? 1 : currentLeadShare(own.setup);
  const last = leads.filter((lead) => lead.of === 'lead' && lead.share > current).at(-1);
  if (last === undefined) return [];
  const longest = await trials.prove([last]);
  const { effect } = longest;
  return effect === 'lengthens' || effect === 'may_lengthen' || (effect === 'none' && found.length === 0)
    ? [longest]
    : [];
}

/** Undefined if no call hit the timeout, or if no timeout that can be set is long enough. */
export function longEnoughTimeout(
  { behaviour }: Pick<SimulationSetup, 'behaviour'>,
  { failures }: Pick<ScheduleFigures, 'failures'>,
): Extract<Change, { readonly of: 'timeout' }> | undefined {
  const timeoutMs = Math.ceil((SLOWEST_CALL * behaviour.latencyMs) / 1_000) * 1_000;
  if ((failures['timeout'] ?? 0) === 0 || timeoutMs > MAX_TIMEOUT_MS) return undefined;
  return { of: 'timeout', timeoutMs };
}

/**
 * Longer ones first, then shorter ones. If the schedule itself exceeds the budget, only the shorter ones: they need
 * fewer calls.
 */
function leadsToTry({ setup, figures }: PlayedRun): readonly Change[] {
  const current = currentLeadShare(setup);
  const isExceeded = tooSmallOf(figures) !== undefined;
  const shares = leadSharesOf(setup).filter((share) => fitsBudget(setup, ofShare(share)));
  const longer = isExceeded ? [] : shares.filter((share) => share > current + 0.01);
  const shorter = shares.filter((share) => share < current - 0.01).reverse();
  const byShare = [...longer, ...shorter].map((share): Change => ({ of: 'lead', share }));
  return [...(isExceeded ? [] : leadsInQuietHours(setup)), ...byShare];
}

/**
 * All shares that are longer than the margin: otherwise the renewer would cut the margin, and with it the time for a
 * second attempt.
 */
function leadSharesOf(setup: SimulationSetup): readonly number[] {
  const lifeMs = believedLifeMs(setup);
  const marginShare = safetyMarginMs(setup.settings, lifeMs) / lifeMs;
  const leastShare = setup.settings.safetyMargin === undefined ? MIN_SHARE_WITHOUT_MARGIN : marginShare;
  return LEAD_SHARES.filter((share) => share > leastShare);
}

/**
 * From slightly longer than the outage up to the length of the quiet hours: with a longer lead, a renewal that must not
 * fail would have to begin before them. Even the smallest share of a long session may be longer than that.
 */
function leadsInQuietHours(setup: SimulationSetup): readonly Change[] {
  const { quietHours, renewEveryMs = Infinity } = setup.settings;
  if (quietHours === undefined) return [];
  const leastMs = Math.ceil(neededLeadMs(setup, 'margin') / LEAD_STEP_MS) * LEAD_STEP_MS;
  const lifeMs = believedLifeMs(setup);
  const { lengthMs } = new DailyWindow(quietHours);
  const mostMs = Math.min(lengthMs, leadShares.longest * lifeMs, renewEveryMs / 2);
  return [...new Set([leastMs, 2 * leastMs, lengthMs])]
    .filter((leadMs) => leadMs >= leastMs && leadMs <= mostMs && leadMs > currentLeadShare(setup) * lifeMs)
    .filter((durationMs) => fitsBudget(setup, { kind: 'duration', durationMs }))
    .map((leadMs) => ({ of: 'leadTime', leadMs }));
}

const ofShare = (share: number): LeadTime => ({ kind: 'share', share });

/** Whether any lead longer than the configured one needs no more calls than are allowed. */
export function hasLongerLead(setup: SimulationSetup): boolean {
  return LEAD_SHARES.some((share) => share > currentLeadShare(setup) + 0.01 && fitsBudget(setup, ofShare(share)));
}

/**
 * Fewer calls at once: with the current lead, with the longest one, and with those as long as the outage. Also with
 * more calls in longer windows, if that bridges it.
 */
async function pacedIn(trials: Trials, own: PlayedRun, byLead: readonly Tried[]): Promise<readonly Tried[]> {
  const { setup, figures } = own;
  if (setup.behaviour.outageMs === 0) return [];
  const current = currentLeadShare(setup);
  const longer = leadSharesOf(setup).filter((share) => share > current + 0.01);
  const leadsOf = (shares: readonly number[]): readonly Lead[] => shares.map((share) => ({ of: 'lead', share }));
  const enough = longer.filter((share) => isLongEnough(own, share));
  const fitting = longer.filter((share) => fitsBudget(setup, ofShare(share)));
  const worthIt = fitting.filter((share) => enough.includes(share) || share === fitting.at(-1));
  const shorter = leadSharesOf(setup).filter((share) => share < current - 0.01);
  const sparing = sparingChanges(own, [undefined, ...leadsOf(shorter.reverse()), ...leadsOf(fitting)]);
  const candidates = [...sparing, ...pacedChanges(own, [undefined, ...leadsOf(worthIt)])];
  const found = tooSmallOf(figures) === undefined ? await bestOf(trials, candidates, byLead) : [];
  if (found.some(bridges)) return [...found, ...(await withSurerLead(trials, found, leadsOf(fitting)))];
  const leads = [...(isLongEnough(own, current) ? [undefined] : []), ...leadsOf(enough)];
  const sparingMore = (await bestOf(trials, sparingWithMoreCalls(own, leads))).filter(bridges);
  return [...found, ...(sparingMore.length > 0 ? sparingMore : await pacedWithMoreCalls(trials, leads))];
}

function fitsBudget(setup: SimulationSetup, renewBefore: LeadTime): boolean {
  return budgetShortfall(believedLifeMs(setup), { ...setup.settings, renewBefore }) === undefined;
}

/**
 * The longest lead with the calls that it needs, or with more calls if that leaves less; a shorter lead if it does as
 * well with fewer calls.
 */
async function leadWithBudget(
  setup: SimulationSetup,
  trials: Trials,
  alone: readonly Tried[],
): Promise<readonly Tried[]> {
  let held: readonly Tried[] = [];
  const longer = leadSharesOf(setup).filter((share) => share > currentLeadShare(setup));
  for (const share of longer.reverse()) {
    const lead: Change = { of: 'lead', share };
    const budgets = await ampleBudgets(trials, [lead]);
    const candidates = budgets.map((budget) => [lead, budget]);
    const found = await bestOf(trials, candidates, alone);
    // What would bridge it is not given up for what only did so in these runs.
    if (held.length > 0 && !found.some(held.some(bridgesForSure) ? bridgesForSure : bridges)) break;
    held = found;
    if (!held.some(bridges)) break;
  }
  return inFewestCalls(trials, held);
}

/** For when the schedule itself exceeds the budget because of a long lead: the default lead takes fewer calls. */
async function shorterWithBudget(trials: Trials, { setup, figures }: PlayedRun): Promise<readonly Tried[]> {
  if (tooSmallOf(figures) === undefined || currentLeadShare(setup) <= leadShares.default) return [];
  const lead: Change = { of: 'lead', share: leadShares.default };
  const budgets = await ampleBudgets(trials, [lead]);
  const found = await bestOf(
    trials,
    budgets.map((budget) => [lead, budget]),
  );
  return inFewestCalls(trials, found.filter(bridges));
}

/**
 * Whether only an outage keeps sessions from coming, and it is longer than the longest sessions that would be tried:
 * replaying everything would take minutes and show what is already known.
 */
export function isBeyondAnySetting(
  { settings, behaviour }: SimulationSetup,
  figures: Pick<ScheduleFigures, 'budget'>,
): boolean {
  if (failsByChance({ settings, behaviour }) || tooSmallOf(figures) !== undefined) return false;
  return behaviour.outageMs > longestTriedMs({ settings, behaviour });
}

/** The longest session lifetime that is tried. */
export const longestTriedMs = ({ settings, behaviour }: Pick<SimulationSetup, 'settings' | 'behaviour'>): number =>
  Math.min(Math.max(...LIFETIMES) * behaviour.lifetimeMs, Math.max(settings.longestLifetimeMs, behaviour.lifetimeMs));

/** Nothing beyond `session.longestLifetime` is believed, so that limit is the longest to try. */
function lifetimesToTry({ settings, behaviour }: SimulationSetup): readonly Change[] {
  const wanted = LIFETIMES.map((times) => Math.min(times * behaviour.lifetimeMs, settings.longestLifetimeMs));
  return [...new Set(wanted)]
    .filter((lifetimeMs) => lifetimeMs > behaviour.lifetimeMs)
    .map((lifetimeMs) => ({ of: 'lifetime', lifetimeMs }));
}

/** Whether longer sessions than these would be tried if `session.longestLifetime` were longer. */
export const isCutByLongest = ({ settings, behaviour }: SimulationSetup, lifetimeMs = behaviour.lifetimeMs): boolean =>
  lifetimeMs >= settings.longestLifetimeMs && Math.max(...LIFETIMES) * behaviour.lifetimeMs > lifetimeMs;

/** The smallest lead that, without gateway faults, fits two attempts and needs no more calls than are allowed. */
export async function sufficientLead(setup: SimulationSetup): Promise<number | undefined> {
  const { behaviour, settings } = setup;
  const durationMs = Math.min(setup.durationMs, 4 * behaviour.lifetimeMs);
  const calm = { ...setup, durationMs, behaviour: { ...behaviour, failureShare: 0, outageMs: 0, latencyMs: 0 } };
  for (const share of leadSharesOf(setup).filter((candidate) => candidate > currentLeadShare(setup))) {
    const figures = await played(changed(calm, [{ of: 'lead', share }]));
    const exceeds = figures.budget.some(({ needed }, index) => needed > (settings.budget[index]?.calls ?? 0));
    if (figures.leadTimeShort === undefined && !exceeds) return share;
  }
  return undefined;
}
