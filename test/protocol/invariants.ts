import { generationOf } from './store-rules.js';
import { isQuiet } from './specification.js';
import { claimReason } from './questions.js';
import {
  type Call,
  clockOf,
  CALLS_PER_WINDOW,
  type Fault,
  type FaultKind,
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
  readonly holds: (moved: Moved) => boolean;
}

const struckBy = ({ faults }: World, kinds: readonly FaultKind[]): boolean =>
  faults.some(({ kind }) => kinds.includes(kind));

const losesData: readonly FaultKind[] = ['failover', 'emptied'];
const endsLeasesEarly: readonly FaultKind[] = [...losesData, 'clock forward'];
const outages: readonly FaultKind[] = ['refusal', 'silence'];
const keepsEverything: readonly FaultKind[] = [
  'request lost',
  'reply lost',
  'announcements lost',
  'forged hint',
  'clock back',
];

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

/** Every place in which a generation stands beside a session. */
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
  const inWindowFrom = ({ sentAt }: Call): number =>
    leased.filter((call) => call.sentAt >= sentAt && call.sentAt < sentAt + phases.budgetWindow).length;
  return leased.every((call) => inWindowFrom(call) <= CALLS_PER_WINDOW);
}

/** The one call without a lease that is allowed follows a silence which outlasted a phase. */
function onlySilenceAllowsAlone({ before, after }: Moved): boolean {
  const call = after.calls[before.calls.length];
  if (call?.isAlone !== true) return true;
  const silentSince = before.replicas[call.replica]?.silentSince ?? before.time;
  return struckBy(before, ['silence']) && before.storeState === 'silent' && silentSince < before.time;
}

/** The session before it is dead since the gateway's answer, whatever becomes of the publication. */
function makerServesIt({ after: { replicas } }: Moved): boolean {
  return replicas.every(({ work, unconfirmed, held }) => {
    const made = Math.max(work.kind === 'made' ? work.made.generation : 0, unconfirmed?.generation ?? 0);
    return (held?.generation ?? 0) >= made;
  });
}

/** What is seen is what was made, opened or called for, and never what somebody said. */
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

/** Whoever waits for a moment of the store, to renew, need not agree with anybody yet. */
function allAgree({ after, rules }: Moved): boolean {
  if (!isQuiet(after, rules)) return true;
  const waits = after.replicas.some(
    (self, replica) => claimReason({ world: after, replica, self, rules }) !== undefined,
  );
  if (waits) return after.time < phases.horizon;
  if (after.store.session?.identity !== String(after.live)) return false;
  return after.replicas.every(({ held, unconfirmed }) => held?.session === after.live && unconfirmed === undefined);
}

/** A clock set forward makes what was just made look old: that is asked for again in the next phase only. */
function renewedInTime({ after, rules }: Moved): boolean {
  const { store, time, replicas } = after;
  if (struckBy(after, ['clock forward'])) return true;
  const inWindow = store.calls.filter((at) => at + phases.budgetWindow > clockOf(after));
  if (store.failures > 0 || inWindow.length >= CALLS_PER_WINDOW || !isQuiet(after, rules)) return true;
  return replicas.every(({ held }) => held !== undefined && time < held.answeredAt + phases.margin);
}

/**
 * What a fault may cost: one call. One of the store alone costs none, unless it strikes into a renewal. If it then loses
 * the lease, a second call goes out beside the first; where the gateway takes them in the other order, one more settles.
 */
export function extraCallsAllowed({ kind, isCalm }: Fault, onStoreOutage: Rules['onStoreOutage']): number {
  if (keepsEverything.includes(kind)) return 0;
  if (endsLeasesEarly.includes(kind)) return isCalm ? 0 : 2;
  // Whoever claims when the store is back may do so before what others made alone is offered.
  if (kind === 'silence' && onStoreOutage === 'authorize') return 1;
  return isCalm && outages.includes(kind) ? 0 : 1;
}

function fewExtraCalls({ after, rules }: Moved): boolean {
  const allowed = after.faults.reduce((sum, fault) => sum + extraCallsAllowed(fault, rules.onStoreOutage), 0);
  const silences = after.faults.filter(({ kind }) => kind === 'silence').length;
  const { leased, alone, settling } = after.extraCalls;
  return leased <= allowed && alone <= silences * after.replicas.length && settling <= silences;
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
    holds: generationsGrow,
  },
  {
    name: 'the budget holds',
    sentence: 'No window has more leased calls than the budget, as long as the store keeps its data and its time.',
    holds: budgetHolds,
  },
  {
    name: 'only silence lets a replica create alone',
    sentence: 'A refusal or a hint never leads to a create call.',
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
    sentence: 'A fault costs one call at most, one of the store alone none unless it strikes into a renewal.',
    holds: fewExtraCalls,
  },
];
