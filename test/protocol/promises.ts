import { msBetween } from '#libs/clock';
import {
  budgetOf,
  leadShares,
  longestWindowMs,
  retryInMsOf,
  serveFactsOf,
  standingFor,
  verdictOn,
} from '#libs/session';
import { FORGED_GENERATION, isQuiet } from './actions.js';
import { isUnstored } from './driver.js';
import { endOf } from './store-state.js';
import {
  type Call,
  callOf,
  clockOf,
  type Fault,
  type FaultKind,
  type Moment,
  msOf,
  nowOf,
  PHASE_MS,
  phases,
  type Replica,
  settings,
  type World,
} from './world.js';

/** Two worlds, one action apart. */
export interface Moved {
  readonly before: World;
  readonly after: World;
}

/** What docs/reliability.md promises, by its number there. */
export interface Promised {
  readonly name: string;
  readonly sentence: string;
  /** It looks at both worlds of a step, and not only at the result. */
  readonly isOfStep?: true;
  readonly holds: (moved: Moved) => boolean;
}

const struckBy = ({ faults }: World, kinds: readonly FaultKind[]): boolean =>
  faults.some(({ kind }) => kinds.includes(kind));

const messages: readonly FaultKind[] = ['request lost', 'reply lost', 'reply late'];
const losesData: readonly FaultKind[] = ['failover', 'emptied'];
const movesStoreClock: readonly FaultKind[] = ['clock forward', 'clock back'];
const endsLeasesEarly: readonly FaultKind[] = [...losesData, ...movesStoreClock];

const generationIn = ({ store }: World): number => store?.stored?.session.generation ?? 0;
const heldBy = ({ merchant: { held } }: Replica): number => held?.session.generation ?? 0;
const sessionOf = ({ merchant: { held } }: Replica): number =>
  held === undefined ? NaN : callOf(held.session.authToken);
/** By true time: when the gateway ends it, whatever anybody believes. */
const trueEndOf = ({ madeAtMs }: Call): number => madeAtMs + phases.lifetime * PHASE_MS;

// ---- 1

function oneLease({ after }: Moved): boolean {
  if (struckBy(after, endsLeasesEarly)) return true;
  const holders = after.replicas.filter(
    ({ merchant: { phase }, state }) =>
      state !== 'crashed' && (phase.at === 'handing_over' || phase.at === 'calling') && phase.endsAtMs > msOf(after),
  );
  const orphans = after.calls.filter(
    ({ state }, index) => state === 'sent' && after.replicas.every(({ call }) => call !== index),
  );
  return holders.length + orphans.length <= 1;
}

function fenceAboveAllKnown({ before, after }: Moved): boolean {
  if (after.calls.length === before.calls.length) return true;
  const { generation } = after.calls[before.calls.length] as Call;
  const caller = after.replicas.findIndex(({ call }) => call === before.calls.length);
  const earlier = before.replicas[caller];
  return generation > Math.max(earlier?.merchant.floor ?? 0, earlier === undefined ? 0 : heldBy(earlier));
}

/** Every place in which a generation is paired with a session. */
function oneSessionPerGeneration({ after: { calls, replicas, store } }: Moved): boolean {
  const sessions = new Map<number, number>();
  const isAlone = (generation: number, session: number): boolean => {
    const known = sessions.get(generation) ?? session;
    sessions.set(generation, known);
    return known === session;
  };
  const { stored } = store ?? {};
  return (
    calls.every(({ generation }, session) => isAlone(generation, session)) &&
    (stored === undefined || isAlone(stored.session.generation, callOf(stored.session.authToken))) &&
    replicas.every((one) => heldBy(one) === 0 || isAlone(heldBy(one), sessionOf(one)))
  );
}

function generationsGrow({ before, after }: Moved): boolean {
  const isReplaced =
    after.faults.length > before.faults.length && losesData.includes(after.faults.at(-1)?.kind ?? 'crash');
  const fenceIn = ({ store }: World): number => store?.fence ?? 0;
  const shrinks = generationIn(after) < generationIn(before) || fenceIn(after) < fenceIn(before);
  if (!isReplaced && shrinks) return false;
  return after.replicas.every((one, at) => {
    const earlier = before.replicas[at];
    return one.epoch !== earlier?.epoch || heldBy(one) >= heldBy(earlier);
  });
}

/** What counts as seen is what was made, opened or granted, and never what someone announced. */
function nothingSeenByHint({ after: { replicas } }: Moved): boolean {
  return replicas.every(({ merchant: { floor } }) => floor < FORGED_GENERATION);
}

// ---- 2

const MARGIN_MS = (phases.lifetime - phases.margin) * PHASE_MS;

function noneExpired({ after }: Moved): boolean {
  return after.replicas.every((one, at) => {
    if (one.state === 'crashed' || one.merchant.held === undefined) return true;
    const { result } = verdictOn(one.merchant, nowOf(after, at));
    if (result === 'unavailable') return true;
    const leftMs = trueEndOf(after.calls[sessionOf(one)] as Call) - msOf(after);
    const { createdAt, expiresAt } = one.merchant.held.session;
    // One whose answer was late has a shorter life for us: of that, the margin is half at most.
    const marginMs = Math.min(MARGIN_MS, leadShares.longest * msBetween(createdAt, expiresAt));
    return leftMs > 0 && (result === 'stale' || leftMs > marginMs);
  });
}

/** When nobody has a lease, back-off and budget aside; a clock set forward makes what was just made look old. */
function renewedInTime({ after }: Moved): boolean {
  if (after.time < phases.margin || !isQuiet(after)) return true;
  const isExcused = (after.store?.failures ?? 0) > 0 || isBudgetSpent(after);
  // In the end no lease and no refusal is left to wait for.
  const isServed = after.replicas.every(({ merchant }, at) => serveFactsOf(merchant, nowOf(after, at)).leftMs > 0);
  if (after.time === phases.horizon && !isServed && !isExcused) return false;
  if (isHeldUp(after)) return true;
  return after.replicas.every(({ merchant }, at) => {
    const { held, freshMs } = serveFactsOf(merchant, nowOf(after, at));
    return held && freshMs > 0;
  });
}

function isHeldUp(world: World): boolean {
  const { lease, due, failures = 0 } = world.store ?? {};
  const isAhead = (moment: number, byMs: number): boolean => moment > clockOf(world) && moment < clockOf(world) + byMs;
  const isLeased = lease !== undefined && isAhead(endOf(lease.end), phases.lease * PHASE_MS + 1);
  // It falls due within the phase: whoever let others speak first tries again a moment later.
  const isAboutToBeDue = due !== undefined && isAhead(endOf(due), PHASE_MS);
  return (
    isLeased ||
    isAboutToBeDue ||
    failures > 0 ||
    isBudgetSpent(world) ||
    world.replicas.some((_, at) => mustWait(world, at))
  );
}

function mustWait(world: World, at: number): boolean {
  const { merchant } = world.replicas[at] as Replica;
  const now = nowOf(world, at);
  if (merchant.report !== undefined) return true;
  return retryInMsOf(merchant, now) !== undefined || standingFor(merchant, { coolDownMs: 1 }, now) !== undefined;
}

function isBudgetSpent(world: World): boolean {
  const calls = world.store?.calls ?? [];
  const within = (perMs: number): number => calls.filter(({ atMs }) => atMs + perMs > clockOf(world)).length;
  return settings.budget.some((window) => within(window.perMs) >= window.calls);
}

// ---- 3

/** Create calls that a fault may lead to, beyond those that were due. All other faults lead to none. */
interface Cost {
  readonly kinds: readonly FaultKind[];
  readonly into: readonly Moment[];
  readonly calls: number;
  /** Those of them that a consumer has to trigger, by reporting a session that it found dead. */
  readonly reported: number;
  readonly why: string;
}

export const costs: readonly Cost[] = [
  {
    kinds: ['emptied', 'failover', 'clock forward', 'clock back'],
    into: ['lease'],
    calls: 2,
    reported: 1,
    why:
      'The store forgets or ends the lease under which a call is made: the next claimant calls beside it. Should the ' +
      'gateway carry out the two in the other order, the older session lives and nobody has it: a consumer reports that.',
  },
  {
    kinds: ['emptied', 'clock forward'],
    into: ['news'],
    calls: 1,
    reported: 0,
    why: 'Whoever has not read the session that was just made takes the one before it for due, and claims at once.',
  },
  {
    kinds: ['late call'],
    into: ['lease'],
    calls: 1,
    reported: 1,
    why: 'What the gateway carries out after its timeout ends a session of which nobody knew that it would.',
  },
];

const free = { calls: 0, reported: 0 };

function costOf({ kind, into }: Fault): Pick<Cost, 'calls' | 'reported'> {
  return costs.find(({ kinds, into: moments }) => kinds.includes(kind) && moments.includes(into)) ?? free;
}

/** Faults of the store and of the way to it, which cost nothing by themselves. */
const ofStore: ReadonlySet<FaultKind> = new Set([
  ...messages,
  'announcements lost',
  'forged hint',
  'refusal',
  'silence',
  'clock back',
  'clock forward',
  'failover',
  'emptied',
]);

/**
 * Beside a fault of a replica or of the gateway, another one may cost one call more than the sum of both. So may a clock
 * that is set back, in a store that forgets: by that clock a lease that comes back is over, and the next session is
 * older than one that is offered again.
 */
function allowedFor(faults: readonly Fault[]): Pick<Cost, 'calls' | 'reported'> {
  const isBeyondStore = faults.some(({ kind }) => !ofStore.has(kind));
  const isSetBack =
    faults.some(({ kind }) => kind === 'clock back') && faults.some(({ kind }) => losesData.includes(kind));
  const together = faults.length > 1 && (isBeyondStore || isSetBack) ? 1 : 0;
  const all = faults.map(costOf);
  return {
    calls: all.reduce((sum, { calls }) => sum + calls, together),
    // A report may take the place of another reason to call.
    reported: all.length > 1 ? Infinity : (all[0]?.reported ?? 0),
  };
}

/** What later decisions of the promises depend on, and nothing else. */
export function struckAsFarAsItCounts({ faults, faultsLeft }: World): string {
  const mayCome = faultsLeft > 0;
  const struck = (kinds: readonly FaultKind[]): boolean => faults.some(({ kind }) => kinds.includes(kind));
  const { calls, reported } = allowedFor(faults);
  const isOfStore = faults.every(({ kind }) => ofStore.has(kind));
  return `${mayCome ? faults.length : 0} ${isOfStore} ${struck(endsLeasesEarly)} ${struck(losesData)} ${calls} ${reported}`;
}

function fewCalls({ after: { faults, extraCalls, calls } }: Moved): boolean {
  const { calls: allowed, reported } = allowedFor(faults);
  if (new Set(calls.map(({ generation }) => generation)).size < calls.length) return false;
  return extraCalls.reported <= reported && extraCalls.leased + extraCalls.reported <= allowed;
}

// ---- 4, 5, 7: when everything is over

/** Whoever waits for a moment of the store before a renewal, such as a back-off, need not agree with the others yet. */
function allAgree({ after }: Moved): boolean {
  if (!isQuiet(after) || after.live < 0) return true;
  if (isHeldUp(after) && (after.time < phases.horizon || isBudgetSpent(after))) return true;
  return after.replicas.every((one, at) => {
    const { result } = verdictOn(one.merchant, nowOf(after, at));
    return result === 'unavailable' || sessionOf(one) === after.live;
  });
}

function nothingIsLost({ after }: Moved): boolean {
  if (!isQuiet(after)) return true;
  const rests = ({ merchant: { held } }: Replica): boolean => held !== undefined && held.restsUntilMs > msOf(after);
  return after.replicas.every((one, at) => {
    const isServed = serveFactsOf(one.merchant, nowOf(after, at)).leftMs > 0;
    return !isServed || rests(one) || (heldBy(one) <= generationIn(after) && !isUnstored(one));
  });
}

function everyPhaseEnds({ after }: Moved): boolean {
  return after.replicas.every((replica) => replica.state !== 'up' || (isGoingOn(replica) && isAnswered(replica)));
}

const isAskedBy = ({ asked }: Replica, ask: string): boolean => asked.some(({ question }) => question.ask === ask);

function isGoingOn(replica: Replica): boolean {
  const { phase, isOffering } = replica.merchant;
  if (isOffering && !isAskedBy(replica, 'offer')) return false;
  const underWay = {
    idle: true,
    entering: false,
    claiming: isAskedBy(replica, 'claim'),
    handing_over: replica.isHandingOver,
    calling: replica.call !== undefined,
    publishing: isAskedBy(replica, 'publish'),
  };
  return underWay[phase.at];
}

/** A consumer waits for a renewal, for the judgement of the store, or for what it has. */
function isAnswered(replica: Replica): boolean {
  const { merchant, rejected, wantsRead } = replica;
  if (rejected === undefined || merchant.phase.at !== 'idle' || isAskedBy(replica, 'report')) return true;
  const isReading = wantsRead || isAskedBy(replica, 'read') || isAskedBy(replica, 'sync');
  return rejected.waitsFor === 'read' && isReading;
}

// ---- 6

function budgetHolds({ after }: Moved): boolean {
  const { calls, replicas, faults } = after;
  const now = msOf(after);
  const isWithin = replicas.every(({ merchant }) => {
    const budget = budgetOf(merchant, settings);
    const fromMs = now - longestWindowMs(budget);
    return budget.every(
      (window) => merchant.callsAtMs.filter((at) => at > fromMs && at > now - window.perMs).length <= window.calls,
    );
  });
  if (!isWithin || struckBy({ ...after, faults }, endsLeasesEarly)) return isWithin;
  const inWindow = (perMs: number, { grantedAtMs: from }: Call): number =>
    calls.filter(({ grantedAtMs }) => grantedAtMs >= from && grantedAtMs < from + perMs).length;
  return settings.budget.every((window) => calls.every((call) => inWindow(window.perMs, call) <= window.calls));
}

const SHARE = 0.75;

/** A wish that replaces a living session leaves the rest of each window to the schedule. */
function shareHolds({ before, after }: Moved): boolean {
  const call = after.calls[before.calls.length];
  if (call?.isEarly !== true) return true;
  const own = after.replicas.find((one) => one.call === before.calls.length)?.merchant.callsAtMs ?? [];
  const all = struckBy(after, endsLeasesEarly) ? [] : after.calls.map(({ grantedAtMs }) => grantedAtMs);
  return settings.budget.every(({ calls, perMs }) => {
    const used = (atMs: readonly number[]): number => atMs.filter((at) => at > call.grantedAtMs - perMs).length;
    return Math.max(used(own), used(all)) <= Math.max(1, Math.floor(SHARE * calls));
  });
}

// ---- 8

function servedAtOnce({ after: { replicas } }: Moved): boolean {
  return replicas.every((one) => {
    const { phase } = one.merchant;
    return phase.at !== 'publishing' || heldBy(one) >= phase.session.generation;
  });
}

export const promises: readonly Promised[] = [
  {
    name: '1 one lease',
    sentence: 'At most one lease per merchant, unless the store lost one or its clock was set.',
    holds: oneLease,
  },
  {
    name: '1 a number of its own',
    sentence: 'No two sessions have one generation, and no call is made twice under one fence.',
    holds: oneSessionPerGeneration,
  },
  {
    name: '1 above all that is known',
    sentence: 'Whoever calls does so under a number above all that it knows.',
    isOfStep: true,
    holds: fenceAboveAllKnown,
  },
  {
    name: '1 never back',
    sentence: 'What a replica holds only grows; what the store has only grows, failover and emptying aside.',
    isOfStep: true,
    holds: generationsGrow,
  },
  {
    name: '1 a hint sets nothing',
    sentence: 'No replica takes a generation for seen because somebody announces it.',
    holds: nothingSeenByHint,
  },
  {
    name: '2 none expired',
    sentence: 'Nothing past its end is served, past its margin only as stale.',
    holds: noneExpired,
  },
  {
    name: '3 few calls',
    sentence: 'No fault leads to a call that was not due, but for those of `costs`.',
    holds: fewCalls,
  },
  {
    name: '4 none that ours has ended',
    sentence: 'After the faults, no replica hands out a session that another of ours has ended.',
    holds: allAgree,
  },
  {
    name: '5 nothing is lost',
    sentence: 'Once the store is back, it has whatever a replica still holds.',
    holds: nothingIsLost,
  },
  { name: '6 the budget', sentence: 'No window grants more calls than the budget.', holds: budgetHolds },
  {
    name: '6 the share of the schedule',
    sentence: 'What wishes may not spend is left to the schedule.',
    isOfStep: true,
    holds: shareHolds,
  },
  { name: '7 every phase ends', sentence: 'Whatever a replica waits for is under way.', holds: everyPhaseEnds },
  {
    name: '7 renewed in time',
    sentence: 'After the faults every replica has a session within its margin; lease, back-off and budget aside.',
    holds: renewedInTime,
  },
  {
    name: '8 served at once',
    sentence: 'From the answer of the gateway on its caller serves that session or a newer one.',
    holds: servedAtOnce,
  },
];
