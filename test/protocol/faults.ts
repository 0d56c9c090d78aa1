import { enrol, generationOf, liveLease, unknownMerchant } from './store-rules.js';
import {
  type Action,
  type Call,
  changed,
  clockOf,
  type FaultKind,
  type Moment,
  type Replica,
  phases,
  type Rules,
  type World,
} from './world.js';

const CLOCK_JUMP = 100;
/** An implausible number, as anyone who can write to the channel could send it. */
const FORGED_GENERATION = 1_000_000;

export function momentOf(world: World): Moment {
  const { replicas, calls, store } = world;
  const mayCall = replicas.some(
    ({ work, state }) =>
      state !== 'crashed' &&
      (work.kind === 'claimed' || (work.kind === 'calling' && calls[work.call]?.state !== 'carried out')),
  );
  if (mayCall || liveLease(store, clockOf(world)) !== undefined) return 'lease';
  const stored = generationOf(store);
  return replicas.every(({ held, work }) => held?.generation === stored && work.kind === 'idle') ? 'rest' : 'news';
}

export function isHealed(world: World): boolean {
  const replicas = world.replicas.every(({ state, isDeaf }) => state === 'up' && !isDeaf);
  const calls = world.calls.every(({ state }) => state !== 'late');
  return replicas && calls && world.storeState === 'answers' && !world.isGatewayDown;
}

/** Every fault that can strike now. Lost messages are handled with the questions that they belong to. */
export function faultSteps(world: World, rules: Rules): readonly Action[] {
  if (world.faultsLeft === 0 || world.time >= phases.lastFault) return [];
  return [
    ...storeFaults(world, rules),
    ...gatewayFaults(world),
    ...world.replicas.flatMap((_, at) => replicaFaults(world, at, rules)),
  ];
}

const struck = (before: World, kind: FaultKind, world: World): World => ({
  ...world,
  faults: [...before.faults, { kind, into: momentOf(before) }],
  faultsLeft: before.faultsLeft - 1,
});

/** Every replica that was connected hears that hints may have been lost. */
function gap(world: World, rules: Rules): World {
  const replicas = world.replicas.map((replica) => (replica.state === 'crashed' ? replica : toldOfGap(replica, rules)));
  return { ...world, replicas };
}

function toldOfGap(replica: Replica, rules: Rules): Replica {
  return { ...replica, isHinted: replica.isHinted || rules.replica.readsAfterGap };
}

/** What an announcement of a new session does to a replica: it has something to read. */
export function hearing(replica: Replica, generation: number, rules: Rules): Replica {
  if (replica.state === 'crashed' || replica.isDeaf) return replica;
  const isHinted = replica.isHinted || rules.replica.keepsHint(replica);
  return { ...replica, isHinted, floor: rules.replica.floorAfterHint(replica.floor, generation) };
}

function storeFaults(world: World, rules: Rules): readonly Action[] {
  const emptied = { ...world, store: enrol(unknownMerchant, clockOf(world)) };
  const { lagging, ...current } = world;
  const failedOver =
    lagging === undefined ? [] : [action(world, 'failover', gap({ ...current, store: lagging }, rules))];
  const outage = (storeState: 'silent' | 'refuses'): World => ({ ...world, storeState });
  return [
    action(world, 'emptied', gap(emptied, rules)),
    ...failedOver,
    ...(world.storeState === 'answers'
      ? [action(world, 'silence', outage('silent')), action(world, 'refusal', outage('refuses'))]
      : []),
    action(world, 'clock back', { ...world, clockOffset: world.clockOffset - CLOCK_JUMP }),
    action(world, 'clock forward', { ...world, clockOffset: world.clockOffset + CLOCK_JUMP }),
  ];
}

const action = (before: World, kind: FaultKind, world: World): Action => ({
  label: `FAULT ${kind}`,
  world: struck(before, kind, world),
});

function gatewayFaults(world: World): readonly Action[] {
  const down = world.isGatewayDown ? [] : [action(world, 'gateway down', { ...world, isGatewayDown: true })];
  const late = world.calls.flatMap((call, index) => {
    if (call.state !== 'sent') return [];
    return [action(world, 'late call', { ...world, calls: withCall(world, index, { state: 'late' }) })];
  });
  return [...down, ...late];
}

function replicaFaults(world: World, at: number, rules: Rules): readonly Action[] {
  const replica = world.replicas[at];
  if (replica?.state !== 'up') return [];
  const named = (kind: FaultKind, after: World): Action => ({
    label: `FAULT ${kind} of ${at}`,
    world: struck(world, kind, after),
  });
  const deaf = replica.isDeaf ? [] : [named('announcements lost', changed(world, at, { isDeaf: true }))];
  return [
    named('crash', crashed(world, at)),
    named('pause', changed(world, at, { state: 'paused' })),
    named('forged hint', changed(world, at, hearing(replica, FORGED_GENERATION, rules))),
    ...deaf,
  ];
}

/** Nothing is left of it but the next process, which is a different owner and knows nothing. */
function crashed(world: World, at: number): World {
  const epoch = (world.replicas[at]?.epoch ?? 0) + 1;
  const empty: Replica = {
    state: 'crashed',
    epoch,
    work: { kind: 'idle' },
    floor: 0,
    seat: 'none',
    settles: 0,
    isHinted: true,
    isDeaf: false,
    hasAsked: false,
    letsOthersOffer: true,
  };
  return { ...world, replicas: world.replicas.map((replica, index) => (index === at ? empty : replica)) };
}

/** Every way in which a lasting fault can end. */
export function healingSteps(world: World, rules: Rules): readonly Action[] {
  const store =
    world.storeState === 'answers' ? [] : [{ label: 'the store answers again', world: answering(world, rules) }];
  const gateway = world.isGatewayDown
    ? [{ label: 'the gateway is up', world: { ...world, isGatewayDown: false } }]
    : [];
  return [
    ...store,
    ...gateway,
    ...lateCalls(world),
    ...world.replicas.flatMap((_, at) => replicaHeals(world, at, rules)),
  ];
}

function answering(world: World, rules: Rules): World {
  const answers = gap({ ...world, storeState: 'answers' }, rules);
  const replicas = answers.replicas.map(({ silentSince: _over, ...replica }) => ({ ...replica, hasAsked: false }));
  return { ...answers, replicas };
}

export const withCall = (world: World, index: number, by: Partial<Call>): readonly Call[] =>
  world.calls.map((call, at) => (at === index ? { ...call, ...by } : call));

export const isLiveDue = ({ live, calls, time }: World): boolean =>
  time >= (calls[live]?.answeredAt ?? 0) + phases.renewAfter;

/** A session made alone was made beside the one that it ended, if that was not due. */
export function carriedOut(world: World, index: number): World {
  const calls = withCall(world, index, { state: 'carried out', answeredAt: world.time });
  const isBeside = world.calls[index]?.isAlone === true && !isLiveDue(world);
  const { extraCalls } = world;
  return { ...world, calls, live: index, extraCalls: { ...extraCalls, alone: extraCalls.alone + (isBeside ? 1 : 0) } };
}

function lateCalls(world: World): readonly Action[] {
  return world.calls.flatMap((call, index) => {
    if (call.state !== 'late') return [];
    return [
      { label: `the gateway carries out call ${index}, late`, world: carriedOut(world, index) },
      {
        label: `the gateway drops call ${index}`,
        world: { ...world, calls: withCall(world, index, { state: 'dropped' }) },
      },
    ];
  });
}

function replicaHeals(world: World, at: number, rules: Rules): readonly Action[] {
  const replica = world.replicas[at];
  if (replica?.state === 'crashed')
    return [{ label: `${at} starts again`, world: changed(world, at, { state: 'up' }) }];
  if (replica?.state === 'paused') return [{ label: `${at} goes on`, world: changed(world, at, { state: 'up' }) }];
  if (replica?.isDeaf !== true) return [];
  const isHinted = replica.isHinted || rules.replica.readsAfterGap;
  return [{ label: `${at} hears again`, world: changed(world, at, { isDeaf: false, isHinted }) }];
}
