import { formatDuration } from '#libs/clock';
import { callsOnSchedule, leadShares } from '#libs/session';
import { longEnoughTimeout, MAX_TIMEOUT_MS, tooSmallOf, withNoneToSpare } from './changes.js';
import { isHarmless, type ScheduleFigures, type WindowFigures } from './figures.js';
import { remedies } from './gap-advice.js';
import { areShorter, gapOf, gapOfOthers, isWaitedFor, type Judged, pastMarginOfOthers, worstOf } from './judged.js';
import { believedLifeMs } from './needed-lead.js';
import type { SimulationSetup } from './simulation.js';
import { optionsOf } from './situations.js';
import { inWindow, percent, WORTH_TELLING_MS } from './spans.js';
import { isBetter, type PlayedRun, type Tried } from './trials.js';
import { joined, partOfWhole, short, type Span, span, worded, type Wording } from './wording.js';

const WAITED_FOR =
  'a read with `Prefer: wait` and the client package wait for the next one, and any other read may get one 503';

export function warningsOf(judged: Judged): readonly Wording[] {
  const { notPlayed } = judged;
  return [...(notPlayed === undefined ? [] : [[notPlayed]]), ...scheduleWarningsOf(judged)];
}

function scheduleWarningsOf(judged: Judged): readonly Wording[] {
  const { figures } = judged;
  // Then nothing else is to blame: each other warning would only follow from it.
  if (figures.sessions === 0) return [[neverAnsweredWarning(judged)]];
  return [
    ...timeoutWarnings(judged),
    ...lifeWarnings(judged),
    ...leadWarnings(judged),
    ...tooSmallBudgetWarnings(judged),
    ...gapWarnings(judged),
    ...spentBudgetWarnings(judged),
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

function timeoutWarnings({ setup, figures }: Judged): readonly Wording[] {
  const { timeout = 0 } = figures.failures;
  if (timeout === 0) return [];
  const { latencyMs } = setup.behaviour;
  const limitMs = setup.settings.gatewayTimeoutMs;
  const cause =
    latencyMs > limitMs
      ? `the latency of ${formatDuration(latencyMs)} exceeds it`
      : `at a latency of ${formatDuration(latencyMs)} a call takes up to ${formatDuration(1.5 * latencyMs)}`;
  const calls = `${timeout} of ${figures.createCalls} create calls took longer than gateway.timeout`;
  return [[`${calls} (${formatDuration(limitMs)}): ${cause}; ${longerTimeout(setup)}`]];
}

function longerTimeout({ behaviour }: SimulationSetup): string {
  const longer = longEnoughTimeout({ behaviour }, { failures: { timeout: 1 } });
  const ask = 'ask the bank why its answers take so long';
  return longer === undefined
    ? `it can be ${formatDuration(MAX_TIMEOUT_MS)} at most, which is too short for some: ${ask}`
    : `raise gateway.timeout to ${formatDuration(longer.timeoutMs)}, or ${ask}`;
}

/** Where the broker believes less than the gateway says, or not its clock. */
function lifeWarnings({ setup, figures }: Judged): readonly Wording[] {
  const { behaviour, settings } = setup;
  const { lifetimeMs, skewMs = 0 } = behaviour;
  const { shortestLifeMs = lifetimeMs } = figures;
  const isShorter = lifetimeMs - shortestLifeMs >= WORTH_TELLING_MS;
  const isTooFarApart = Math.abs(skewMs) > settings.largestClockSkewMs;
  const believed = worded`sessions of ${formatDuration(lifetimeMs)} are taken to live for ${span(shortestLifeMs)}`;
  if (isTooFarApart) {
    const most = `the clocks are further apart than gateway.largestClockSkew (${formatDuration(settings.largestClockSkewMs)})`;
    return [
      isShorter
        ? worded`${believed}: ${most}; set the clocks right`
        : [`${most}: the gateway's is not believed, which cut no session short in this run; set the clocks right`],
    ];
  }
  return isShorter
    ? [worded`${believed}: session.longestLifetime is ${formatDuration(settings.longestLifetimeMs)}`]
    : [];
}

function leadWarnings(judged: Judged): readonly Wording[] {
  return [...cappedLeadWarnings(judged), ...shortLeadWarnings(judged)];
}

/** A share beyond the most is refused in the configuration; of a duration nobody knows before there is a lifetime. */
function cappedLeadWarnings({ setup }: Judged): readonly Wording[] {
  const { renewBefore } = setup.settings;
  const mostMs = leadShares.longest * believedLifeMs(setup);
  if (renewBefore?.kind !== 'duration' || renewBefore.durationMs <= mostMs) return [];
  return [
    worded`session.renewBefore is ${formatDuration(renewBefore.durationMs)}, more than half of the session's life: sessions are renewed ${span(mostMs)} before they end`,
  ];
}

function shortLeadWarnings({ figures, leadShare }: Judged): readonly Wording[] {
  const { leadTimeShort: short } = figures;
  if (short === undefined) return [];
  const remedy =
    leadShare === undefined
      ? 'no session.renewBefore that session.budget allows makes room for them; only longer sessions or a shorter gateway.timeout do'
      : `raise session.renewBefore to ${percent(leadShare)}`;
  return [worded`the lead time is ${span(short.leadMs)}, and two attempts take ${span(short.neededMs)}: ${remedy}`];
}

function tooSmallBudgetWarnings({ setup, figures }: Judged): readonly Wording[] {
  const tooSmall = tooSmallOf(figures);
  if (tooSmall !== undefined) return [tooSmallBudgetWarning(tooSmall, { setup, figures })];
  const bare = withNoneToSpare(figures);
  return bare === undefined
    ? []
    : [[`${noCallToSpare(bare, setup)}. A call that fails may cost a session. ${ofRenewEvery(bare, setup)}${ASK}`]];
}

/** Behind the gap, of which it is a part: what to do about that is told there. */
function spentBudgetWarnings(judged: Judged): readonly Wording[] {
  const { figures } = judged;
  // What nobody was harmed by is no warning: the figures say that renewals were held up, and how it ended.
  if ((tooSmallOf(figures) ?? withNoneToSpare(figures)) !== undefined || figures.budgetRefusals === 0) return [];
  if (isHarmless(figures) || isWaitedFor(judged)) return [];
  const spent = figures.budget
    .filter(({ used, calls }) => used >= calls)
    .map(({ needed, ...window }) => `${needed} of ${inWindow(window)}`);
  const needs = spent.length === 0 ? '' : `, which needs ${spent.join(', and ')}`;
  const purpose = isMeant(judged) ? ': that is what it is for' : '';
  return [[`the budget of create calls was spent, by failed calls and not by the schedule${needs}${purpose}`]];
}

/** Not for calls that end too early, nor for what it holds up itself. */
function isMeant({ figures, tried }: Judged): boolean {
  const isToBlame = (figures.afterOutage?.byBudgetMs ?? 0) > 0 || (figures.failures['timeout'] ?? 0) > 0;
  return tried !== undefined && !isToBlame && !tried.some(isBetterBudget);
}

const isBetterBudget = (one: Tried): boolean => isBetter(one) && one.changes.some((change) => change.of === 'budget');

const ASK = 'Ask the bank whether it expects so many before you allow them';

function tooSmallBudgetWarning(window: WindowFigures, { setup, figures }: Pick<Judged, 'setup' | 'figures'>): Wording {
  if (setup.durationMs >= window.perMs && isHarmless(figures)) {
    const cost = figures.budgetRefusals === 0 ? 'no renewal was held up' : 'no session ended before the next one came';
    const inThisRun = `In this run that cost nothing, for ${cost}; a call that fails may cost a session`;
    return [`${noCallToSpare(window, setup)}. ${inThisRun}. ${ofRenewEvery(window, setup)}${ASK}`];
  }
  const life = formatDuration(setup.behaviour.lifetimeMs);
  const when = figures.budgetRefusals > 0 ? 'was spent' : 'will not last';
  return [
    `the budget of create calls ${when}: renewing sessions of ${life} takes up to ${window.needed} calls in ` +
      `${formatDuration(window.perMs)}, and session.budget allows ${inWindow(window)}. ${ofRenewEvery(window, setup)}${ASK}`,
  ];
}

/** Where renewals come more often than the life of a session asks for. */
function ofRenewEvery({ needed, perMs }: WindowFigures, setup: SimulationSetup): string {
  const { renewEveryMs } = setup.settings;
  const without = callsOnSchedule(believedLifeMs(setup), { ...setup.settings, renewEveryMs: undefined }, perMs);
  if (renewEveryMs === undefined || without >= needed) return '';
  return `Without session.renewEvery (${formatDuration(renewEveryMs)}) it takes up to ${without}. `;
}

function noCallToSpare(window: WindowFigures, { behaviour }: SimulationSetup): string {
  const takes = `renewing sessions of ${formatDuration(behaviour.lifetimeMs)} takes up to ${window.needed} calls in ${formatDuration(window.perMs)}`;
  return `session.budget has no call to spare: ${takes}, and it allows ${inWindow(window)}`;
}

function gapWarnings(judged: Judged): readonly Wording[] {
  const { figures, notPlayed } = judged;
  const gap = short(gapOf(judged));
  // Of an outage that was not played whole, what would bridge it is not known.
  if (notPlayed !== undefined) return gap.mostMs > 0 ? [worded`there was no session for ${gap}`] : [];
  if (isWaitedFor(judged)) return [[waitedFor(judged)]];
  if (gap.mostMs > 0) {
    return [
      worded`there was no session for ${gap}${inOthers(judged, gapOfOthers)}${afterOutage(figures)}${remedies(judged)}`,
    ];
  }
  const worst = worstOf(judged);
  if (worst.figures.withoutSessionMs > 0) return [worseElsewhere(judged, worst)];
  return marginWarnings(judged, worst);
}

function waitedFor({ figures }: Judged): string {
  const times = figures.gaps > 1 ? `, ${figures.gaps} times` : '';
  const isAll = (tooSmallOf(figures) ?? withNoneToSpare(figures)) === undefined;
  return `there was no session for less than a second${times}: ${WAITED_FOR}${isAll ? ', and there is nothing to do' : ''}`;
}

function marginWarnings(judged: Judged, worst: PlayedRun): readonly Wording[] {
  const { figures } = judged;
  if (isHarmless(worst.figures)) return [];
  const advice = remedies(judged);
  if (figures.pastMarginMs > 0) {
    const inThisRun = worded`sessions were handed out past their margin for ${span(figures.pastMarginMs)}`;
    return [worded`${inThisRun}${inOthers(judged, pastMarginOfOthers)}${advice}`];
  }
  const where = worded`no session was handed out past its margin in this run, and in another one (${optionsIn(worst, judged)})`;
  return [worded`${where} some were for ${span(worst.figures.pastMarginMs)}${advice}`];
}

function inOthers(judged: Judged, spanIn: (others: readonly PlayedRun[]) => Span): Wording {
  const { others = [] } = judged;
  if (others.length === 0) return [];
  return worded` (${short(spanIn(others))} in ${others.length} other${areShorter(judged) ? ', shorter' : ''} runs${ofUpTo(judged)})`;
}

/** Without an outage a longer run loses more for its length alone. */
function ofUpTo({ setup, others = [] }: Judged): string {
  const mostMs = Math.max(...others.map((other) => other.setup.durationMs));
  return setup.behaviour.outageMs > 0 || mostMs <= setup.durationMs ? '' : ` of up to ${formatDuration(mostMs)}`;
}

const optionsIn = ({ setup }: PlayedRun, { alike }: Judged): string => optionsOf(setup, alike && setup.merchant);

function worseElsewhere(judged: Judged, worst: PlayedRun): Wording {
  const { figures } = worst;
  const gap = span(figures.withoutSessionMs);
  const options = optionsIn(worst, judged);
  return worded`there was always a session in this run, and in another one (${options}) there was none for ${gap}${afterOutage(figures)}${remedies(judged)}`;
}

function afterOutage({ afterOutage: after, withoutSessionMs }: ScheduleFigures): Wording {
  if (after === undefined || after.gapMs < WORTH_TELLING_MS) return [];
  const whole = partOfWhole(after.gapMs, withoutSessionMs);
  const reasons = [
    { ms: after.inPauseMs, text: 'in the pause after the last failed attempt, which `session-broker renew` ends' },
    { ms: after.byBudgetMs, text: 'because session.budget was spent' },
  ].filter(({ ms }) => ms >= WORTH_TELLING_MS);
  const told = worded`, ${typeof whole === 'string' ? whole : short(whole)} of it after the outage`;
  const [first, ...others] = reasons;
  if (first === undefined) return told;
  if (others.length === 0 && first.ms === after.gapMs) return worded`${told} ${first.text}`;
  const parts = reasons.map(({ ms, text }) => worded`${short(span(ms))} ${text}`);
  return worded`${told} (${joined(parts, ', and ')})`;
}
