import { formatDuration } from '#libs/clock';
import { type CreateCallWindow, MAX_LEAD_SHARE } from '#libs/session';
import type { Change } from './change.js';
import {
  currentLeadShare,
  hasLongerLead,
  isBeyondAnySetting,
  longEnoughTimeout,
  MAX_CALLS,
  MAX_TIMEOUT_MS,
  raisedWindows,
  tooSmallOf,
} from './changes.js';
import type { ScheduleFigures } from './figures.js';
import type { SimulationSetup } from './simulation.js';
import { inWindow, partOf, seconds } from './spans.js';
import { bridges, failsByChance, type Tried } from './trials.js';

/** A run, and what was found out about it. */
export interface Judged {
  readonly setup: SimulationSetup;
  readonly figures: ScheduleFigures;
  readonly notPlayed?: string;
  /** Absent: nothing was tried, for nothing was wrong or the run is too long. */
  readonly tried?: readonly Tried[];
  /** The least `renewBefore` that fits two attempts; absent: none does, or it was not sought. */
  readonly leadShare?: number;
}

const WORTH_TELLING_MS = 5_000;

export function warningTextsOf(judged: Judged): readonly string[] {
  const { notPlayed } = judged;
  return [...(notPlayed === undefined ? [] : [notPlayed]), ...scheduleWarningsOf(judged)];
}

function scheduleWarningsOf(judged: Judged): readonly string[] {
  const { figures } = judged;
  // Then nothing else is to blame: each other warning would only follow from it.
  if (figures.sessions === 0) return [neverAnsweredWarning(judged)];
  return [
    ...timeoutWarnings(judged),
    ...lifeWarnings(judged),
    ...leadWarnings(judged),
    ...budgetWarnings(judged),
    ...gapWarnings(judged),
  ];
}

function neverAnsweredWarning({ setup, figures }: Judged): string {
  const { failureShare } = setup.behaviour;
  if (failureShare === 1) return 'every create call failed; no setting helps';
  const { timeout = 0, ...others } = figures.failures;
  if (timeout > 0 && Object.keys(others).length === 0) {
    const limit = formatDuration(setup.settings.gatewayTimeoutMs);
    return `every create call took longer than gateway.timeout (${limit}), and no lead time helps: ${longerTimeout(setup)}`;
  }
  return `every create call of these ${figures.createCalls} failed by chance: give another --seed or a longer --for`;
}

function timeoutWarnings({ setup, figures }: Judged): readonly string[] {
  const { timeout = 0 } = figures.failures;
  if (timeout === 0) return [];
  const { latencyMs } = setup.behaviour;
  const limitMs = setup.settings.gatewayTimeoutMs;
  const cause =
    latencyMs > limitMs
      ? `the latency of ${formatDuration(latencyMs)} exceeds it`
      : `at a latency of ${formatDuration(latencyMs)} a call takes up to ${formatDuration(1.5 * latencyMs)}`;
  const calls = `${timeout} of ${figures.createCalls} create calls took longer than gateway.timeout`;
  return [`${calls} (${formatDuration(limitMs)}): ${cause}; ${longerTimeout(setup)}`];
}

function longerTimeout({ behaviour }: SimulationSetup): string {
  const longer = longEnoughTimeout({ behaviour }, { failures: { timeout: 1 } });
  const ask = 'ask the bank why its answers take so long';
  return longer === undefined
    ? `it can be ${formatDuration(MAX_TIMEOUT_MS)} at most, which is too short for some: ${ask}`
    : `raise gateway.timeout to ${formatDuration(longer.timeoutMs)}, or ${ask}`;
}

/** Where the broker believes less than the gateway says. */
function lifeWarnings({ setup, figures }: Judged): readonly string[] {
  const { behaviour, settings } = setup;
  const { lifetimeMs, skewMs = 0 } = behaviour;
  const { shortestLifeMs = lifetimeMs } = figures;
  if (lifetimeMs - shortestLifeMs < WORTH_TELLING_MS) return [];
  const believed = `sessions of ${formatDuration(lifetimeMs)} are taken to live for ${seconds(shortestLifeMs)}`;
  const most = formatDuration(settings.largestClockSkewMs);
  return Math.abs(skewMs) > settings.largestClockSkewMs
    ? [`${believed}: the clocks are further apart than gateway.largestClockSkew (${most}); set the clocks right`]
    : [`${believed}: session.longestLifetime is ${formatDuration(settings.longestLifetimeMs)}`];
}

function leadWarnings({ figures, leadShare }: Judged): readonly string[] {
  const { leadTimeShort: short } = figures;
  if (short === undefined) return [];
  const remedy =
    leadShare === undefined
      ? 'no session.renewBefore that session.budget allows makes room for them; only longer sessions or a shorter gateway.timeout do'
      : `raise session.renewBefore to ${percent(leadShare)}`;
  return [`the lead time is ${seconds(short.leadMs)}, and two attempts take ${seconds(short.neededMs)}: ${remedy}`];
}

function budgetWarnings(judged: Judged): readonly string[] {
  const { setup, figures } = judged;
  const tooSmall = tooSmallOf(figures);
  if (tooSmall !== undefined) {
    const when = figures.budgetRefusals > 0 ? 'was spent' : 'will not last';
    const life = formatDuration(setup.behaviour.lifetimeMs);
    return [
      `the budget of create calls ${when}: renewing sessions of ${life} takes ${tooSmall.needed} calls ` +
        `in ${formatDuration(tooSmall.perMs)}, and session.budget allows ${inWindow(tooSmall)}. Ask the bank whether it ` +
        'expects so many before you allow them',
    ];
  }
  if (figures.budgetRefusals === 0) return [];
  const spent = figures.budget.filter(({ used, calls }) => used >= calls);
  const shares = spent.map(
    (window) =>
      `${window.needed} of ${inWindow(window)}, which leaves ${window.calls - window.needed} for calls that fail`,
  );
  const needs = shares.length === 0 ? '' : `: the schedule needs ${shares.join(', and ')}`;
  return [`the budget of create calls was spent, by failed calls and not by the schedule${needs}${afterwards(judged)}`];
}

/** Where the gap is told, the larger budget is told with it. */
const afterwards = ({ figures }: Judged): string =>
  figures.withoutSessionMs === 0 && figures.pastMarginMs === 0 ? '. No session ended before the next one came' : '';

function gapWarnings(judged: Judged): readonly string[] {
  const { withoutSessionMs, pastMarginMs } = judged.figures;
  if (withoutSessionMs > 0) {
    return [`there was no session for ${seconds(withoutSessionMs)}${afterOutage(judged)}: ${remedies(judged)}`];
  }
  if (pastMarginMs === 0) return [];
  return [`sessions were handed out past their margin for ${seconds(pastMarginMs)}: ${remedies(judged)}`];
}

function afterOutage({ figures: { afterOutage: after, withoutSessionMs } }: Judged): string {
  if (after === undefined || after.gapMs < WORTH_TELLING_MS) return '';
  const cause =
    after.by === 'budget'
      ? 'because session.budget was spent'
      : 'in the pause after the last failed attempt, which `session-broker renew` ends';
  return `, ${partOf(after.gapMs, withoutSessionMs)} of it after the outage ${cause}`;
}

function remedies({ setup, figures, tried }: Judged): string {
  if (isBeyondAnySetting(setup, figures))
    return `no setting bridges an outage so much longer than sessions of ${lifeOf(setup)}`;
  if (tried === undefined) return 'play a shorter run, of this --merchant alone, to see what bridges it';
  const results = tried.map((one) => resultOf(one, { setup, figures }));
  const told = [...hopelessLeads({ setup, figures }), ...results];
  return told.length === 0 ? 'no setting was found to bridge it' : told.join('; ');
}

const lifeOf = ({ behaviour }: SimulationSetup): string => formatDuration(behaviour.lifetimeMs);

function hopelessLeads(judged: Judged): readonly string[] {
  const { setup, figures } = judged;
  if (isBeyondEveryLead(judged)) return ['no lead time bridges a budget that the schedule exceeds'];
  const isLongest = tooSmallOf(figures) !== undefined || currentLeadShare(setup) >= MAX_LEAD_SHARE;
  if (isLongest || hasLongerLead(setup)) return [];
  return ['a longer session.renewBefore needs more calls than session.budget allows'];
}

/** Even sessions that are renewed only when they end take more calls. */
const isBeyondEveryLead = ({ setup, figures }: Judged): boolean =>
  figures.budgetRefusals > 0 && figures.budget.some(({ calls, perMs }) => perMs / setup.behaviour.lifetimeMs > calls);

function resultOf(one: Tried, judged: Judged): string {
  const names = one.changes.map((change) => nameOf(change, judged.setup)).join(' with ');
  const isOfBudget = one.changes.some((change) => change.of === 'budget');
  const isBetter = one.effect === 'bridges' || one.effect === 'shortens';
  const ask = isOfBudget && isBetter ? ' (ask the bank whether it allows so many)' : '';
  return `${names} ${effectText(one, judged)}${isBetter ? `${outsideQuietHours(one, judged)}${beyondTheRun(one, judged)}` : ''}${ask}`;
}

function effectText(one: Tried, { setup, figures }: Judged): string {
  const withSeed = failsByChance(setup) ? ' with this seed' : '';
  switch (one.effect) {
    case 'bridges':
      if (bridges(one)) return `would bridge it${one.lostElsewhereMs === undefined ? withSeed : ''}`;
      return bridgesHereOnly(one, withSeed);
    case 'shortens':
      return `would shorten it to ${seconds(one.lostMs)}${withSeed}`;
    case 'lengthens':
      return figures.withoutSessionMs > 0 ? 'would make it longer' : 'would make it worse';
    case 'none':
      return 'would not help';
  }
}

function bridgesHereOnly({ isForThisStart = false, lostElsewhereMs = 0 }: Tried, withSeed: string): string {
  if (isForThisStart) return 'would bridge this outage, and not for certain one that begins with another renewal';
  const left = seconds(lostElsewhereMs);
  return withSeed === ''
    ? `would bridge this outage, and leave ${left} of one that begins with another renewal`
    : `would bridge it${withSeed}, and leave ${left} with another`;
}

/** What a lead time costs that begins before the quiet hours do. */
function outsideQuietHours({ figures: { outsideQuietHours: isOutside = 0 } }: Tried, { figures }: Judged): string {
  const { outsideQuietHours: wasOutside = 0 } = figures;
  if (isOutside <= wasOutside) return '';
  return `, with ${isOutside} renewals outside of the quiet hours in place of ${wasOutside}`;
}

/** A window that the run is too short for: what the schedule needs in the whole of it was not seen, but is known. */
function beyondTheRun({ figures }: Tried, { setup: { durationMs } }: Judged): string {
  const refuting = figures.budget.find(({ perMs, needed, calls }) => perMs > durationMs && needed > calls);
  if (refuting === undefined) return '';
  const { needed, perMs } = refuting;
  return `, for these ${formatDuration(durationMs)} only: a whole ${formatDuration(perMs)} takes ${needed} calls`;
}

function nameOf(change: Change, { settings }: SimulationSetup): string {
  switch (change.of) {
    case 'timeout':
      return `a gateway.timeout of ${formatDuration(change.timeoutMs)}`;
    case 'lead':
      return `a session.renewBefore of ${percent(change.share)}`;
    case 'leadTime':
      return `a session.renewBefore of ${formatDuration(change.leadMs)}`;
    case 'budget':
      return `a session.budget of ${raisedWindows(change.windows, settings.budget).map(callsIn).join(' and ')}`;
    case 'lifetime':
      return `sessions of ${formatDuration(change.lifetimeMs)} from the bank`;
  }
}

const callsIn = (window: CreateCallWindow): string =>
  `${inWindow(window)}${window.calls === MAX_CALLS ? ', the most that can be set,' : ''}`;

const percent = (share: number): string => `${Math.round(share * 100)}%`;
