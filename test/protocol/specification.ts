import {
  type Actor,
  claimQuestion,
  claimReason,
  offerQuestion,
  publishQuestion,
  type Question,
  readQuestion,
  releaseQuestion,
} from './questions.js';
import { faultSteps, healingSteps, isHealed } from './faults.js';
import { generationOf, liveLease, type Merchant } from './store-rules.js';
import {
  type Action,
  changed,
  clockOf,
  phases,
  type Call,
  type Held,
  MILLISECONDS,
  type Replica,
  type Rules,
  type Unconfirmed,
  type World,
} from './world.js';

/** Everything that can happen next. Time passes only when nothing else is left to do, faults aside. */
export function actionsOf(world: World, rules: Rules): readonly Action[] {
  const work = workOf(world, rules);
  const faults = [...faultSteps(world, rules), ...healingSteps(world, rules)];
  const mayPass =
    work.length === 0 && world.time < phases.horizon && (world.time < phases.lastFault || isHealed(world));
  return [...work, ...faults, ...(mayPass ? [nextPhase(world)] : [])];
}

/** A world never changes, and is asked for its work by the search and by the invariants. */
const knownWork = new WeakMap<World, readonly Action[]>();

function workOf(world: World, rules: Rules): readonly Action[] {
  const known = knownWork.get(world);
  if (known !== undefined) return known;
  const steps = world.replicas.flatMap((_, replica) => replicaSteps(world, replica, rules));
  const work = [...steps, ...gatewaySteps(world)];
  knownWork.set(world, work);
  return work;
}

/** Everything that can be done at once is done, all faults are over, and nobody has a lease. */
export function isQuiet(world: World, rules: Rules): boolean {
  if (!isHealed(world) || liveLease(world.store, clockOf(world)) !== undefined) return false;
  return workOf(world, rules).length === 0;
}

function nextPhase(world: World): Action {
  const replicas = world.replicas.map((replica) => ({ ...replica, hasAsked: false }));
  return { label: 'time passes', world: { ...world, time: world.time + 1, replicas } };
}

/** The gateway carries calls out in any order, and each new session ends the one before it. */
function gatewaySteps(world: World): readonly Action[] {
  return world.calls.flatMap((call, index) => {
    if (call.state !== 'sent') return [];
    const failed = { ...world, calls: withCall(world, index, { state: 'failed' }) };
    if (world.isGatewayDown) return [{ label: `the gateway fails call ${index}`, world: failed }];
    return [{ label: `the gateway supersedes by call ${index}`, world: carriedOut(world, index) }];
  });
}

export const withCall = (world: World, index: number, by: Partial<Call>): readonly Call[] =>
  world.calls.map((call, at) => (at === index ? { ...call, ...by } : call));

export const carriedOut = (world: World, index: number): World => ({
  ...world,
  calls: withCall(world, index, { state: 'carried out', answeredAt: world.time }),
  live: index,
});

function replicaSteps(world: World, replica: number, rules: Rules): readonly Action[] {
  const self = world.replicas[replica];
  if (self?.state !== 'up') return [];
  const actor: Actor = { world, replica, self, rules };
  const asked = questionsOf(actor).flatMap((question) => answersTo(question, actor));
  const alone = mayCreateAlone(actor) ? [createsAlone(actor)] : [];
  return [...hears(actor), ...workSteps(actor), ...asked, ...alone];
}

function hears({ world, replica, self, rules }: Actor): readonly Action[] {
  if (self.announced === 0 || self.isDeaf) return [];
  const isHinted = self.isHinted || rules.replica.keepsHint(self);
  const floor = rules.replica.floorAfterHint(self.floor, self.announced);
  return [
    {
      label: `${replica} hears of ${self.announced}`,
      world: changed(world, replica, { announced: 0, isHinted, floor }),
    },
  ];
}

/** What a replica does without the store: call, and take the answer. */
function workSteps(actor: Actor): readonly Action[] {
  const { world, replica, self, rules } = actor;
  const { work } = self;
  if (work.kind === 'claimed' && rules.replica.mayCallAt(world.time, work.endsAt)) {
    return [calls(actor, { generation: work.fence, endsAt: work.endsAt, isAlone: false })];
  }
  if (work.kind !== 'calling') return [];
  const call = world.calls[work.call];
  if (call?.state !== 'carried out') return [];
  const made: Unconfirmed = {
    generation: call.generation,
    session: work.call,
    answeredAt: call.answeredAt,
    basis: work.basis,
  };
  const isNewest = self.held === undefined || self.held.generation < made.generation;
  const serves = isNewest && (call.isAlone || rules.replica.adoptsBeforePublishing) ? { held: heldOf(made) } : {};
  const next: Partial<Replica> = call.isAlone
    ? { work: { kind: 'idle' }, unconfirmed: made }
    : { work: { kind: 'made', made, endsAt: work.endsAt } };
  return [
    { label: `${replica} gets session ${made.generation}`, world: changed(world, replica, { ...serves, ...next }) },
  ];
}

const heldOf = ({ generation, session, answeredAt }: Held): Held => ({ generation, session, answeredAt });

interface NewCall {
  readonly generation: number;
  readonly endsAt: number;
  readonly isAlone: boolean;
}

function calls({ world, replica, self }: Actor, { generation, endsAt, isAlone }: NewCall): Action {
  const call: Call = { replica, generation, isAlone, sentAt: world.time, state: 'sent', answeredAt: world.time };
  const basis = isAlone ? self.floor : generation;
  const after = changed(world, replica, {
    work: { kind: 'calling', call: world.calls.length, endsAt, basis },
    floor: Math.max(self.floor, generation),
  });
  const extraCalls = isNeeded(world) ? world.extraCalls : counted(world, isAlone, self.settles > 0);
  const label = `${replica} calls ${isAlone ? 'alone ' : ''}for ${generation}`;
  return { label, world: { ...after, calls: [...world.calls, call], extraCalls } };
}

/** A call is needed when the live session is due, and no other call is about to end it. */
function isNeeded({ live, calls: sent, time }: World): boolean {
  const answeredAt = sent[live]?.answeredAt ?? 0;
  return time >= answeredAt + phases.renewAfter && sent.every(({ state }) => state !== 'sent');
}

function counted({ extraCalls }: World, isAlone: boolean, settles: boolean): World['extraCalls'] {
  if (isAlone) return { ...extraCalls, alone: extraCalls.alone + 1 };
  if (settles) return { ...extraCalls, settling: extraCalls.settling + 1 };
  return { ...extraCalls, leased: extraCalls.leased + 1 };
}

/** Only a lasting silence lets a replica create alone, from the margin on, once, and only with a seat. */
function mayCreateAlone({ world, self, rules }: Actor): boolean {
  if (rules.onStoreOutage === 'fail' || self.work.kind !== 'idle' || self.unconfirmed !== undefined) return false;
  const isLasting = self.silentSince !== undefined && self.silentSince < world.time;
  if (!isLasting || self.seat === undefined) return false;
  return self.held === undefined || world.time >= self.held.answeredAt + phases.margin;
}

function createsAlone(actor: Actor): Action {
  const { self, rules, world } = actor;
  const generation = rules.replica.aloneGeneration(Math.max(self.floor, world.time * MILLISECONDS), self.seat ?? 0);
  return calls(actor, { generation, endsAt: world.time + phases.lease, isAlone: true });
}

/** What a replica asks the store next; once in a phase while it gets no answer. */
function questionsOf(actor: Actor): readonly Question[] {
  const { world, self } = actor;
  if (world.storeState !== 'answers' && self.hasAsked && self.work.kind !== 'made') return [];
  const reads = self.isHinted ? [readQuestion(actor)] : [];
  const offers = self.unconfirmed === undefined ? [] : [offerQuestion(actor, self.unconfirmed)];
  return [...reads, ...offers, ...workQuestions(actor)];
}

function workQuestions(actor: Actor): readonly Question[] {
  const { world, self, rules } = actor;
  const { work } = self;
  if (work.kind === 'made') return [publishQuestion(actor, work.made)];
  if (work.kind === 'claimed' && !rules.replica.mayCallAt(world.time, work.endsAt)) {
    return [releaseQuestion(actor, work.fence, false)];
  }
  if (work.kind === 'calling') {
    const call = world.calls[work.call];
    const isOver = call !== undefined && call.state !== 'sent' && call.state !== 'carried out';
    return isOver ? [releaseQuestion(actor, call.generation, true)] : [];
  }
  const wants = work.kind === 'idle' && !self.hasAsked && self.unconfirmed === undefined;
  return wants && claimReason(actor) !== undefined ? [claimQuestion(actor)] : [];
}

/** The answer, or what becomes of the question while the store refuses or is silent, or when a message is lost. */
function answersTo(question: Question, actor: Actor): readonly Action[] {
  const { world, replica, rules } = actor;
  const label = `${replica} ${question.name}`;
  if (world.storeState !== 'answers') {
    const silent = rules.replica.takesForSilence(world.storeState);
    const silentSince = silent ? (actor.self.silentSince ?? world.time) : undefined;
    const unanswered = changed(question.unanswered(world), replica, { hasAsked: true });
    const noted = silentSince === undefined ? unanswered : changed(unanswered, replica, { silentSince });
    return [{ label: `${label}, the store ${world.storeState}`, world: noted }];
  }
  const [store, answered] = question.ask();
  const applied = written(world, store);
  const answer: Action = { label, world: answered(applied) };
  if (world.faultsLeft === 0) return [answer];
  return [answer, ...lostMessages(question, { world, applied, label })];
}

function lostMessages(
  question: Question,
  { world, applied, label }: { world: World; applied: World; label: string },
): readonly Action[] {
  if (question.name === 'reads' || world.time >= phases.lastFault) return [];
  const lost = (after: World, kind: 'request lost' | 'reply lost'): Action => ({
    label: `${label}, ${kind}`,
    world: {
      ...question.unanswered(after),
      faults: [...world.faults, { kind, isCalm: false }],
      faultsLeft: world.faultsLeft - 1,
    },
  });
  return [lost(world, 'request lost'), ...(applied === world ? [] : [lost(applied, 'reply lost')])];
}

/** The world with another store, which announces a new session to everybody. */
function written(world: World, store: Merchant): World {
  if (store === world.store) return world;
  const generation = generationOf(store);
  const isNew = generation !== generationOf(world.store);
  const replicas = isNew
    ? world.replicas.map((one) => (one.state === 'crashed' || one.isDeaf ? one : { ...one, announced: generation }))
    : world.replicas;
  const { lagging: _older, ...rest } = world;
  const isGrant = store.lease !== undefined && store.lease.end.mark !== world.store.lease?.end.mark;
  const grants = world.grants + (isGrant ? 1 : 0);
  return { ...rest, store, grants, replicas, ...(world.faultsLeft > 0 ? { lagging: world.store } : {}) };
}
