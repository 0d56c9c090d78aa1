import { type Clock, instantFromEpochMs } from '#libs/clock';
import {
  type Merchant,
  type Now,
  type RecordedFailure,
  type SessionSettings,
  StoreClock,
  unknownMerchant,
} from '#libs/session';
import { someSettings } from '#libs/testing';
import { type Answer, MERCHANT, type Question, type StoreClockReading, type StoreState } from './store-state.js';

/** One phase is the shortest time that matters: everything that can be done at once is done before the next begins. */
export const PHASE_MS = 10_000;
/** In phases. */
export const phases = { lease: 2, renewAfter: 2, margin: 3, lifetime: 4, start: 1, lastFault: 4, horizon: 8 } as const;
/** When the world begins, by everybody's clock. */
const EPOCH_MS = Date.parse('2026-01-01T00:00:00.000Z');

export const settings: SessionSettings = someSettings({
  // A lease is five seconds longer than a hand-over and a call.
  gatewayTimeoutMs: 5_000,
  handoverMs: phases.lease * PHASE_MS - 10_000,
  renewBefore: { kind: 'duration', durationMs: (phases.lifetime - phases.renewAfter) * PHASE_MS },
  safetyMargin: { kind: 'duration', durationMs: (phases.lifetime - phases.margin) * PHASE_MS },
  fallbackLifetimeMs: phases.lifetime * PHASE_MS,
  foreignAuthorizerPauseMs: PHASE_MS,
  // Either of the two can be the one that refuses.
  budget: [
    { calls: 3, perMs: 2 * PHASE_MS },
    { calls: 4, perMs: 4 * PHASE_MS },
  ],
});

export const faultKinds = [
  'request lost',
  'reply lost',
  'reply late',
  'announcements lost',
  'forged hint',
  'refusal',
  'silence',
  'clock back',
  'clock forward',
  'failover',
  'emptied',
  'crash',
  'pause',
  'wall clock',
  'gateway down',
  'late call',
  'session ended',
] as const;

export type FaultKind = (typeof faultKinds)[number];

/**
 * What a fault strikes into: a lease under which a call may still be made or carried out; a session that was made but
 * has not yet reached the store and everyone; or rest.
 */
export type Moment = 'lease' | 'news' | 'rest';

export interface Fault {
  readonly kind: FaultKind;
  readonly into: Moment;
}

/** A create call; the session that it makes is named by its place in the list. */
export interface Call {
  readonly generation: number;
  /** By the caller's wall clock. */
  readonly sentWallMs: number;
  /** Of the claim: this is what the budget counts. */
  readonly grantedAtMs: number;
  readonly isEarly: boolean;
  readonly state: 'sent' | 'carried out' | 'failed' | 'late' | 'dropped';
  /** True time: the gateway's. */
  readonly madeAtMs: number;
}

/** A question to the store that has not been answered yet, as far as the replica knows. */
export interface Asked {
  readonly question: Question;
  readonly askedAtMs: number;
  /** What was known of a failure when a read began. */
  readonly failureBefore: RecordedFailure | undefined;
  /** It is on its way, and late. */
  readonly answer?: Answer;
  /** The phase in which it was asked in vain. */
  readonly triedAt?: number;
}

/** What answers of the store showed of its clock and ours, as far as it was news. */
interface Noted {
  readonly storeMs: number | undefined;
  readonly ms: number;
  readonly wallMs: number;
}

interface Rejected {
  readonly generation: number;
  readonly attempts: number;
  /** What holds its next wish up: the store's judgement of the death, or what the store has. */
  readonly waitsFor: 'judgement' | 'read' | 'wish';
}

/** One process: the record of its merchant, and what its driver has under way. */
export interface Replica {
  readonly state: 'up' | 'paused' | 'crashed';
  /** A process that starts again is a different owner. */
  readonly epoch: number;
  readonly merchant: Merchant;
  readonly asked: readonly Asked[];
  /** Its consumers are asked to hold their calls. */
  readonly isHandingOver: boolean;
  /** Its create call. */
  readonly call?: number;
  readonly wantsRead: boolean;
  /** Enrolled and read since the store last failed. */
  readonly isSynced: boolean;
  /** The store has failed it, and not only by losing a message. */
  readonly wasLeftAlone: boolean;
  /** It has just come to the store: any other that has something to tell it goes first. */
  readonly letsOthersOffer: boolean;
  /** In this phase it was told to wait, or got no answer at all. */
  readonly hasAsked: boolean;
  /** So were its readers. */
  readonly hasDemanded: boolean;
  /** What its consumers have reported in this phase. */
  readonly reportedUpTo: number;
  /** Its connection for announcements is down. */
  readonly isDeaf: boolean;
  readonly wallOffsetMs: number;
  readonly noted: readonly Noted[];
  /** A consumer waits for something newer than this. */
  readonly rejected?: Rejected;
}

/** Create calls that were not due: `reported` because a consumer found its session dead. */
export type ExtraCalls = Readonly<Record<'leased' | 'reported', number>>;

export interface World {
  /** In phases. */
  readonly time: number;
  readonly clockOffset: number;
  readonly store: StoreState;
  /** The store without its last write: what a failover goes back to. */
  readonly lagging?: { readonly store: StoreState } | undefined;
  /** How many leases were ever granted. */
  readonly grants: number;
  readonly storeState: 'answers' | 'refuses' | 'silent';
  readonly isGatewayDown: boolean;
  readonly calls: readonly Call[];
  /** The session that the gateway accepts, a place in `calls`; -1 if it has ended the last one itself. */
  readonly live: number;
  readonly replicas: readonly Replica[];
  readonly faults: readonly Fault[];
  readonly faultsLeft: number;
  readonly extraCalls: ExtraCalls;
}

/** One thing that happens, and the world after it. */
export interface Action {
  readonly label: string;
  readonly world: World;
  /** It neither looks at anything that another replica can change, nor changes anything that another looks at. */
  readonly isLocal?: true;
}

export const msOf = ({ time }: Pick<World, 'time'>): number => EPOCH_MS + time * PHASE_MS;
export const clockOf = (world: World): number => msOf(world) + world.clockOffset * PHASE_MS;
export const readingOf = (world: World): StoreClockReading => ({ ms: clockOf(world), grants: world.grants });
export const ownerOf = (world: World, at: number): string => `${at}.${world.replicas[at]?.epoch ?? 0}`;
/** The sessions of this world are named by the call that made them. */
export const callOf = (authToken: string): number => Number(authToken);

export function changed(world: World, at: number, by: Partial<Replica>): World {
  return { ...world, replicas: world.replicas.map((one, index) => (index === at ? { ...one, ...by } : one)) };
}

/** The replica's own judge of clocks, as what it was told has made it. */
export function storeClockOf({ noted, wallOffsetMs }: Replica, nowMs: number): StoreClock {
  let [ms, wallMs] = [noted[0]?.ms ?? nowMs, noted[0]?.wallMs ?? nowMs + wallOffsetMs];
  const clock: Clock = {
    now: () => instantFromEpochMs(wallMs),
    monotonicMs: () => ms,
    schedule: () => ({ cancel: () => undefined }),
  };
  const storeClock = new StoreClock(clock);
  for (const one of noted) {
    [ms, wallMs] = [one.ms, one.wallMs];
    if (one.storeMs === undefined) storeClock.believeMonotonic();
    else storeClock.note(instantFromEpochMs(one.storeMs), ms);
  }
  [ms, wallMs] = [nowMs, nowMs + wallOffsetMs];
  return storeClock;
}

/** Notes what an answer shows; nothing if it shows what the last one did. */
export function noting(noted: readonly Noted[], one: Noted): readonly Noted[] {
  const last = noted.at(-1);
  const isSame = (left: number | undefined, right: number | undefined): boolean =>
    (left ?? NaN) - (last?.ms ?? 0) === (right ?? NaN) - one.ms;
  if (last === undefined) return one.storeMs === undefined ? noted : [one];
  const saysTheSame = one.storeMs === undefined || isSame(last.storeMs, one.storeMs);
  return saysTheSame && isSame(last.wallMs, one.wallMs) ? noted : [...noted, one];
}

export function nowOf(world: World, at: number): Now {
  const ms = msOf(world);
  const replica = world.replicas[at];
  const wallOffsetMs = replica?.wallOffsetMs ?? 0;
  const hasSteadyWall = replica?.noted.every((one) => one.wallMs - one.ms === wallOffsetMs) ?? true;
  return {
    ms,
    wall: instantFromEpochMs(ms + wallOffsetMs),
    suspectMs: hasSteadyWall || replica === undefined ? 0 : storeClockOf(replica, ms).suspectMs,
    chance: 0,
    settings,
    graceMs: replica?.letsOthersOffer === true ? 1_500 : 0,
    isStoreDown: false,
    isStopping: false,
  };
}

/** A process that has just started. */
export function freshReplica(epoch: number, wallOffsetMs: number): Replica {
  return {
    state: 'crashed',
    epoch,
    merchant: unknownMerchant(MERCHANT),
    asked: [],
    isHandingOver: false,
    wantsRead: false,
    isSynced: false,
    wasLeftAlone: false,
    letsOthersOffer: true,
    hasAsked: false,
    hasDemanded: false,
    reportedUpTo: 0,
    isDeaf: false,
    wallOffsetMs,
    noted: [],
  };
}
