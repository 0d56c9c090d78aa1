import {
  type Actor,
  claimQuestions,
  claimReason,
  offerQuestion,
  publishQuestion,
  type Question,
  readQuestion,
  releaseQuestion,
} from './questions.js';
import { carriedOut, faultSteps, healingSteps, hearing, isHealed, isLiveDue, momentOf, withCall } from './faults.js';
import { generationOf, liveLease, type Merchant } from './store-rules.js';
import {
  type ExtraCalls,
  type Action,
  changed,
  clockOf,
  phases,
  type Call,
  type Held,
  MILLISECONDS,
  type Replica,
  type Rules,
  seated,
  seatsFor,
  type Unconfirmed,
  type World,
} from './world.js';

/** Everything that can happen next. Time passes only when nothing else is left to do, apart from faults. */
export function actionsOf(world: World, rules: Rules): readonly Action[] {
  const work = workOf(world, rules);
  const faults = [...faultSteps(world, rules), ...healingSteps(world, rules)];
  const mayPass =
    work.length === 0 && world.time < phases.horizon && (world.time < phases.lastFault || isHealed(world));
  return [...work, ...faults, ...(mayPass ? [nextPhase(world)] : [])];
}

/** A world never changes, and both the search and the invariants ask for its work. */
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
  const isOut = world.storeState !== 'answers';
  const replicas = world.replicas.map((replica) => {
    return { ...replica, hasAsked: false, letsOthersOffer: isOut && replica.letsOthersOffer };
  });
  return { label: 'time passes', world: { ...world, time: world.time + 1, replicas } };
}

/** The gateway carries out calls in any order, and each new session ends the previous one. */
function gatewaySteps(world: World): readonly Action[] {
  return world.calls.flatMap((call, index) => {
    if (call.state !== 'sent') return [];
    const failed = { ...world, calls: withCall(world, index, { state: 'failed' }) };
    if (world.isGatewayDown) return [{ label: `the gateway fails call ${index}`, world: failed }];
    return [{ label: `the gateway supersedes by call ${index}`, world: carriedOut(world, index) }];
  });
}

function replicaSteps(world: World, replica: number, rules: Rules): readonly Action[] {
  const self = world.replicas[replica];
  if (self?.state !== 'up') return [];
  const actor: Actor = { world, replica, self, rules };
  const asked = questionsOf(actor).flatMap((question) => answersTo(question, actor));
  const alone = mayCreateAlone(actor) ? seatsFor(world, self.seat).map((seat) => createsAlone(actor, seat)) : [];
  return [...workSteps(actor), ...asked, ...alone];
}

/** What a replica does without the store: makes the call, and takes the answer. */
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
    known: work.known,
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

function calls(actor: Actor, { generation, endsAt, isAlone }: NewCall): Action {
  const { world, replica, self } = actor;
  const reason = claimReason(actor);
  const at = { sentAt: world.time, grantedAt: endsAt - phases.lease, answeredAt: world.time };
  const call: Call = { generation, isAlone, state: 'sent', ...at };
  const known = isAlone ? self.floor : generation;
  const after = changed(world, replica, {
    work: { kind: 'calling', call: world.calls.length, endsAt, known },
    floor: Math.max(self.floor, generation),
  });
  const extraCalls = isAlone || isNeeded(world) ? world.extraCalls : counted(world, kindOf(self, reason));
  const label = `${replica} calls ${isAlone ? 'alone ' : ''}for ${generation}`;
  return { label, world: { ...after, calls: [...world.calls, call], extraCalls } };
}

/** A call is needed if the live session is due, and no other call is about to end it. */
const isNeeded = (world: World): boolean => isLiveDue(world) && world.calls.every(({ state }) => state !== 'sent');

function kindOf({ work }: Replica, reason: ReturnType<typeof claimReason>): keyof ExtraCalls {
  if (reason === 'settles') return 'settling';
  if (reason === 'rejection') return 'reported';
  return work.kind === 'claimed' && work.isBesideAlone ? 'besideAlone' : 'leased';
}

function counted({ extraCalls }: World, kind: keyof ExtraCalls): ExtraCalls {
  return { ...extraCalls, [kind]: extraCalls[kind] + 1 };
}

/** Only a lasting silence lets a replica create alone, from the margin on, once, and only with a seat. */
function mayCreateAlone({ world, self, rules }: Actor): boolean {
  if (rules.onStoreOutage === 'fail' || self.work.kind !== 'idle' || self.unconfirmed !== undefined) return false;
  const isLasting = self.silentSince !== undefined && self.silentSince < world.time;
  if (!isLasting || self.seat === 'none') return false;
  return self.held === undefined || world.time >= self.held.answeredAt + phases.margin;
}

function createsAlone(actor: Actor, seat: number): Action {
  const { self, rules, world, replica } = actor;
  const generation = rules.replica.aloneGeneration(Math.max(self.floor, world.time * MILLISECONDS), seat);
  const after = { ...actor, world: seated(world, replica, seat) };
  return calls(after, { generation, endsAt: world.time + phases.lease, isAlone: true });
}

/** What a replica asks the store next; once per phase while it gets no answer. */
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
  return mayClaim(actor) ? claimQuestions(actor) : [];
}

/** A replica that the gateway has refused, or may have refused, waits for no other. */
function mayClaim(actor: Actor): boolean {
  const { work, hasAsked, unconfirmed } = actor.self;
  if (work.kind !== 'idle' || hasAsked || unconfirmed !== undefined) return false;
  const reason = claimReason(actor);
  return reason !== undefined && (reason === 'rejection' || reason === 'settles' || !waitsForOthers(actor));
}

/** Reading and offering take only a moment; calls and stopped processes are not waited for. */
function waitsForOthers({ world, replica, self, rules }: Actor): boolean {
  if (!self.letsOthersOffer || !rules.replica.letsOthersOffer || world.storeState !== 'answers') return false;
  return world.replicas.some(
    ({ state, isHinted, unconfirmed, work }, at) =>
      at !== replica && state === 'up' && (isHinted || unconfirmed !== undefined || work.kind === 'made'),
  );
}

/** The answer, or what becomes of the question if the store refuses or is silent, or if a message is lost. */
function answersTo(question: Question, { world: before, ...actor }: Actor): readonly Action[] {
  const { replica, rules } = actor;
  const world = question.begun?.(before) ?? before;
  const label = `${replica} ${question.name}`;
  if (world.storeState !== 'answers') {
    const silent = rules.replica.takesForSilence(world.storeState);
    const silentSince = silent ? (actor.self.silentSince ?? world.time) : undefined;
    const unanswered = changed(question.unanswered(world), replica, { hasAsked: true, letsOthersOffer: true });
    const noted = silentSince === undefined ? unanswered : changed(unanswered, replica, { silentSince });
    return [{ label: `${label}, the store ${world.storeState}`, world: noted }];
  }
  const [store, answered] = question.ask();
  const applied = written(world, store, rules);
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
      faults: [...world.faults, { kind, into: momentOf(world) }],
      faultsLeft: world.faultsLeft - 1,
    },
  });
  return [lost(world, 'request lost'), ...(applied === world ? [] : [lost(applied, 'reply lost')])];
}

/** The world with another store, which announces a new session to everyone. */
function written(world: World, store: Merchant, rules: Rules): World {
  if (store === world.store) return world;
  const generation = generationOf(store);
  const isNew = generation !== generationOf(world.store);
  const replicas = isNew ? world.replicas.map((one) => hearing(one, generation, rules)) : world.replicas;
  const { lagging: _older, ...rest } = world;
  const isGrant = store.lease !== undefined && store.lease.end.mark !== world.store.lease?.end.mark;
  const grants = world.grants + (isGrant ? 1 : 0);
  return { ...rest, store, grants, replicas, ...(world.faultsLeft > 0 ? { lagging: world.store } : {}) };
}
