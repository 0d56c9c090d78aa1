import { formatDuration } from '#libs/clock';
import { leadShares } from '#libs/session';
import { tooSmallBudgetWarnings } from './budget-warnings.js';
import { longEnoughTimeout, MAX_TIMEOUT_MS } from './changes.js';
import { isHarmless, type ScheduleFigures } from './figures.js';
import type { GapAfterOutage } from './gaps.js';
import { remedies } from './gap-advice.js';
import {
  areShorter,
  gapOfOthers,
  isWaitedFor,
  type Judged,
  type Member,
  membersOf,
  pastMarginOfOthers,
  spanOf,
  worstOf,
} from './judged.js';
import { believedLifeMs } from './needed-lead.js';
import { impossibleQuietHours } from './quiet-hours-warning.js';
import type { SimulationSetup } from './simulation.js';
import { optionsOf } from './situations.js';
import { tooSmallOf, withNoneToSpare } from './spare-calls.js';
import { partOf, percent, roundedUp, WORTH_TELLING_MS } from './spans.js';
import type { PlayedRun } from './trials.js';
import { joined, short, type Span, span, worded, type Wording } from './wording.js';

const WAITED_FOR =
  'a read with `Prefer: wait` and the client package wait for the next one, and any other read may get one 503';

/** What is wrong, and for whom: it holds for each of these merchants. */
export interface Warning {
  readonly wording: Wording;
  readonly merchants: readonly string[];
}

export function warningsOf(judged: Judged): readonly Warning[] {
  const members = membersOf(judged);
  const isServed = ({ figures }: Member): boolean => figures.sessions > 0;
  const served = members.filter(isServed);
  const cutShort = served.filter(({ figures }) => timeoutsIn(figures) > 0);
  return [
    ...members.flatMap((one) => ofAll([one], one.notPlayed === undefined ? [] : [one.notPlayed])),
    // If there never was a session, nothing else is to blame: every other warning would only follow from it.
    ...neverAnsweredWarnings(members.filter((one) => !isServed(one))),
    ...timeoutWarnings(cutShort),
    ...served.flatMap((one) => [
      ...ofAll([one], ...fewRenewalsWarnings(one)),
      ...ofAll([one], ...lifeWarnings(one)),
      ...ofAll([one], ...cappedLeadWarnings(one)),
      ...ofAll([one], ...shortLeadWarnings(one, judged)),
      ...ofAll([one], ...tooSmallBudgetWarnings(one)),
    ]),
    ...ofAll(served, impossibleQuietHours(served)),
    ...(isServed(judged) ? gapWarnings(judged, served) : []),
  ];
}

const ofAll = (members: readonly Member[], ...wordings: readonly Wording[]): readonly Warning[] =>
  wordings
    .filter((wording) => members.length > 0 && wording.length > 0)
    .map((wording) => ({ wording, merchants: members.map(({ setup }) => setup.merchant) }));

const sumIn = (members: readonly Member[], of: (figures: ScheduleFigures) => number): number =>
  members.reduce((sum, { figures }) => sum + of(figures), 0);

const timeoutsIn = ({ failures }: ScheduleFigures): number => failures['timeout'] ?? 0;

function neverAnsweredWarnings(members: readonly Member[]): readonly Warning[] {
  const [first] = members;
  if (first === undefined) return [];
  const { setup } = first;
  if (setup.behaviour.failureShare === 1) return ofAll(members, ['every create call failed; no setting helps']);
  const calls = sumIn(members, ({ createCalls }) => createCalls);
  if (sumIn(members, timeoutsIn) >= calls) {
    const limit = formatDuration(setup.settings.gatewayTimeoutMs);
    return ofAll(members, [
      `every create call took longer than gateway.timeout (${limit}), and no lead time helps: ${longerTimeout(setup)}`,
    ]);
  }
  return ofAll(members, [
    `every create call of these ${calls} failed by chance: give another --seed or a longer --for`,
  ]);
}

function timeoutWarnings(members: readonly Member[]): readonly Warning[] {
  const [first] = members;
  if (first === undefined) return [];
  const { setup } = first;
  const { latencyMs } = setup.behaviour;
  const limitMs = setup.settings.gatewayTimeoutMs;
  const cause =
    latencyMs > limitMs
      ? `the latency of ${formatDuration(latencyMs)} exceeds it`
      : `at a latency of ${formatDuration(latencyMs)} a call takes up to ${formatDuration(1.5 * latencyMs)}`;
  const calls = `${sumIn(members, timeoutsIn)} of ${sumIn(members, ({ createCalls }) => createCalls)} create calls`;
  return ofAll(members, [
    `${calls} took longer than gateway.timeout (${formatDuration(limitMs)}): ${cause}; ${longerTimeout(setup)}`,
  ]);
}

function longerTimeout({ behaviour }: SimulationSetup): string {
  const longer = longEnoughTimeout({ behaviour }, { failures: { timeout: 1 } });
  const ask = 'ask the bank why its answers take so long';
  return longer === undefined
    ? `it can be ${formatDuration(MAX_TIMEOUT_MS)} at most, which is too short for some: ${ask}`
    : `raise gateway.timeout to ${formatDuration(longer.timeoutMs)}, or ${ask}`;
}

/**
 * With fewer renewals than this, the first session, which came at an arbitrary time of day, outweighs those that
 * follow.
 */
const ENOUGH_RENEWALS = 3;

/** None if an outage was not played: that warning already names a run that is long enough. */
function fewRenewalsWarnings({ setup, figures, notPlayed }: Member): readonly Wording[] {
  const { lifetimeMs } = setup.behaviour;
  const renewals = figures.sessions - 1;
  const isLong = setup.durationMs >= ENOUGH_RENEWALS * lifetimeMs;
  if (isLong || renewals >= ENOUGH_RENEWALS || notPlayed !== undefined) return [];
  const played = `${renewals === 0 ? 'no' : `only ${renewals}`} ${renewals > 1 ? 'renewals were' : 'renewal was'} played`;
  const longer = formatDuration(roundedUp((ENOUGH_RENEWALS + 1) * lifetimeMs));
  return [[`${played}, which says little of later ones: give --for ${longer}`]];
}

/** For when the broker believes a shorter lifetime than the gateway states, or does not believe its clock. */
function lifeWarnings({ setup, figures }: Member): readonly Wording[] {
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

/**
 * A share above the maximum is refused in the configuration; a duration can be judged only once the lifetime is known.
 */
function cappedLeadWarnings({ setup }: Member): readonly Wording[] {
  const { renewBefore } = setup.settings;
  const mostMs = leadShares.longest * believedLifeMs(setup);
  if (renewBefore?.kind !== 'duration' || renewBefore.durationMs <= mostMs) return [];
  return [
    worded`session.renewBefore is ${formatDuration(renewBefore.durationMs)}, more than half of the session's life: sessions are renewed ${span(mostMs)} before they end`,
  ];
}

function shortLeadWarnings({ figures }: Member, { leadShare }: Judged): readonly Wording[] {
  const { leadTimeShort: short } = figures;
  if (short === undefined) return [];
  const remedy =
    leadShare === undefined
      ? 'no session.renewBefore that session.budget allows makes room for them; only longer sessions or a shorter gateway.timeout do'
      : `raise session.renewBefore to ${percent(leadShare)}`;
  return [worded`the lead time is ${span(short.leadMs)}, and two attempts take ${span(short.neededMs)}: ${remedy}`];
}

/** @param members those that had a session */
function gapWarnings(judged: Judged, members: readonly Member[]): readonly Warning[] {
  const lost = members.filter(({ figures }) => figures.withoutSessionMs > 0);
  const gap = worded`there was no session for ${short(lostBy(lost, 'withoutSessionMs'))}`;
  // For an outage that was not played in full, what would bridge it is unknown.
  if (judged.notPlayed !== undefined) return ofAll(lost, gap);
  if (isWaitedFor(judged)) return ofAll(lost, [waitedFor(lost)]);
  const worst = worstOf(judged);
  if (lost.length > 0) {
    return ofAll(lost, worded`${gap}${inOthers(judged, gapOfOthers)}${afterOutage(lost)}${remedies(judged)}`);
  }
  return worst.figures.withoutSessionMs > 0
    ? ofAll([judged], worseElsewhere(judged, worst))
    : marginWarnings(judged, members, worst);
}

const lostBy = (members: readonly Member[], of: 'withoutSessionMs' | 'pastMarginMs'): Span =>
  spanOf(members.map(({ figures }) => figures[of]));

function waitedFor(lost: readonly Member[]): string {
  const most = Math.max(...lost.map(({ figures }) => figures.gaps));
  const times = most > 1 ? `, ${lost.length > 1 ? 'up to ' : ''}${most} times` : '';
  const isAll = lost.every(
    ({ figures, setup }) => (tooSmallOf(figures) ?? withNoneToSpare(figures, setup)) === undefined,
  );
  return `there was no session for less than a second${times}: ${WAITED_FOR}${isAll ? ', and there is nothing to do' : ''}`;
}

function marginWarnings(judged: Judged, members: readonly Member[], worst: PlayedRun): readonly Warning[] {
  if (isHarmless(worst.figures)) return [];
  const advice = remedies(judged);
  const past = members.filter(({ figures }) => figures.pastMarginMs > 0);
  if (past.length > 0) {
    const inThisRun = worded`sessions were handed out past their margin for ${short(lostBy(past, 'pastMarginMs'))}`;
    return ofAll(past, worded`${inThisRun}${inOthers(judged, pastMarginOfOthers)}${advice}`);
  }
  const where = worded`no session was handed out past its margin in this run, and in another one (${optionsIn(worst, judged)})`;
  return ofAll([judged], worded`${where} some were for ${span(worst.figures.pastMarginMs)}${advice}`);
}

function inOthers(judged: Judged, spanIn: (others: readonly PlayedRun[]) => Span): Wording {
  const { others = [], alike, setup } = judged;
  if (others.length === 0) return [];
  const runs = `${areShorter(judged) ? 'other, shorter' : 'other'} runs${ofUpTo(judged)}${alike ? ` of ${setup.merchant}` : ''}`;
  return worded` (${short(spanIn(others))} in ${others.length} ${runs})`;
}

/** Without an outage, a longer run loses more simply because it is longer. */
function ofUpTo({ setup, others = [] }: Judged): string {
  const mostMs = Math.max(...others.map((other) => other.setup.durationMs));
  return setup.behaviour.outageMs > 0 || mostMs <= setup.durationMs ? '' : ` of up to ${formatDuration(mostMs)}`;
}

const optionsIn = ({ setup }: PlayedRun, { alike }: Judged): string => optionsOf(setup, alike && setup.merchant);

function worseElsewhere(judged: Judged, worst: PlayedRun): Wording {
  const gap = span(worst.figures.withoutSessionMs);
  const options = optionsIn(worst, judged);
  return worded`there was always a session in this run, and in another one (${options}) there was none for ${gap}${afterOutage([worst])}${remedies(judged)}`;
}

/** For one run, or for several that are reported together: some of them may have lost nothing after the outage. */
function afterOutage(runs: readonly Pick<PlayedRun, 'figures'>[]): Wording {
  const lost = (of: keyof GapAfterOutage): Span => spanOf(runs.map(({ figures }) => figures.afterOutage?.[of] ?? 0));
  const whole = lost('gapMs');
  if (whole.mostMs < WORTH_TELLING_MS) return [];
  const isAll = runs.every(
    ({ figures: { afterOutage: after, withoutSessionMs } }) => partOf(after?.gapMs ?? 0, withoutSessionMs) === 'all',
  );
  const reasons = [
    {
      ...{ part: lost('inPauseMs'), by: ',' },
      text: 'in the pause after the last failed attempt, which `session-broker renew` ends',
    },
    { part: lost('byBudgetMs'), by: '', text: 'because session.budget was spent' },
  ].filter(({ part }) => part.mostMs >= WORTH_TELLING_MS);
  const told = isAll ? [`. All of it came after the outage`] : worded`. Of that, ${short(whole)} came after the outage`;
  const [first, ...others] = reasons;
  if (first === undefined) return told;
  if (others.length === 0 && isSame(first.part, whole)) return worded`${told}${first.by} ${first.text}`;
  const parts = reasons.map(({ part, text }) => worded`${short(part)} ${text}`);
  return worded`${told}: ${joined(parts, ', and ')}`;
}

const isSame = (one: Span, other: Span): boolean => one.leastMs === other.leastMs && one.mostMs === other.mostMs;
