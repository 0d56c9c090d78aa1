import { DailyWindow } from '#libs/clock';
import {
  budgetShortfall,
  type CreateCallBudget,
  type CreateCallWindow,
  type LeadTime,
  leadShareOf,
  longestOutagePauseMs,
  MAX_LEAD_SHARE,
  safetyMarginMs,
} from '#libs/session';
import { type Change, changed } from './change.js';
import type { ScheduleFigures } from './figures.js';
import { believedLifeMs, callsOfChance, neededLeadMs } from './needed-lead.js';
import type { SimulationSetup } from './simulation.js';
import { bridges, failsByChance, leavesLess, played, seedsOf, SLOWEST_CALL, type Tried, Trials } from './trials.js';

/** What `gateway.timeout` and a window's `calls` can be at most. */
export const MAX_TIMEOUT_MS = 60_000;
export const MAX_CALLS = 1_000;
const LEAD_SHARES = [0.05, 0.1, 0.2, 0.3, 0.4, MAX_LEAD_SHARE];
/** Times the one that was given. */
const LIFETIMES = [2, 4, 8];
/** Times the calls that a longer lead takes: the pauses of an outage are as long as the budget asks for, and one with just enough calls asks for long ones. */
const AMPLER = [1, 2, 4];
/** What a lead in minutes is a multiple of. */
const LEAD_STEP_MS = 300_000;
/** Where no margin is set, `config check` refuses a share that is not more: of short sessions the margin is as long. */
const MIN_SHARE_WITHOUT_MARGIN = 0.05;

/**
 * Plays the run again for each change that may help, and tells what it does: advice is then what was seen. At most 34 runs, and 76 where calls fail by chance,
 * those with other seeds and other beginnings of the outage among them. What the bank decides alone comes last, and only when nothing else bridges the gap.
 */
export async function tryChanges(setup: SimulationSetup, before: ScheduleFigures): Promise<readonly Tried[]> {
  const trials = new Trials(setup, before);
  const told: Tried[] = [];
  for (const one of await changesToTell(setup, trials)) told.push(await trials.toTheEnd(one));
  return told;
}

async function changesToTell(setup: SimulationSetup, trials: Trials): Promise<readonly Tried[]> {
  const { before } = trials;
  const timeout = longEnoughTimeout(setup, before);
  const byTimeout = timeout === undefined ? [] : [await trials.attempt(timeout)];
  if (byTimeout.some(bridges)) return byTimeout;
  const byLead = await bestLead(setup, trials);
  const budget = before.budgetRefusals > 0 ? await amplerBudget(setup) : undefined;
  const byBudget = budget === undefined ? [] : [await trials.attempt(budget)];
  const own = [...byTimeout, ...byLead, ...byBudget];
  if (own.some(bridges)) return own;
  const both = (await leadWithBudget(setup, trials)).filter(isBetter);
  const better = [...own, ...both.filter((pair) => bridges(pair) || own.every((one) => leavesLess(pair, one)))];
  if (better.some(bridges)) return better;
  return [...better, ...bestOf(await triedInTurn(lifetimesToTry(setup), trials)).filter(isBetter)];
}

/**
 * The first lead that bridges, and otherwise the best; beside that the longest, where somebody who goes on in that direction
 * would lose by it. Where none is better, the longest alone.
 */
async function bestLead(setup: SimulationSetup, trials: Trials): Promise<readonly Tried[]> {
  const tried = await triedInTurn(leadsToTry(setup, trials.before), trials);
  const found = bestOf(tried);
  if (found.some(bridges)) return found;
  const current = currentLeadShare(setup);
  const last = tried.filter(({ changes: [change] }) => change?.of === 'lead' && change.share > current).at(-1);
  const better = found.filter(isBetter);
  if (last === undefined || better.includes(last)) return better;
  const longest = await trials.toTheEnd(last);
  return better.length === 0 || longest.effect === 'lengthens' ? [...better, longest] : better;
}

export const isBetter = ({ effect }: Tried): boolean => effect === 'bridges' || effect === 'shortens';

/** Up to the first change that bridges; those that make another warning necessary are none to advise. */
async function triedInTurn(changes: readonly Change[], trials: Trials): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  for (const change of changes) {
    const result = await trials.attempt(change);
    if (trials.isNewlyShort(result)) continue;
    tried.push(result);
    if (bridges(result)) break;
  }
  return tried;
}

/** The one that bridges; otherwise the one that leaves the least, the later one of two that are alike. */
function bestOf(tried: readonly Tried[]): readonly Tried[] {
  const bridging = tried.find(bridges);
  if (bridging !== undefined) return [bridging];
  const [first, ...others] = [...tried].reverse();
  const lost = ({ lostMs }: Tried): number => lostMs;
  return first === undefined ? [] : [others.reduce((least, next) => (lost(next) < lost(least) ? next : least), first)];
}

/** Undefined where no call ended at the timeout, or no timeout that can be set is long enough. */
export function longEnoughTimeout(
  { behaviour }: Pick<SimulationSetup, 'behaviour'>,
  { failures }: Pick<ScheduleFigures, 'failures'>,
): Extract<Change, { readonly of: 'timeout' }> | undefined {
  const timeoutMs = Math.ceil((SLOWEST_CALL * behaviour.latencyMs) / 1_000) * 1_000;
  if ((failures['timeout'] ?? 0) === 0 || timeoutMs > MAX_TIMEOUT_MS) return undefined;
  return { of: 'timeout', timeoutMs };
}

/** Longer ones first, then shorter ones; where the schedule itself exceeds the budget, these alone: they need fewer calls. */
function leadsToTry(setup: SimulationSetup, before: ScheduleFigures): readonly Change[] {
  const current = currentLeadShare(setup);
  const isExceeded = tooSmallOf(before) !== undefined;
  const shares = leadSharesOf(setup).filter((share) => fitsBudget(setup, ofShare(share)));
  const longer = isExceeded ? [] : shares.filter((share) => share > current + 0.01);
  const shorter = shares.filter((share) => share < current - 0.01).reverse();
  const byShare = [...longer, ...shorter].map((share): Change => ({ of: 'lead', share }));
  return [...(isExceeded ? [] : leadsInQuietHours(setup)), ...byShare];
}

/** All that are longer than the margin: the renewer would cut it, and with it the time for a second attempt. */
function leadSharesOf(setup: SimulationSetup): readonly number[] {
  const lifeMs = believedLifeMs(setup);
  const marginShare = safetyMarginMs(setup.settings, lifeMs) / lifeMs;
  const leastShare = setup.settings.safetyMargin === undefined ? MIN_SHARE_WITHOUT_MARGIN : marginShare;
  return LEAD_SHARES.filter((share) => share > leastShare);
}

/**
 * As long as the outage and some, and longer, up to the length of the quiet hours: beyond that a renewal that cannot fail has to begin before
 * them, and the least share of a long session may be more than that.
 */
function leadsInQuietHours(setup: SimulationSetup): readonly Change[] {
  const { quietHours, renewEveryMs = Infinity } = setup.settings;
  if (quietHours === undefined) return [];
  const leastMs = Math.ceil(neededLeadMs(setup, 'margin') / LEAD_STEP_MS) * LEAD_STEP_MS;
  const lifeMs = believedLifeMs(setup);
  const { lengthMs } = new DailyWindow(quietHours);
  const mostMs = Math.min(lengthMs, MAX_LEAD_SHARE * lifeMs, renewEveryMs / 2);
  return [...new Set([leastMs, 2 * leastMs, lengthMs])]
    .filter((leadMs) => leadMs >= leastMs && leadMs <= mostMs && leadMs > currentLeadShare(setup) * lifeMs)
    .filter((durationMs) => fitsBudget(setup, { kind: 'duration', durationMs }))
    .map((leadMs) => ({ of: 'leadTime', leadMs }));
}

const ofShare = (share: number): LeadTime => ({ kind: 'share', share });

/** Whether any lead that is longer than the one that is set needs no more calls than are allowed. */
export function hasLongerLead(setup: SimulationSetup): boolean {
  return LEAD_SHARES.some((share) => share > currentLeadShare(setup) + 0.01 && fitsBudget(setup, ofShare(share)));
}

function fitsBudget(setup: SimulationSetup, renewBefore: LeadTime): boolean {
  return budgetShortfall(believedLifeMs(setup), { ...setup.settings, renewBefore }) === undefined;
}

/** The lead time that the run is played with, as a share of the lifetime. */
export function currentLeadShare(setup: SimulationSetup): number {
  return leadShareOf(believedLifeMs(setup), setup.settings);
}

/** What unbounded runs use, with other seeds or with some more for chance, and what the schedule needs in a window that is longer than the run. */
async function amplerBudget(setup: SimulationSetup): Promise<Extract<Change, { readonly of: 'budget' }> | undefined> {
  const { budget } = setup.settings;
  const unbounded = budget.map(({ perMs }) => ({ calls: MAX_CALLS, perMs }));
  const free: ScheduleFigures[] = [];
  for (const run of seedsOf(changed(setup, [{ of: 'budget', windows: unbounded }]))) free.push(await played(run));
  const windows = budget.map(({ calls, perMs }, index) => {
    const wanted = free
      .flatMap((figures) => figures.budget[index] ?? [])
      .flatMap((window) => [window.used + (failsByChance(setup) ? 0 : callsOfChance(window)), window.needed]);
    return { calls: Math.min(MAX_CALLS, Math.max(calls, ...wanted)), perMs };
  });
  return windows.some(({ calls }, index) => calls > (budget[index]?.calls ?? 0))
    ? { of: 'budget', windows }
    : undefined;
}

/** The longest lead with the calls that it needs, or with more of them where that leaves less. */
async function leadWithBudget(setup: SimulationSetup, trials: Trials): Promise<readonly Tried[]> {
  if (currentLeadShare(setup) >= MAX_LEAD_SHARE) return [];
  const lead: Change = { of: 'lead', share: MAX_LEAD_SHARE };
  const { windows } = (await amplerBudget(changed(setup, [lead]))) ?? { windows: setup.settings.budget };
  let best: Tried | undefined;
  for (const budget of amplerBudgets(windows, setup.settings.budget)) {
    const tried = await trials.attempt(lead, budget);
    if (trials.isNewlyShort(tried)) continue;
    if (best === undefined || bridges(tried) || leavesLess(tried, best)) best = tried;
    if (bridges(tried)) break;
  }
  return best === undefined ? [] : [best];
}

/** More calls only in the windows that make the pauses of an outage longer: in the others they would change nothing. */
function amplerBudgets(
  windows: CreateCallBudget,
  before: CreateCallBudget,
): readonly Extract<Change, { readonly of: 'budget' }>[] {
  const shortestPauseMs = longestOutagePauseMs([]);
  const times = (factor: number): CreateCallBudget =>
    windows.map((window) =>
      longestOutagePauseMs([window]) > shortestPauseMs
        ? { ...window, calls: Math.min(MAX_CALLS, factor * window.calls) }
        : window,
    );
  const budgets = AMPLER.map(times);
  return budgets
    .filter((budget, index) => raisedWindows(budget, budgets[index - 1] ?? before).length > 0)
    .map((budget) => ({ of: 'budget', windows: budget }));
}

/**
 * Whether nothing but an outage keeps sessions from coming, and the longest lead of the longest sessions that would be tried is shorter than
 * that: to play it all again would take minutes, and show what is known.
 */
export function isBeyondAnySetting(
  { settings, behaviour }: SimulationSetup,
  figures: Pick<ScheduleFigures, 'budget'>,
): boolean {
  const { outageMs, lifetimeMs } = behaviour;
  if (failsByChance({ settings, behaviour }) || tooSmallOf(figures) !== undefined) return false;
  const longestMs = Math.min(Math.max(...LIFETIMES) * lifetimeMs, Math.max(settings.longestLifetimeMs, lifetimeMs));
  return outageMs > MAX_LEAD_SHARE * longestMs;
}

/** Nothing beyond `session.longestLifetime` is believed. */
function lifetimesToTry({ settings, behaviour }: SimulationSetup): readonly Change[] {
  return LIFETIMES.map((times) => times * behaviour.lifetimeMs)
    .filter((lifetimeMs) => lifetimeMs <= settings.longestLifetimeMs)
    .map((lifetimeMs) => ({ of: 'lifetime', lifetimeMs }));
}

/** The least lead, without faults of the gateway, that fits two attempts, and needs no more calls than are allowed. */
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

/** The window that the schedule alone exceeds. */
export const tooSmallOf = ({
  budget,
}: Pick<ScheduleFigures, 'budget'>): ScheduleFigures['budget'][number] | undefined =>
  budget.find(({ needed, calls }) => needed > calls);

export const raisedWindows = (windows: CreateCallBudget, before: CreateCallBudget): readonly CreateCallWindow[] =>
  windows.filter(({ calls }, index) => calls > (before[index]?.calls ?? 0));
