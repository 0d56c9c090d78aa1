import type { ClaimResult, Lease, OfferResult } from '#libs/session';
import {
  claim,
  generationOf,
  type Made,
  type Merchant,
  offer,
  publish,
  read,
  type ReadMerchant,
  release,
  remaining,
  type Step,
} from './store-rules.js';
import {
  beyondSeats,
  budget,
  changed,
  clockOf,
  type Held,
  isServed,
  millisecondsOf,
  ownerOf,
  phases,
  type Replica,
  type Rules,
  seated,
  seatsFor,
  type Unconfirmed,
  type World,
} from './world.js';

/** An operation of the store as one replica uses it: what the store does, and what the replica makes of the answer. */
export interface Question {
  readonly name: string;
  /** What is settled merely by asking. */
  readonly begun?: (world: World) => World;
  /** The store afterwards, and the replica's reaction to the answer. */
  readonly ask: () => readonly [Merchant, (world: World) => World];
  /** The replica cannot know whether it was applied. */
  readonly unanswered: (world: World) => World;
}

export interface Actor {
  readonly world: World;
  readonly replica: number;
  readonly self: Replica;
  readonly rules: Rules;
}

function question<Result>(
  name: string,
  ask: () => Step<Result>,
  after: { readonly answered: (world: World, result: Result) => World; readonly unanswered: (world: World) => World },
): Question {
  return {
    name,
    ask: () => {
      const [result, store] = ask();
      return [store, (world) => after.answered(world, result)];
    },
    unanswered: after.unanswered,
  };
}

/** What makes a replica claim now; undefined if nothing does. */
export function claimReason({ world, self }: Actor): 'settles' | 'due' | 'nothing to serve' | 'rejection' | undefined {
  if (self.settles > 0) return 'settles';
  if (!isServed(self.held, world.time)) return 'nothing to serve';
  if (isDue(world, self, self.held)) return 'due';
  return isOrphaned(world) && self.held.session !== world.live ? 'rejection' : undefined;
}

/**
 * The store says what is due; past its margin, or after watching the due moment go unchanged, a replica need not be
 * told.
 */
function isDue({ store, storeState, time, ...world }: World, { watched }: Replica, held: Held): boolean {
  if (time < held.answeredAt + phases.renewAfter) return false;
  if (storeState !== 'answers' || store.due === undefined || time >= held.answeredAt + phases.margin) return true;
  const wasWatched = watched?.mark === store.due.mark && watched.until <= time;
  return wasWatched || store.due.endsAt <= time + world.clockOffset;
}

/** Nobody brings the live session to the others, or settles which one counts: only a consumer's report ends this. */
export function isOrphaned({ live, replicas, store, calls }: World): boolean {
  const known = replicas.some(({ state, held, unconfirmed, work, settles }) => {
    if (state === 'crashed') return false;
    if (settles > 0) return true;
    const working = work.kind === 'calling' && ['sent', 'carried out'].includes(calls[work.call]?.state ?? '');
    const made = work.kind === 'made' ? work.made.session : undefined;
    return held?.session === live || unconfirmed?.session === live || made === live || working;
  });
  return !known && store.session?.identity !== String(live);
}

/** One for each order of seats that makes a difference. */
export function claimQuestions(actor: Actor): readonly Question[] {
  const { world, replica, self, rules } = actor;
  const floor = rules.replica.floorOf(self);
  if (self.seat === 'none' || beyondSeats(floor) <= millisecondsOf(world)) return [claimQuestion(actor, floor)];
  return seatsFor(world, self.seat).map((seat) => ({
    ...claimQuestion(actor, rules.replica.floorOfSeat(floor, seat)),
    begun: (before) => seated(before, replica, seat),
  }));
}

function claimQuestion(actor: Actor, floor: number): Question {
  const { world, replica, self, rules } = actor;
  const reason = claimReason(actor);
  const isWatchOver = self.watched !== undefined && self.watched.until <= world.time;
  const request = {
    merchant: 'shop',
    owner: ownerOf(world, replica),
    leaseMs: phases.lease,
    mode: reason === 'due' ? ('when_due' as const) : ('when_wanted' as const),
    newerThan: Math.max(self.settles, self.held?.generation ?? 0),
    floor,
    budget,
    coolDownMs: reason === 'rejection' ? phases.coolDown : 0,
    clock: clockOf(world),
    rules: rules.store,
    ...(isWatchOver && rules.replica.namesWhatItWatched ? { watched: self.watched.mark } : {}),
  };
  return question<ClaimResult>('claims', () => claim(world.store, request, { wall: millisecondsOf(world) }), {
    answered: (after, result) => changed(after, replica, claimAnswered(self, result, world)),
    unanswered: (after) => after,
  });
}

/**
 * Some replica has made a session without a lease, or is about to, and this one cannot know: the call is in flight, or
 * this one did not notice the outage and so waits for nobody's offer.
 */
function isBesideAlone({ letsOthersOffer }: Replica, { calls, replicas }: World): boolean {
  return replicas.some(({ work, unconfirmed }) => {
    const isUnoffered = (unconfirmed?.generation ?? 0) % 2 === 1 && !letsOthersOffer;
    return isUnoffered || (work.kind === 'calling' && calls[work.call]?.isAlone === true);
  });
}

function claimAnswered(self: Replica, result: ClaimResult, world: World): Partial<Replica> {
  const { time } = world;
  if (result.kind === 'claimed') {
    const { fence, remainingMs } = result.lease;
    return { work: { kind: 'claimed', fence, endsAt: time + remainingMs, isBesideAlone: isBesideAlone(self, world) } };
  }
  if (result.kind === 'already_newer') return { isHinted: true, settles: 0 };
  const { mark, retryInMs } = result;
  return { hasAsked: true, ...(mark === undefined ? {} : watches(self, mark, time + retryInMs)) };
}

/** Seen again unchanged, a moment keeps the end that it had when it was first seen. */
function watches({ watched }: Replica, mark: string, until: number): Partial<Replica> {
  return watched?.mark === mark ? {} : { watched: { mark, until } };
}

function madeOf({ world }: Actor, { generation, session, answeredAt }: Held): Made {
  const age = world.time - answeredAt;
  return { generation, identity: String(session), age, nextDueIn: Math.max(0, phases.renewAfter - age) };
}

/** From a read, or because its own session got into the store, it knows when the next one is due. */
function watchesDue(self: Replica, { store: { due }, time, clockOffset }: World): Partial<Replica> {
  return due === undefined ? {} : watches(self, due.mark, time + remaining(due, time + clockOffset));
}

export function publishQuestion(actor: Actor, made: Unconfirmed): Question {
  const { world, replica, self, rules } = actor;
  const request = { ...madeOf(actor, made), owner: ownerOf(world, replica) };
  const at = { clock: clockOf(world), rules: rules.store };
  const idle = { work: { kind: 'idle' }, settles: 0 } as const;
  return question<'published' | 'fenced'>('publishes', () => publish(world.store, request, at), {
    answered: (after, result) =>
      result === 'fenced'
        ? changed(after, replica, { ...idle, isHinted: true })
        : changed(after, replica, { ...idle, held: newest(self.held, made), ...watchesDue(self, after) }),
    unanswered: (after) =>
      changed(after, replica, { ...idle, ...(rules.replica.offersUnconfirmed ? { unconfirmed: made } : {}) }),
  });
}

const newest = (held: Held | undefined, made: Held): Held =>
  held !== undefined && held.generation > made.generation ? held : made;

export function offerQuestion(actor: Actor, made: Unconfirmed): Question {
  const { world, replica, rules } = actor;
  const request = { ...madeOf(actor, made), known: made.known };
  const at = { clock: clockOf(world), rules: rules.store };
  return question<OfferResult>('offers', () => offer(world.store, request, at), {
    answered: (after, { kind, generation, isContested }) => {
      // What was made under a lease is older than anything with a newer fence: only what was made alone can be in
      // doubt.
      const inDoubt = isContested && made.generation % 2 === 1 && rules.replica.settlesContested;
      const { unconfirmed: _offered, ...rest } = after.replicas[replica] ?? actor.self;
      const settles = inDoubt ? generation : rest.settles;
      const next: Replica = {
        ...rest,
        settles,
        ...(kind === 'refused' ? { isHinted: true } : watchesDue(actor.self, after)),
      };
      return { ...after, replicas: after.replicas.map((one, index) => (index === replica ? next : one)) };
    },
    unanswered: (after) => after,
  });
}

export function readQuestion(actor: Actor): Question {
  const { world, replica, self, rules } = actor;
  const known = self.held?.generation ?? 0;
  return question<ReadMerchant>('reads', () => [read(world.store, known, clockOf(world)), world.store], {
    answered: (after, result) => {
      const seat = self.seat === 'none' ? 'open' : self.seat;
      const due = self.work.kind === 'idle' ? watchesDue(self, after) : {};
      // The moment is not the one that it was told to wait for, so it may ask again.
      const hasAsked = self.hasAsked && due.watched === undefined;
      const dueKnown = { isHinted: false, seat, hasAsked, ...due };
      if (result.stored.kind === 'unchanged') return changed(after, replica, dueKnown);
      const stored = generationOf(after.store);
      if (result.stored.kind === 'session' && stored > known) {
        const session = Number(result.stored.identity);
        const times = { created: world.calls[session]?.answeredAt ?? 0, time: world.time, age: result.stored.ageMs };
        const held: Held = { generation: stored, session, answeredAt: rules.replica.answeredAt(times) };
        return changed(after, replica, { ...dueKnown, held, floor: Math.max(self.floor, stored) });
      }
      return changed(after, replica, { ...dueKnown, ...offerOf(actor, stored) });
    },
    unanswered: (after) => after,
  });
}

/** A replica offers the store a session that the store has lost, or never had. */
function offerOf({ self, world, rules }: Actor, stored: number): Partial<Replica> {
  const { held, unconfirmed, work } = self;
  const isOnItsWay = unconfirmed !== undefined || work.kind === 'made';
  if (!isServed(held, world.time) || isOnItsWay || !rules.replica.offersTo(stored, held.generation)) return {};
  return { unconfirmed: { ...held, known: held.generation } };
}

export function releaseQuestion(actor: Actor, fence: number, called: boolean): Question {
  const { world, replica } = actor;
  const lease: Lease = { merchant: 'shop', owner: ownerOf(world, replica), fence, remainingMs: 0, failures: 0 };
  const failure = { kind: 'transient', at: 0 } as unknown as NonNullable<Merchant['failure']>;
  const nextDueInMs = called ? phases.backOff : 0;
  const saysCalled = called && actor.rules.replica.saysThatItCalled;
  const request = { called: saysCalled, nextDueInMs, clock: clockOf(world), ...(called ? { failure } : {}) };
  // A call made alone has asked nothing of the store.
  const idle = { work: { kind: 'idle' }, hasAsked: called && fence % 2 === 0 } as const;
  return question<boolean>('releases', () => release(world.store, lease, request), {
    answered: (after) => changed(after, replica, idle),
    unanswered: (after) => changed(after, replica, idle),
  });
}
