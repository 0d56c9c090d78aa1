import { budgetShortfall, type CreateCallBudget, type CreateCallWindow, type SessionSettings } from '#libs/session';
import { figuresOf, type ScheduleFigures } from './figures.js';
import { simulate, type SimulationSetup } from './simulation.js';

/** A setting, or the lifetime that the bank decides, as another run has it. */
export type Change =
  | { readonly of: 'timeout'; readonly timeoutMs: number }
  | { readonly of: 'lead'; readonly share: number }
  | { readonly of: 'budget'; readonly windows: CreateCallBudget }
  | { readonly of: 'lifetime'; readonly lifetimeMs: number };

/** Of a change on the time without a session, or past the margin where there was always one. */
export type Effect = 'bridges' | 'shortens' | 'none';

/** One change, or two at once, in a run that is the same otherwise. */
export interface Tried {
  readonly changes: readonly Change[];
  readonly effect: Effect;
  readonly figures: ScheduleFigures;
}

/** What `gateway.timeout` and a window's `calls` can be at most. */
export const MAX_TIMEOUT_MS = 60_000;
export const MAX_CALLS = 1_000;
/** Renewal never starts before half of the lifetime has passed. */
export const MAX_LEAD_SHARE = 0.5;
const LEAD_SHARES = [0.05, 0.1, 0.2, 0.3, 0.4, MAX_LEAD_SHARE];
/** Times the one that was given. */
const LIFETIMES = [2, 4];
/** The renewer's own defaults. */
const DEFAULT_LEAD_SHARE = 0.2;
const DEFAULT_LEAD_TIMEOUTS = 2;
const MAX_DEFAULT_LEAD_TO_QUIET_MS = 300_000;
const DEFAULT_MARGIN_SHARE = 0.05;
/** A call takes at most so many times the average: see `GatewayBehaviour`. */
const SLOWEST_CALL = 1.5;
/** Less than a tenth is as likely chance. */
const NOTABLE_SHARE = 0.9;
const CUT_SHORT_AFTER_MS = 10_000;

export function changed(setup: SimulationSetup, changes: readonly Change[]): SimulationSetup {
  return changes.reduce((run, change) => withChange(run, change), setup);
}

function withChange(setup: SimulationSetup, change: Change): SimulationSetup {
  const { settings, behaviour } = setup;
  const set = (more: Partial<SessionSettings>): SimulationSetup => ({ ...setup, settings: { ...settings, ...more } });
  switch (change.of) {
    case 'timeout':
      return set({ gatewayTimeoutMs: change.timeoutMs });
    case 'lead':
      return set({ renewBefore: { kind: 'share', share: change.share } });
    case 'budget':
      return set({ budget: change.windows });
    case 'lifetime':
      return { ...setup, behaviour: { ...behaviour, lifetimeMs: change.lifetimeMs } };
  }
}

export function effectOf(before: ScheduleFigures, after: ScheduleFigures): Effect {
  const hadGap = before.withoutSessionMs > 0;
  if (!hadGap && after.withoutSessionMs > 0) return 'none';
  const lostMs = (figures: ScheduleFigures): number => (hadGap ? figures.withoutSessionMs : figures.pastMarginMs);
  if (lostMs(after) === 0) return 'bridges';
  return lostMs(after) <= NOTABLE_SHARE * lostMs(before) ? 'shortens' : 'none';
}

/**
 * Plays the run again, with the same seed, for each change that may help, and tells what it does: advice is then what
 * was seen. At most twenty runs. What the bank decides alone comes last, and only when nothing else bridges the gap.
 */
export async function tryChanges(setup: SimulationSetup, before: ScheduleFigures): Promise<readonly Tried[]> {
  const attempt = async (...changes: readonly Change[]): Promise<Tried> => {
    // With room for a tick or two: a run that is cut short has lost, and says so.
    const mostGapMs = before.withoutSessionMs + CUT_SHORT_AFTER_MS;
    const figures = await played({ ...changed(setup, changes), mostGapMs });
    return { changes, figures, effect: effectOf(before, figures) };
  };
  const timeout = longEnoughTimeout(setup, before);
  const byTimeout = timeout === undefined ? [] : [await attempt(timeout)];
  if (byTimeout.some(bridges)) return byTimeout;
  const byLead = await bestLead(leadsToTry(setup, before), attempt, before);
  const budget = before.budgetRefusals > 0 ? await amplerBudget(setup) : undefined;
  const byBudget = budget === undefined ? [] : [await attempt(budget)];
  const own = [...byTimeout, ...byLead, ...byBudget];
  if (own.some(bridges)) return own;
  const both = before.budgetRefusals > 0 || !hasLongerLead(setup) ? await leadWithBudget(setup, attempt, before) : [];
  const better = [...own, ...both.filter(({ effect }) => effect === 'bridges')];
  return better.some(bridges) ? better : [...better, ...(await best(lifetimesToTry(setup), attempt, before))];
}

const played = async (setup: SimulationSetup): Promise<ScheduleFigures> =>
  figuresOf(await simulate(setup), setup.durationMs, setup.settings);

export const bridges = ({ effect }: Tried): boolean => effect === 'bridges';

type Attempt = (...changes: readonly Change[]) => Promise<Tried>;

/** The least lead that bridges; otherwise the longest that was tried, for none is likelier to. */
async function bestLead(
  changes: readonly Change[],
  attempt: Attempt,
  before: ScheduleFigures,
): Promise<readonly Tried[]> {
  const most = changes.at(-1);
  if (most === undefined) return [];
  const longest = await attempt(most);
  const isHopeless = longest.effect === 'none' && longest.figures.budgetRefusals === 0;
  if (isNewlyShort(before, longest.figures) || isHopeless) return isHopeless ? [longest] : [];
  if (bridges(longest) && tooSmallOf(before) !== undefined) return [longest];
  const less = await best(changes.slice(0, -1), attempt, before);
  return less.some(bridges) ? less : [longest];
}

/** The first change that bridges; otherwise the one that leaves the least. */
async function best(changes: readonly Change[], attempt: Attempt, before: ScheduleFigures): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  for (const change of changes) {
    const result = await attempt(change);
    if (isNewlyShort(before, result.figures)) continue;
    if (bridges(result)) return [result];
    tried.push(result);
  }
  const left = ({ figures }: Tried): number => figures.withoutSessionMs;
  const [first, ...others] = tried.reverse();
  return first === undefined ? [] : [others.reduce((least, next) => (left(next) < left(least) ? next : least), first)];
}

/** A change that makes another warning necessary is none to advise. */
const isNewlyShort = (before: ScheduleFigures, after: ScheduleFigures): boolean =>
  before.leadTimeShort === undefined && after.leadTimeShort !== undefined;

/** Undefined where no call ended at the timeout, or no timeout that can be set is long enough. */
export function longEnoughTimeout(
  { behaviour }: Pick<SimulationSetup, 'behaviour'>,
  { failures }: Pick<ScheduleFigures, 'failures'>,
): Extract<Change, { readonly of: 'timeout' }> | undefined {
  const timeoutMs = Math.ceil((SLOWEST_CALL * behaviour.latencyMs) / 1_000) * 1_000;
  if ((failures['timeout'] ?? 0) === 0 || timeoutMs > MAX_TIMEOUT_MS) return undefined;
  return { of: 'timeout', timeoutMs };
}

/** Longer ones; where the schedule itself exceeds the budget, shorter ones, which need fewer calls. */
function leadsToTry(setup: SimulationSetup, before: ScheduleFigures): readonly Change[] {
  const current = leadShareOf(setup);
  const { safetyMargin } = setup.settings;
  const marginShare = safetyMargin?.kind === 'share' ? safetyMargin.share : DEFAULT_MARGIN_SHARE;
  const isExceeded = tooSmallOf(before) !== undefined;
  return LEAD_SHARES.filter((share) => share > marginShare && fitsBudget(setup, share))
    .filter((share) => (isExceeded ? share < current - 0.01 : share > current + 0.01))
    .map((share) => ({ of: 'lead', share }));
}

/** Whether any lead that is longer than the one that is set needs no more calls than are allowed. */
export function hasLongerLead(setup: SimulationSetup): boolean {
  return LEAD_SHARES.some((share) => share > leadShareOf(setup) + 0.01 && fitsBudget(setup, share));
}

function fitsBudget({ settings, behaviour }: SimulationSetup, share: number): boolean {
  const lifetimeMs = Math.min(behaviour.lifetimeMs, settings.longestLifetimeMs);
  return budgetShortfall(lifetimeMs, { ...settings, renewBefore: { kind: 'share', share } }) === undefined;
}

export function leadShareOf({ settings, behaviour }: SimulationSetup): number {
  const { renewBefore, quietHours, gatewayTimeoutMs, longestLifetimeMs } = settings;
  const lifetimeMs = Math.min(behaviour.lifetimeMs, longestLifetimeMs);
  if (renewBefore?.kind === 'share') return Math.min(MAX_LEAD_SHARE, renewBefore.share);
  const usualMs = DEFAULT_LEAD_SHARE * lifetimeMs;
  const wantedMs = quietHours === undefined ? usualMs : Math.min(usualMs, MAX_DEFAULT_LEAD_TO_QUIET_MS);
  const leadMs = renewBefore?.durationMs ?? Math.max(wantedMs, DEFAULT_LEAD_TIMEOUTS * gatewayTimeoutMs);
  return Math.min(MAX_LEAD_SHARE, leadMs / lifetimeMs);
}

/** What an unbounded run uses, and what the schedule needs in a window that is longer than the run. */
async function amplerBudget(setup: SimulationSetup): Promise<Change | undefined> {
  const { budget } = setup.settings;
  const unbounded = budget.map(({ perMs }) => ({ calls: MAX_CALLS, perMs }));
  const free = await played(changed(setup, [{ of: 'budget', windows: unbounded }]));
  const windows = budget.map(({ calls, perMs }, index) => {
    const { used = 0, needed = 0 } = free.budget[index] ?? {};
    return { calls: Math.min(MAX_CALLS, Math.max(calls, used, needed)), perMs };
  });
  return windows.some(({ calls }, index) => calls > (budget[index]?.calls ?? 0))
    ? { of: 'budget', windows }
    : undefined;
}

/** The longest lead and the calls that it needs. */
async function leadWithBudget(
  setup: SimulationSetup,
  attempt: Attempt,
  before: ScheduleFigures,
): Promise<readonly Tried[]> {
  if (leadShareOf(setup) >= MAX_LEAD_SHARE) return [];
  const lead: Change = { of: 'lead', share: MAX_LEAD_SHARE };
  const budget = await amplerBudget(changed(setup, [lead]));
  const tried = budget === undefined ? [] : [await attempt(lead, budget)];
  return tried.filter(({ figures }) => !isNewlyShort(before, figures));
}

/**
 * Whether nothing but an outage keeps sessions from coming, and the longest lead of the longest sessions that would be tried is shorter than
 * that: to play it all again would take minutes, and show what is known.
 */
export function isBeyondAnySetting(
  { settings, behaviour }: SimulationSetup,
  figures: Pick<ScheduleFigures, 'budget'>,
): boolean {
  const { outageMs, failureShare, latencyMs, lifetimeMs } = behaviour;
  const failsOtherwise = failureShare > 0 || SLOWEST_CALL * latencyMs > settings.gatewayTimeoutMs;
  if (failsOtherwise || tooSmallOf(figures) !== undefined) return false;
  return outageMs > MAX_LEAD_SHARE * Math.max(...LIFETIMES) * lifetimeMs;
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
  for (const share of LEAD_SHARES.filter((candidate) => candidate > leadShareOf(setup))) {
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
