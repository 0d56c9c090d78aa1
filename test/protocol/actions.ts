import { knownOf } from '#libs/session';
import { answered, asks, callAnswered, feed, isAsking, isUnstored, ownSteps, unanswered, without } from './driver.js';
import { askStore, endOf, type StoreState } from './store-state.js';
import {
  type Action,
  type Asked,
  type Call,
  changed,
  clockOf,
  type Fault,
  type FaultKind,
  freshReplica,
  type Moment,
  msOf,
  phases,
  readingOf,
  type Replica,
  type World,
} from './world.js';

/** In phases. */
const CLOCK_JUMP = 100;
const WALL_JUMP_MS = 3_600_000;
/** An implausible number, as anyone who can write to the channel could send it. */
export const FORGED_GENERATION = 9e15;

/** Everything that can happen next. */
export function actionsOf(world: World): readonly Action[] {
  const work = workOf(world);
  const faults = [...faultSteps(world), ...healingSteps(world)];
  const mayPass =
    work.length === 0 && world.time < phases.horizon && (world.time < phases.lastFault || isHealed(world));
  return [...work, ...faults, ...(mayPass ? [nextPhase(world)] : [])];
}

/** Once no fault can come any more and all are over, things happen in one order: the first that can. */
function workOf(world: World): readonly Action[] {
  const steps = world.replicas.map((_, at) => replicaSteps(world, at));
  // Whatever else happens, before or after, comes to the same: only faults can come in between.
  const alone = steps.find((own) => own.length > 0 && own.every(({ isLocal }) => isLocal));
  if (alone !== undefined) return alone;
  const work = [...steps.flat(), ...gatewaySteps(world)];
  return world.time > phases.lastFault ? work.slice(0, 1) : work;
}

/** A world never changes, and several promises ask. */
const knownQuiet = new WeakMap<World, boolean>();

/** Everything that can be done at once is done, and all faults are over. */
export function isQuiet(world: World): boolean {
  const isBusy = world.replicas.some(
    ({ asked, call, wantsRead }) => wantsRead || call !== undefined || asked.length > 0,
  );
  if (isBusy || !isHealed(world)) return false;
  const known = knownQuiet.get(world) ?? workOf(world).length === 0;
  knownQuiet.set(world, known);
  return known;
}

export function isHealed(world: World): boolean {
  const areUp = world.replicas.every(({ state, isDeaf }) => state === 'up' && !isDeaf);
  const areOver = world.calls.every(({ state }) => state !== 'late');
  return areUp && areOver && world.storeState === 'answers' && !world.isGatewayDown;
}

function nextPhase(world: World): Action {
  const isOut = world.storeState !== 'answers';
  const replicas = world.replicas.map((replica) => ({
    ...replica,
    hasAsked: false,
    hasDemanded: false,
    reportedUpTo: 0,
    letsOthersOffer: (isOut || !replica.isSynced) && replica.letsOthersOffer,
  }));
  const next: World = { ...world, time: world.time + 1, replicas };
  // Whether another could have struck makes no difference any more.
  const faultless = next.time < phases.lastFault ? next : { ...next, faultsLeft: 0, lagging: undefined };
  return { label: 'time passes', world: awake(faultless) };
}

/** The timers whose time has come ring. */
function awake(world: World): World {
  return world.replicas.reduce((after, { state, merchant }, at) => {
    return state === 'up' && merchant.wakeAtMs <= msOf(world) ? feed(after, at, { on: 'wake' }) : after;
  }, world);
}

// ---- The gateway

/** It carries out calls in any order, and each new session ends the previous one. */
function gatewaySteps(world: World): readonly Action[] {
  return world.calls.flatMap((call, index) => {
    if (call.state !== 'sent') return [];
    const failed = { ...world, calls: withCall(world, index, { state: 'failed' }) };
    if (world.isGatewayDown) return [{ label: `the gateway fails call ${index}`, world: failed }];
    return [{ label: `the gateway makes session ${index}`, world: carriedOut(world, index) }];
  });
}

const withCall = (world: World, index: number, by: Partial<Call>): readonly Call[] =>
  world.calls.map((call, at) => (at === index ? { ...call, ...by } : call));

function carriedOut(world: World, index: number): World {
  return { ...world, calls: withCall(world, index, { state: 'carried out', madeAtMs: msOf(world) }), live: index };
}

function callSteps(world: World, at: number, { call, merchant: { phase } }: Replica): readonly Action[] {
  if (call === undefined) return [];
  const { state } = world.calls[call] as Call;
  const gets = (what: 'created' | 'timeout' | 'transient'): Action => ({
    label: `${at} gets ${what} of call ${call}`,
    world: callAnswered(world, at, what),
    isLocal: true,
  });
  if (state === 'failed') return [gets('transient')];
  if (state === 'late' || state === 'dropped') return [gets('timeout')];
  if (state !== 'carried out') return [];
  // After a pause, its own timer and the answer may come in either order.
  const isLate = phase.at === 'calling' && phase.endsAtMs <= msOf(world);
  return isLate ? [gets('created'), gets('timeout')] : [gets('created')];
}

// ---- Replicas and the store

function replicaSteps(world: World, at: number): readonly Action[] {
  const replica = world.replicas[at];
  if (replica === undefined || replica.state === 'crashed') return [];
  if (replica.state === 'paused') return [];
  return [
    ...callSteps(world, at, replica),
    ...onTheWire(replica).flatMap((asked) => answersTo(world, at, asked)),
    ...readsOf(world, at, replica),
    ...ownSteps(world, at),
    ...graceOf(world, at, replica),
  ];
}

/** A connection keeps its order: one question after the other reaches the store, while answers may be late. */
function onTheWire({ asked }: Replica): readonly Asked[] {
  const first = asked.find(({ answer }) => answer === undefined);
  return asked.filter((one) => one === first || one.answer !== undefined);
}

function readsOf(
  world: World,
  at: number,
  { wantsRead, hasAsked, isSynced, merchant, asked: before }: Replica,
): readonly Action[] {
  const isOut = world.storeState !== 'answers';
  // What is about to be read as a whole is not read beside it.
  if (!wantsRead || isAsking(before) || (isOut ? hasAsked : !isSynced && !hasAsked)) return [];
  const asking = asks(changed(world, at, { wantsRead: false }), at, {
    question: { ask: 'read', known: knownOf(merchant) },
  });
  const asked = asking.replicas[at]?.asked.at(-1);
  return asked === undefined ? [] : answersTo(asking, at, asked);
}

/** Reading and offering take only a moment; calls and stopped processes are not waited for. */
function graceOf(world: World, at: number, { letsOthersOffer, isSynced }: Replica): readonly Action[] {
  if (!letsOthersOffer || !isSynced || world.storeState !== 'answers') return [];
  const isHeard = world.replicas.every((other, index) => {
    const isBusy = other.wantsRead || isUnstored(other) || other.asked.length > 0;
    return index === at || other.state !== 'up' || !isBusy;
  });
  if (!isHeard) return [];
  return [{ label: `${at} has heard the others`, world: changed(world, at, { letsOthersOffer: false }) }];
}

/** The answer, or what becomes of the question if the store refuses or is silent, or if a message is lost. */
function answersTo(world: World, at: number, asked: Asked): readonly Action[] {
  const { question, answer: late, triedAt } = asked;
  const rest = without(world, at, asked);
  if (late !== undefined)
    return [
      {
        label: `${at} gets the answer to ${question.ask}`,
        world: answered(rest, at, { ...asked, answer: late }),
        isLocal: true,
      },
    ];
  const label = `${at} asks ${question.ask}`;
  if (world.storeState !== 'answers') {
    if (triedAt === world.time) return [];
    return [{ label: `${label}, the store ${world.storeState}`, world: unanswered(rest, at, asked), isLocal: true }];
  }
  const { answer, store, told } = askStore(world.store, question, readingOf(world));
  const applied = written(rest, store, told);
  const done: Action = {
    label: `${label}: ${shown(answer.result)}`,
    world: answered(applied, at, { ...asked, answer }),
  };
  if (!mayStrike(world)) return [done];
  const lost = (after: World, kind: FaultKind): Action => ({
    label: `${label}, ${kind}`,
    world: struck(world, kind, after),
  });
  const later = { ...asked, answer };
  const waiting = changed(applied, at, { asked: [...(applied.replicas[at]?.asked ?? []), later] });
  const isWrite = store !== world.store;
  return [
    done,
    lost(waiting, 'reply late'),
    lost(unanswered(rest, at, asked), 'request lost'),
    ...(isWrite ? [lost(unanswered(applied, at, asked), 'reply lost')] : []),
  ];
}

function shown(result: unknown): string {
  if (typeof result !== 'object' || result === null) return String(result);
  if ('kind' in result) return String(result.kind);
  return 'stored' in result ? (result.stored as { kind: string }).kind : '';
}

/** The world with another store, which tells everyone what it has to tell. */
function written(world: World, store: StoreState, told: { readonly generation?: number } | undefined): World {
  if (store === world.store) return world;
  const lagging = world.faultsLeft > 0 ? { store: world.store } : undefined;
  const isGrant = store?.fence !== world.store?.fence;
  const after: World = { ...world, store, lagging, grants: world.grants + (isGrant ? 1 : 0) };
  return told === undefined
    ? after
    : after.replicas.reduce((heard, _, at) => hearing(heard, at, told.generation), after);
}

function hearing(world: World, at: number, generation: number | undefined): World {
  const replica = world.replicas[at];
  if (replica === undefined || replica.state === 'crashed' || replica.isDeaf) return world;
  // It hears of it when it goes on.
  if (replica.state === 'paused') return changed(world, at, { wantsRead: true });
  return feed(world, at, { on: 'heard', generation });
}

// ---- Faults

const mayStrike = (world: World): boolean => world.faultsLeft > 0 && world.time < phases.lastFault;

export function momentOf(world: World): Moment {
  const { replicas, calls, store } = world;
  const isOpen = (call: number | undefined): boolean => call !== undefined && calls[call]?.state !== 'carried out';
  const { lease, stored: kept } = store ?? {};
  const isLeased = lease !== undefined && endOf(lease.end) > clockOf(world);
  const mayCall = replicas.some(
    ({ merchant: { phase }, state, call }) =>
      state !== 'crashed' && (['claiming', 'handing_over'].includes(phase.at) || isOpen(call)),
  );
  if (isLeased || mayCall || calls.some(({ state }) => state === 'sent')) return 'lease';
  const stored = kept?.session.generation ?? 0;
  const areEven = replicas.every(
    ({ merchant: { held, phase } }) => held?.session.generation === stored && phase.at === 'idle',
  );
  return areEven ? 'rest' : 'news';
}

function struck(before: World, kind: FaultKind, world: World): World {
  const fault: Fault = { kind, into: momentOf(before) };
  const replicas = world.replicas.map((one) => (one.hasAsked ? { ...one, hasAsked: false } : one));
  return { ...world, replicas, faults: [...before.faults, fault], faultsLeft: before.faultsLeft - 1 };
}

/** Every fault that can strike now. Lost messages are handled with the questions that they belong to. */
function faultSteps(world: World): readonly Action[] {
  if (!mayStrike(world)) return [];
  return [
    ...storeFaults(world),
    ...gatewayFaults(world),
    ...world.replicas.flatMap((_, at) => replicaFaults(world, at)),
  ];
}

const action = (before: World, kind: FaultKind, world: World): Action => ({
  label: `FAULT ${kind}`,
  world: struck(before, kind, world),
});

/** Every replica that is connected hears that hints may have been lost. */
function gap(world: World): World {
  const replicas = world.replicas.map((one) => (one.state === 'crashed' ? one : { ...one, wantsRead: true }));
  return { ...world, replicas };
}

function storeFaults(world: World): readonly Action[] {
  const { lagging } = world;
  const outage = (storeState: 'silent' | 'refuses'): World => ({ ...world, storeState });
  return [
    action(world, 'emptied', gap({ ...world, store: undefined, lagging: undefined })),
    ...(lagging === undefined
      ? []
      : [action(world, 'failover', gap({ ...world, store: lagging.store, lagging: undefined }))]),
    ...(world.storeState === 'answers'
      ? [action(world, 'silence', outage('silent')), action(world, 'refusal', outage('refuses'))]
      : []),
    action(world, 'clock back', { ...world, clockOffset: world.clockOffset - CLOCK_JUMP }),
    action(world, 'clock forward', { ...world, clockOffset: world.clockOffset + CLOCK_JUMP }),
  ];
}

function gatewayFaults(world: World): readonly Action[] {
  const late = world.calls.flatMap((call, index) => {
    if (call.state !== 'sent') return [];
    return [action(world, 'late call', { ...world, calls: withCall(world, index, { state: 'late' }) })];
  });
  return [
    ...(world.isGatewayDown ? [] : [action(world, 'gateway down', { ...world, isGatewayDown: true })]),
    ...(world.live < 0 ? [] : [action(world, 'session ended', { ...world, live: -1 })]),
    ...late,
  ];
}

function replicaFaults(world: World, at: number): readonly Action[] {
  const replica = world.replicas[at];
  if (replica?.state !== 'up') return [];
  const named = (kind: FaultKind, after: World, how = ''): Action => ({
    label: `FAULT ${kind} of ${at}${how}`,
    world: struck(world, kind, after),
  });
  const fresh = freshReplica(replica.epoch + 1, replica.wallOffsetMs);
  const crashed = (after: World): World => ({
    ...after,
    replicas: after.replicas.map((one, index) => (index === at ? fresh : one)),
  });
  const mayBeAnswered = isAsking(replica.asked) && world.storeState === 'answers';
  const wall = (byMs: number): World => changed(world, at, { wallOffsetMs: replica.wallOffsetMs + byMs });
  return [
    named('crash', crashed(world)),
    ...(mayBeAnswered ? [named('crash', crashed(allApplied(world, at)), ', its questions answered')] : []),
    // What it has asked has left it.
    named('pause', changed(mayBeAnswered ? allApplied(world, at) : world, at, { state: 'paused' })),
    named('forged hint', hearing(world, at, FORGED_GENERATION)),
    named('wall clock', wall(WALL_JUMP_MS), ', forward'),
    named('wall clock', wall(-WALL_JUMP_MS), ', back'),
    ...(replica.isDeaf ? [] : [named('announcements lost', changed(world, at, { isDeaf: true }))]),
  ];
}

/** What it has asked was done, and its answers wait. */
function allApplied(world: World, at: number): World {
  const open = world.replicas[at]?.asked.filter(({ answer }) => answer === undefined) ?? [];
  return open.reduce((after, asked) => {
    const { answer, store, told } = askStore(after.store, asked.question, readingOf(after));
    const applied = written(without(after, at, asked), store, told);
    return changed(applied, at, { asked: [...(applied.replicas[at]?.asked ?? []), { ...asked, answer }] });
  }, world);
}

/** What was asked in an earlier phase: its adapter's time is up, whether or not the store has done it. */
function givenUp(world: World, at: number): World {
  const old = world.replicas[at]?.asked.filter(({ askedAtMs }) => askedAtMs < msOf(world)) ?? [];
  return old.reduce<World>((after, asked) => unanswered(without(after, at, asked), at, asked), world);
}

/** Every way in which a lasting fault can end. */
function healingSteps(world: World): readonly Action[] {
  const store = world.storeState === 'answers' ? [] : [{ label: 'the store answers again', world: answering(world) }];
  const gateway = world.isGatewayDown
    ? [{ label: 'the gateway is up', world: { ...world, isGatewayDown: false } }]
    : [];
  return [...store, ...gateway, ...lateCalls(world), ...world.replicas.flatMap((_, at) => replicaHeals(world, at))];
}

function answering(world: World): World {
  const answers = gap({ ...world, storeState: 'answers' });
  const replicas = answers.replicas.map((one) => ({
    ...one,
    hasAsked: false,
    asked: one.asked.map(({ triedAt: _past, ...asked }) => asked),
  }));
  return replicas.reduce<World>((after, { state }, at) => (state === 'up' ? givenUp(after, at) : after), {
    ...answers,
    replicas,
  });
}

function lateCalls(world: World): readonly Action[] {
  return world.calls.flatMap((call, index) => {
    if (call.state !== 'late') return [];
    const dropped = { ...world, calls: withCall(world, index, { state: 'dropped' }) };
    return [
      { label: `the gateway makes session ${index}, late`, world: carriedOut(world, index) },
      { label: `the gateway drops call ${index}`, world: dropped },
    ];
  });
}

function replicaHeals(world: World, at: number): readonly Action[] {
  const replica = world.replicas[at];
  if (replica?.state === 'crashed') {
    return [{ label: `${at} starts again`, world: changed(world, at, { state: 'up' }) }];
  }
  if (replica?.state === 'paused') {
    return [{ label: `${at} goes on`, world: awake(givenUp(changed(world, at, { state: 'up' }), at)) }];
  }
  if (replica?.isDeaf !== true) return [];
  return [{ label: `${at} hears again`, world: changed(world, at, { isDeaf: false, wantsRead: true }) }];
}
