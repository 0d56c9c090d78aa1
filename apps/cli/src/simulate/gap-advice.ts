import { formatDuration } from '#libs/clock';
import { type CreateCallBudget, type CreateCallWindow, leadShareOf, leadShares } from '#libs/session';
import { MAX_CALLS, raisedWindows } from './budgets.js';
import { failsByChance } from './chance.js';
import { type Change, changed, type ChangeKind, isOfLead, kindOf } from './change.js';
import { hasLongerLead, isBeyondAnySetting, isCutByLongest, longestTriedMs } from './changes.js';
import type { ScheduleFigures, WindowFigures } from './figures.js';
import type { Judged } from './judged.js';
import { MAX_RENEWALS_TO_REPEAT } from './limits-of-a-run.js';
import { believedLifeMs, currentLeadShare } from './needed-lead.js';
import type { SimulationSetup } from './simulation.js';
import { tooSmallOf, withNoneToSpare } from './spare-calls.js';
import { callsADay, inWindow, leftForFailures, percent } from './spans.js';
import { bridges, type CalmRun, isBetter, shortensLongest, type Tried } from './trials.js';
import { atLeast, joined, type Span, span, worded, type Wording } from './wording.js';

/** Begins an alternative below the warning; what belongs to it is indented further. */
const LINE = '\n  ';
const DEEPER_LINE = '\n    ';
const DAY_MS = 86_400_000;
const UNITS_MS = [DAY_MS, 3_600_000, 60_000];

/**
 * What the tried changes do about a gap, as the rest of the warning: a line each, starting with what bridges it, and
 * ending with what only the bank decides.
 */
export function remedies(judged: Judged): Wording {
  const { setup, figures, tried, isOneOfMany = false } = judged;
  if (isBeyondAnySetting(setup, figures))
    return [`. No setting bridges an outage that is longer than ${longestTried(setup)}`];
  if (tried === undefined)
    return [`. ${isOneOfMany ? 'Name one with --merchant' : shorterRun(setup)} to see what bridges it`];
  const advised = tried.filter(isAdvised).sort(byUse);
  const told = [
    ...advised.map((one) => worded`${advised.length > 1 ? '- ' : ''}${resultOf(one, judged)}`),
    ...tried.filter((one) => !isAdvised(one)).map((one) => warnedOf(one, judged)),
    ...hopeless(judged).map((text) => [text]),
  ];
  const { outdone, untold } = others(judged, advised);
  if (told.length === 0)
    return [`. No setting was found to bridge it${untold && `, in the few values that were tried of: ${untold}`}`];
  const last = [
    ...(outdone === '' ? [] : [[`bridged it too, with more calls that the bank has to allow: ${outdone}`]]),
    ...(untold === '' ? [] : [[`no better, in the few values that were tried: ${untold}`]]),
  ];
  return worded`. ${introOf(advised)}${LINE}${joined([...told, ...last], LINE)}`;
}

function introOf(advised: readonly Tried[]): string {
  if (advised.length === 0) return 'What was tried:';
  return advised.length > 1 ? 'Any one of these helps:' : 'What helps:';
}

/** The kinds of which nothing is advised. What is a part of something advised is named as that kind alone. */
function others({ inVain = [], outdone = [], setup }: Judged, advised: readonly Tried[]): Record<Untold, string> {
  const changes = advised.flatMap((one) => one.changes);
  const isPart: Partial<Record<ChangeKind, boolean>> = {
    lead: changes.some(isOfLead),
    budget: changes.some((change) => change.of === 'budget' && raisesAny(change, setup)),
  };
  const named = (kinds: readonly ChangeKind[]): string =>
    kinds.map((kind) => `${KINDS[kind]}${isPart[kind] === true ? ' alone' : ''}`).join(', ');
  return { outdone: named(outdone), untold: named(inVain) };
}

type Untold = 'outdone' | 'untold';

const isAdvised = (one: Tried): boolean => isBetter(one) || shortensLongest(one);

/** What was tried of each kind, in a few words. */
const KINDS: Readonly<Record<ChangeKind, string>> = {
  timeout: 'a longer gateway.timeout',
  lead: 'another session.renewBefore',
  budget: 'a larger session.budget',
  leadWithBudget: 'another session.renewBefore with a larger session.budget',
  pace: 'fewer calls at once (session.budget)',
  lifetime: 'longer sessions',
};

function shorterRun({ behaviour: { lifetimeMs } }: SimulationSetup): string {
  const mostMs = MAX_RENEWALS_TO_REPEAT * lifetimeMs;
  const unitMs = UNITS_MS.find((eachMs) => eachMs <= mostMs) ?? mostMs;
  return `Give --for ${formatDuration(Math.floor(mostMs / unitMs) * unitMs)} at most`;
}

const byUse = (one: Tried, other: Tried): number => rankOf(one) - rankOf(other) || byWhatIsLeft(one, other);

/**
 * Of those that shorten the gap, the one that leaves the least comes first; those that bridge it stay in the order in
 * which they were tried.
 */
const byWhatIsLeft = (one: Tried, other: Tried): number => (isBetter(one) ? one.lostMs - other.lostMs : 0);

function rankOf(one: Tried): number {
  if (one.changes.some(({ of }) => of === 'lifetime')) return 3;
  if (!bridges(one)) return 2;
  return one.isSure ? 0 : 1;
}

/** What was not tried, and why. */
function hopeless(judged: Judged): readonly string[] {
  const { setup, tried = [] } = judged;
  const isUntried = isCutByLongest(setup) && !tried.some(bridges);
  return [
    ...hopelessLeads(judged),
    ...(isUntried
      ? [
          `longer sessions would need a session.longestLifetime of more than ${formatDuration(setup.settings.longestLifetimeMs)}`,
        ]
      : []),
  ];
}

function hopelessLeads(judged: Judged): readonly string[] {
  const { setup, figures } = judged;
  if (isBeyondEveryLead(judged)) return ['no lead time bridges a budget that the schedule exceeds'];
  const isLongest = tooSmallOf(figures) !== undefined || currentLeadShare(setup) >= leadShares.longest;
  if (isLongest || hasLongerLead(setup)) return [];
  return ['a longer session.renewBefore needs more calls than session.budget allows'];
}

/** Even sessions that are renewed only when they end take more calls than the budget allows. */
const isBeyondEveryLead = ({ setup, figures }: Judged): boolean =>
  figures.budgetRefusals > 0 && figures.budget.some(({ calls, perMs }) => perMs / setup.behaviour.lifetimeMs > calls);

function resultOf(one: Tried, judged: Judged): Wording {
  const isWorthIt = isBetter(one);
  const limits = isWorthIt
    ? `${costOfLead(one, judged)}${beyondTheRun(one, judged)}${noneToSpare(one, judged)}${tightlyUsed(one, judged)}`
    : '';
  const caution = isWorthIt ? cautionOf(one, judged) : '';
  return worded`${namesOf(one, judged)} ${effectText(one, judged)}${limits}${caution}${isWorthIt ? linesToPaste(one) : ''}`;
}

const namesOf = ({ changes }: Tried, { setup }: Judged): string =>
  changes.map((change) => nameOf(change, setup)).join(' with ');

/**
 * For a longer lead time with nothing else changed, if going further in that direction loses by it or gains nothing.
 */
function warnedOf(one: Tried, judged: Judged): Wording {
  const isWorse = one.effect === 'lengthens' || one.effect === 'may_lengthen';
  return worded`${isWorse ? 'careful: ' : ''}${namesOf(one, judged)} alone ${effectText(one, judged)}`;
}

function cautionOf({ changes, isSure }: Tried, { setup }: Judged): string {
  const isByChance = failsByChance(setup);
  const room = isByChance ? ', and leave room: where calls fail by chance, some days take more' : '';
  if (changes.some((change) => change.of === 'budget' && raisesAny(change, setup)))
    return ` (ask the bank whether it allows so many${room})`;
  if (kindOf(changes) === 'pace') return ` (fewer at once leave more for later${slowerAfter(changes, setup)})`;
  if (!isByChance || isSure) return '';
  return ' (calls fail by chance: a rare run may lose more, so play further ones with --seed)';
}

/** What was played fits into the windows thanks to its length: another outage may end in the middle of one. */
function slowerAfter(changes: readonly Change[], { settings }: SimulationSetup): string {
  const windows = changes.flatMap((change) => (change.of === 'budget' ? change.windows : []));
  const paced = windows.find(({ calls, perMs }) =>
    settings.budget.every((set) => set.perMs !== perMs || set.calls > calls),
  );
  if (paced === undefined) return '';
  const isSingle = paced.calls === 1;
  const next = `the next call may wait for ${formatDuration(paced.perMs)}`;
  return isSingle ? `; ${next}, also if a session is reported dead` : `; after a longer outage ${next}`;
}

function longestTried(setup: SimulationSetup): string {
  const longestMs = longestTriedMs(setup);
  return `${longestMs > setup.behaviour.lifetimeMs ? 'even ' : ''}sessions of ${formatDuration(longestMs)}`;
}

const raisesAny = ({ windows }: Extract<Change, { readonly of: 'budget' }>, { settings }: SimulationSetup): boolean =>
  raisedWindows(windows, settings.budget).length > 0;

function noneToSpare({ own, changes }: Tried, { setup }: Judged): string {
  const bare = withNoneToSpare(own, changed(setup, changes));
  return bare === undefined ? '' : `, which leaves no call to spare of ${inWindow(bare)}`;
}

/** What held in these runs but, by chance, may not hold in the next one. */
function tightlyUsed(one: Tried, judged: Judged): string {
  if (!bridges(one) || one.isSure || noneToSpare(one, judged) !== '') return '';
  return one.tight.map(({ used, ...window }) => `, and took up to ${used} of ${inWindow(window)}`).join('');
}

/** Lists all windows, even unchanged ones, because the list replaces the whole setting. */
function linesToPaste({ changes }: Tried): string {
  const budgets = changes.flatMap((change) => (change.of === 'budget' ? [change.windows] : []));
  return budgets
    .map((windows) =>
      windows.map(({ calls, perMs }) => `{ calls: ${calls}, per: ${formatDuration(perMs)} }`).join(', '),
    )
    .map((windows) => `${DEEPER_LINE}budget: [${windows}] # the whole of session.budget`)
    .join('');
}

function effectText(one: Tried, judged: Judged): Wording {
  const { figures } = judged;
  const inRuns = `the ${one.runs} runs that were tried${ofMerchants(one, judged)}`;
  const lost: Span = { leastMs: one.leastLostMs, mostMs: one.lostMs };
  switch (one.effect) {
    case 'bridges':
      // With chance involved, nobody can claim more than what was seen.
      return one.isSure
        ? worded`would bridge it${one.runs > 1 ? leftBy(one, ` in ${inRuns}`) : ''}`
        : worded`bridged it in all of ${inRuns}${leftBy(one)}`;
    case 'shortens':
      return one.runs > 1
        ? worded`shortened it to ${lost} in ${inRuns}${shorterWithout(one)}`
        : worded`would shorten it to ${lost}`;
    case 'lengthens':
      return worded`would make it longer: ${lost}${becauseOfBudget(one, figures)}`;
    case 'may_lengthen':
      return worded`may make it longer, up to ${span(one.lostMs)}${becauseOfBudget(one, figures)}`;
    case 'mixed':
      if (shortensLongest(one)) return worded`left ${lost} in ${inRuns}${shorterWithout(one)}`;
      return [`would not help${becauseOfBudget(one, figures)}`];
    case 'none':
      return [`would not help${becauseOfBudget(one, figures)}`];
  }
}

/** What is left tells a narrow escape from one with room. */
const leftBy = ({ leastLeftMs }: Tried, where = ''): Wording =>
  leastLeftMs === undefined ? [] : worded`, leaving at least ${atLeast(leastLeftMs)}${where}`;

/** For merchants alike, a change that does not bridge the gap is not played for all of them. */
function ofMerchants({ merchants }: Tried, { alike }: Judged): string {
  if (alike === undefined) return '';
  return `, of ${merchants < alike.length ? `${merchants} of the` : 'all'} ${alike.length} merchants`;
}

const shorterWithout = ({ longerRuns }: Tried): string =>
  longerRuns === 0 ? '' : `, ${longerRuns} of which ${longerRuns === 1 ? 'was' : 'were'} shorter without it`;

/** A longer lead renews more often, which leaves fewer calls for those that fail. */
function becauseOfBudget({ figures, changes }: Tried, before: ScheduleFigures): string {
  if (figures.sessions === 0 || figures.budgetRefusals === 0 || changes.some(({ of }) => of === 'budget')) return '';
  const [first, ...others] = figures.budget.filter(({ used, calls }) => used >= calls);
  if (first === undefined) return '';
  const shareOf = ({ needed, calls }: WindowFigures): number => needed / calls;
  const tightest = others.reduce((most, next) => (shareOf(next) > shareOf(most) ? next : most), first);
  const isAsBefore = before.budget.some(({ perMs, needed }) => perMs === tightest.perMs && needed === tightest.needed);
  return `, because session.budget is spent then${isAsBefore ? ', too' : `: the schedule needs ${leftForFailures(tightest)}`}`;
}

/** What a longer lead time costs when all goes well: both are counted without faults, which cost calls of their own. */
function costOfLead({ changes, calm }: Tried, { setup }: Judged): string {
  if (!changes.some(isOfLead)) return '';
  if (calm !== undefined) {
    const more = (of: keyof CalmRun, what: string): readonly string[] =>
      calm.is[of] > calm.was[of] ? [`${calm.is[of]} ${what} in place of ${calm.was[of]}`] : [];
    const costs = [
      ...more('createCalls', 'create calls'),
      ...more('outsideQuietHours', 'renewals outside of the quiet hours'),
    ];
    return costs.length === 0
      ? ''
      : `, with ${costs.join(' and ')} in ${formatDuration(setup.durationMs)} without faults`;
  }
  const [now, then] = [setup, changed(setup, changes)].map(calmCallsADay);
  if (now === undefined || then === undefined) return '';
  const [was, is] = [now, then].map(callsADay);
  return then <= now || is === was ? '' : `, with about ${is} create calls on a day without faults in place of ${was}`;
}

/** Undefined if something other than the lead time decides it. */
function calmCallsADay({ settings, behaviour }: SimulationSetup): number | undefined {
  if (settings.quietHours !== undefined || settings.renewEveryMs !== undefined) return undefined;
  const lifeMs = believedLifeMs({ settings, behaviour });
  return DAY_MS / (lifeMs * (1 - leadShareOf(lifeMs, settings)));
}

/** For a window that is longer than the run: what the schedule needs in the whole of it was not seen, but is known. */
function beyondTheRun({ own }: Tried, { setup: { durationMs } }: Judged): string {
  const refuting = own.budget.find(({ perMs, needed, calls }) => perMs > durationMs && needed > calls);
  if (refuting === undefined) return '';
  const { needed, perMs } = refuting;
  return `, for these ${formatDuration(durationMs)} only: a whole ${formatDuration(perMs)} takes ${needed} calls`;
}

function nameOf(change: Change, setup: SimulationSetup): string {
  switch (change.of) {
    case 'timeout':
      return `a gateway.timeout of ${formatDuration(change.timeoutMs)}`;
    case 'lead':
      return `a session.renewBefore of ${percent(change.share)}`;
    case 'leadTime':
      return `a session.renewBefore of ${formatDuration(change.leadMs)}`;
    case 'budget':
      return newCalls(change.windows, setup.settings.budget);
    case 'lifetime':
      return `sessions of ${formatDuration(change.lifetimeMs)} from the bank${ofLongest(setup, change.lifetimeMs)}`;
  }
}

const ofLongest = (setup: SimulationSetup, lifetimeMs: number): string =>
  isCutByLongest(setup, lifetimeMs) ? ', the most that session.longestLifetime believes,' : '';

/** Names each window that differs from before. */
function newCalls(windows: CreateCallBudget, before: CreateCallBudget): string {
  const others = before.flatMap(({ calls: was }, index) => {
    const window = windows[index];
    if (window === undefined || was === window.calls) return [];
    return [`${callsIn(window)}${was > window.calls ? ` in place of ${was}` : ''}`];
  });
  const added = windows.slice(before.length).map((window) => `a new window of ${callsIn(window)}`);
  return others.length > 0
    ? `a session.budget of ${[...others, ...added].join(' and ')}`
    : `${added.join(' and ')} in session.budget`;
}

const callsIn = (window: CreateCallWindow): string =>
  `${inWindow(window)}${window.calls === MAX_CALLS ? ', the most that can be set,' : ''}`;
