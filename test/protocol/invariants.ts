import { generationOf } from './store-rules.js';
import { isQuiet } from './specification.js';
import { claimReason } from './questions.js';
import {
  type Call,
  clockOf,
  budget,
  type Fault,
  type FaultKind,
  type Moment,
  isServed,
  phases,
  type Rules,
  type World,
} from './world.js';

/** Two worlds, one action apart. */
export interface Moved {
  readonly before: World;
  readonly after: World;
  readonly rules: Rules;
}

export interface Invariant {
  readonly name: string;
  readonly sentence: string;
  /** It looks at both worlds of a step, and not only at the result. */
  readonly isOfStep?: true;
  readonly holds: (moved: Moved) => boolean;
}

const struckBy = ({ faults }: World, kinds: readonly FaultKind[]): boolean =>
  faults.some(({ kind }) => kinds.includes(kind));

const losesData: readonly FaultKind[] = ['failover', 'emptied'];
const endsLeasesEarly: readonly FaultKind[] = [...losesData, 'clock forward'];
function oneLeaseAtATime({ after }: Moved): boolean {
  if (struckBy(after, endsLeasesEarly)) return true;
  const holders = after.replicas.filter(
    ({ work, state }) => state !== 'crashed' && work.kind === 'claimed' && work.endsAt > after.time,
  );
  const callers = after.calls.filter(({ state, isAlone }) => state === 'sent' && !isAlone);
  return holders.length + callers.length <= 1;
}

function fenceAboveAllKnown({ before, after }: Moved): boolean {
  return after.replicas.every(({ work }, at) => {
    const earlier = before.replicas[at];
    if (work.kind !== 'claimed' || earlier?.work.kind === 'claimed') return true;
    const isNew = after.store.lease?.fence === work.fence && after.store.fence > before.store.fence;
    const known = isNew ? Math.max(before.store.fence, generationOf(before.store)) : 0;
    return work.fence > Math.max(known, earlier?.floor ?? 0);
  });
}

/** Every place in which a generation is paired with a session. */
function namesOf({ calls, replicas, store }: World): readonly (readonly [number, number])[] {
  const stored =
    store.session === undefined ? [] : [[store.session.generation, Number(store.session.identity)] as const];
  const made = calls.map(({ generation }, session) => [generation, session] as const);
  const held = replicas.flatMap((replica) =>
    [replica.held, replica.unconfirmed].flatMap((one) => (one ? [[one.generation, one.session] as const] : [])),
  );
  return [...made, ...stored, ...held];
}

function oneSessionPerGeneration({ after }: Moved): boolean {
  const sessions = new Map<number, number>();
  return namesOf(after).every(([generation, session]) => {
    const known = sessions.get(generation) ?? session;
    sessions.set(generation, known);
    return known === session;
  });
}

function evenUnderLease({ after: { calls } }: Moved): boolean {
  return calls.every(({ generation, isAlone }) => (generation % 2 === 1) === isAlone);
}

function generationsGrow({ before, after }: Moved): boolean {
  const isReplaced = after.faults.length > before.faults.length && losesData.includes(lastOf(after)?.kind ?? 'crash');
  const shrinks = generationOf(after.store) < generationOf(before.store) || after.store.fence < before.store.fence;
  if (!isReplaced && shrinks) return false;
  return after.replicas.every(({ state, held }, at) => {
    const earlier = before.replicas[at]?.held?.generation ?? 0;
    return state === 'crashed' || (held?.generation ?? 0) >= earlier;
  });
}

const lastOf = ({ faults }: World): Fault | undefined => faults[faults.length - 1];

function oneCallPerFence({ after: { calls } }: Moved): boolean {
  const leased = calls.filter(({ isAlone }) => !isAlone);
  return new Set(leased.map(({ generation }) => generation)).size === leased.length;
}

function budgetHolds({ after }: Moved): boolean {
  if (struckBy(after, endsLeasesEarly)) return true;
  const leased = after.calls.filter(({ isAlone }) => !isAlone);
  const within = (perMs: number, { grantedAt: from }: Call): number =>
    leased.filter(({ grantedAt }) => grantedAt >= from && grantedAt < from + perMs).length;
  return budget.every(({ calls, perMs }) => leased.every((call) => within(perMs, call) <= calls));
}

/** The one call without a lease that is allowed follows a silence that outlasted a phase. */
function onlySilenceAllowsAlone({ before, after }: Moved): boolean {
  const call = after.calls[before.calls.length];
  if (call?.isAlone !== true) return true;
  const maker = after.replicas.findIndex(({ work }) => work.kind === 'calling' && work.call === before.calls.length);
  const silentSince = before.replicas[maker]?.silentSince ?? before.time;
  return struckBy(before, ['silence']) && before.storeState === 'silent' && silentSince < before.time;
}

/** The previous session is dead from the gateway's answer on, whatever becomes of the publication. */
function makerServesIt({ after: { replicas } }: Moved): boolean {
  return replicas.every(({ work, unconfirmed, held }) => {
    const made = Math.max(work.kind === 'made' ? work.made.generation : 0, unconfirmed?.generation ?? 0);
    return (held?.generation ?? 0) >= made;
  });
}

/** What counts as seen is what was made, opened or called for, and never what someone announced. */
function nothingSeenByHint({ after: { replicas, calls } }: Moved): boolean {
  const highest = Math.max(...calls.map(({ generation }) => generation));
  return replicas.every(({ floor, held }) => Math.max(floor, held?.generation ?? 0) <= highest);
}

function noneExpired({ after }: Moved): boolean {
  return after.replicas.every(({ state, held }) => {
    if (state === 'crashed' || !isServed(held, after.time)) return true;
    return after.time < (after.calls[held.session]?.answeredAt ?? 0) + phases.lifetime;
  });
}

function isBudgetSpent(world: World): boolean {
  const within = (perMs: number): number => world.store.calls.filter((at) => at + perMs > clockOf(world)).length;
  return budget.some(({ calls, perMs }) => within(perMs) >= calls);
}

/**
 * A replica that waits for a moment of the store before it renews, such as a back-off, need not agree with the others
 * yet.
 */
function allAgree({ after, rules }: Moved): boolean {
  if (!isQuiet(after, rules)) return true;
  const waits = after.replicas.some(
    (self, replica) => claimReason({ world: after, replica, self, rules }) !== undefined,
  );
  if (waits || after.store.failures > 0) return after.time < phases.horizon || isBudgetSpent(after);
  if (after.store.session?.identity !== String(after.live)) return false;
  return after.replicas.every(({ held, unconfirmed }) => held?.session === after.live && unconfirmed === undefined);
}

/** A clock set forward makes what was just made look old: it is asked for again only in the next phase. */
function renewedInTime({ after, rules }: Moved): boolean {
  const { store, time, replicas } = after;
  if (struckBy(after, ['clock forward'])) return true;
  const hasFailedAlone = after.calls.some(
    ({ state, isAlone, sentAt }) => isAlone && state === 'failed' && sentAt === time,
  );
  if (store.failures > 0 || hasFailedAlone || isBudgetSpent(after) || !isQuiet(after, rules)) return true;
  return replicas.every(({ held }) => held !== undefined && time < held.answeredAt + phases.margin);
}

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
    kinds: ['emptied', 'failover', 'clock forward'],
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
  const cost = costs.find(({ kinds, into: moments }) => kinds.includes(kind) && moments.includes(into));
  return cost ?? free;
}

/** Two faults together may cost one call more than the sum of both. */
function allowedFor(faults: readonly Fault[]): Pick<Cost, 'calls' | 'reported'> {
  const together = Math.max(0, faults.length - 1);
  const all = faults.map(costOf);
  return {
    calls: all.reduce((sum, { calls }) => sum + calls, together),
    reported: all.reduce((sum, { reported }) => sum + reported, together),
  };
}

/** What later decisions of the invariants depend on, and nothing else. */
export function struckAsFarAsItCounts(faults: readonly Fault[]): string {
  const struck = (kinds: readonly FaultKind[]): boolean => faults.some(({ kind }) => kinds.includes(kind));
  const { calls, reported } = allowedFor(faults);
  const silences = faults.filter(({ kind }) => kind === 'silence').length;
  return `${faults.length} ${struck(endsLeasesEarly)} ${struck(['clock forward'])} ${silences} ${calls} ${reported}`;
}

/**
 * After a silence, each replica but one may have made a session beside another. Each of these calls may still be in
 * flight when the store answers again, and a call under a lease is then made beside it; and if nobody knows which
 * session lives, one more settles it.
 */
function fewExtraCalls({ after: { faults, extraCalls, replicas } }: Moved): boolean {
  const silences = faults.filter(({ kind }) => kind === 'silence').length;
  const beside = silences * (replicas.length - 1);
  const { calls, reported } = allowedFor(faults);
  const together = Math.max(0, faults.length - 1);
  if (Math.max(extraCalls.alone, extraCalls.besideAlone) > beside + together) return false;
  const underLease = extraCalls.leased + extraCalls.settling + extraCalls.reported;
  return extraCalls.reported <= reported && extraCalls.leased <= calls && underLease <= calls + beside;
}

export const invariants: readonly Invariant[] = [
  { name: 'one call per fence', sentence: 'No call is made twice under one fence.', holds: oneCallPerFence },
  {
    name: 'one lease at a time',
    sentence: 'Two replicas never hold leases at once, unless the store lost one or its clock was set forward.',
    holds: oneLeaseAtATime,
  },
  {
    name: 'a granted fence is the highest',
    sentence: 'A granted fence is above every fence and generation that the store or the claimant knows.',
    isOfStep: true,
    holds: fenceAboveAllKnown,
  },
  {
    name: 'a generation names one session',
    sentence: 'One generation never stands beside two sessions, wherever they are kept.',
    holds: oneSessionPerGeneration,
  },
  {
    name: 'even under a lease, odd alone',
    sentence: 'What was made under a lease and what was made alone can never draw the same number.',
    holds: evenUnderLease,
  },
  {
    name: 'generations and fences grow',
    sentence:
      'What the store has granted and holds only grows, failover and emptying aside; what a replica holds only grows.',
    isOfStep: true,
    holds: generationsGrow,
  },
  {
    name: 'the budget holds',
    sentence: 'No window grants more calls than the budget, as long as the store keeps its data and its time.',
    holds: budgetHolds,
  },
  {
    name: 'only silence lets a replica create alone',
    sentence: 'A refusal or a hint never leads to a create call.',
    isOfStep: true,
    holds: onlySilenceAllowsAlone,
  },
  {
    name: 'a hint sets nothing',
    sentence: 'No replica takes a generation for seen that nobody made.',
    holds: nothingSeenByHint,
  },
  {
    name: 'the maker serves what it made',
    sentence: 'From the answer of the gateway on its caller serves that session or a newer one.',
    holds: makerServesIt,
  },
  { name: 'none expired', sentence: 'No replica serves a session past its end.', holds: noneExpired },
  {
    name: 'all agree in the end',
    sentence:
      'After the faults the store and every replica have the session that the gateway takes, and nothing waits to be told.',
    holds: allAgree,
  },
  {
    name: 'renewed in time',
    sentence:
      'When nobody has a lease, every replica has a session that is within its margin; back-off and budget aside.',
    holds: renewedInTime,
  },
  {
    name: 'few extra calls',
    sentence: 'No fault leads to a call that was not due, but for those of `costs`, each with its reason.',
    holds: fewExtraCalls,
  },
];
