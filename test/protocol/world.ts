import type { CreateCallBudget } from '#libs/session';
import { type Merchant, type StoreRules, storeRules } from './store-rules.js';

/**
 * One phase is the shortest time that matters: everything that can be done at once is done before the next one begins.
 */
export const phases = {
  lease: 2,
  backOff: 1,
  renewAfter: 2,
  margin: 3,
  lifetime: 4,
  coolDown: 1,
  /** No fault begins after this one, and every fault has ended before the next. */
  lastFault: 4,
  horizon: 8,
} as const;

/** Either of the two windows can be the one that refuses. */
export const budget: CreateCallBudget = [
  { calls: 2, perMs: 2 },
  { calls: 3, perMs: 4 },
];
/** Per phase. */
export const MILLISECONDS = 10_000;
const SEATS = 1_024;

export const faultKinds = [
  'request lost',
  'reply lost',
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
  'gateway down',
  'late call',
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
  readonly isAlone: boolean;
  readonly sentAt: number;
  /** When its lease was granted and the call was charged to the budget: at most the length of a lease earlier. */
  readonly grantedAt: number;
  readonly state: 'sent' | 'carried out' | 'failed' | 'late' | 'dropped';
  readonly answeredAt: number;
}

export interface Held {
  readonly generation: number;
  readonly session: number;
  /** By this replica's reckoning, from which it judges renewal, margin and end. */
  readonly answeredAt: number;
}

/** A session that its maker has to bring to the store. */
export interface Unconfirmed extends Held {
  readonly known: number;
}

export type Work =
  | { readonly kind: 'idle' }
  | { readonly kind: 'claimed'; readonly isBesideAlone: boolean; readonly fence: number; readonly endsAt: number }
  | { readonly kind: 'calling'; readonly call: number; readonly endsAt: number; readonly known: number }
  | { readonly kind: 'made'; readonly made: Unconfirmed; readonly endsAt: number };

/**
 * Nothing depends on which seat a replica has except the order of numbers drawn by seat. So the seat is left open until
 * the first such number is drawn, and then each order of seats is tried: replicas stay alike for as long as possible.
 */
export type Seat = number | 'open' | 'none';

export interface Replica {
  readonly state: 'up' | 'paused' | 'crashed';
  /** A process that starts again is a different owner. */
  readonly epoch: number;
  readonly work: Work;
  readonly held?: Held;
  /** The highest generation that it has made, opened or called for. */
  readonly floor: number;
  /**
   * Keeps its numbers apart from those of others; a process has none before it has been answered for the first time.
   */
  readonly seat: Seat;
  readonly unconfirmed?: Unconfirmed;
  /** Its session was made beside another one, and one newer than this settles which of them counts. */
  readonly settles: number;
  /** There is something to read. An announcement on its way is no different from a read that has not begun. */
  readonly isHinted: boolean;
  /** Its connection for announcements is down. */
  readonly isDeaf: boolean;
  /** In this phase it was told to wait, or got no answer at all. */
  readonly hasAsked: boolean;
  /** It has just come to the store: any other that has something to tell it goes first. */
  readonly letsOthersOffer: boolean;
  readonly silentSince?: number;
  readonly watched?: { readonly mark: string; readonly until: number };
}

/**
 * Create calls that were not due. `alone`: without a lease, beside another one; `besideAlone`: under a lease, while
 * some replica had made a session without one, or was about to, and nobody could know; `settling`: nobody knew which of
 * two sessions lives; `reported`: a consumer found its session dead; `leased`: all others.
 */
export type ExtraCalls = Readonly<Record<'leased' | 'alone' | 'besideAlone' | 'settling' | 'reported', number>>;

export interface World {
  readonly time: number;
  readonly clockOffset: number;
  readonly store: Merchant;
  /** The store without its last write: what a failover goes back to. */
  readonly lagging?: Merchant;
  /** How many leases were ever granted. */
  readonly grants: number;
  /** The seats that are known, including those of dead processes, in order. */
  readonly seats: readonly number[];
  readonly storeState: 'answers' | 'refuses' | 'silent';
  readonly isGatewayDown: boolean;
  readonly calls: readonly Call[];
  /** The session that the gateway accepts: a place in `calls`. */
  readonly live: number;
  readonly replicas: readonly Replica[];
  readonly faults: readonly Fault[];
  readonly faultsLeft: number;
  /** Calls that replaced a session which was alive, not due and known to some replica, by cause. */
  readonly extraCalls: ExtraCalls;
}

/** One thing that happens, and the world after it. */
export interface Action {
  readonly label: string;
  readonly world: World;
}

/** What a replica decides for itself, one by one, so that each decision can be broken on purpose. */
export interface ReplicaRules {
  readonly floorOf: (replica: Replica) => number;
  /** What a replica has seen, after an announcement of `generation`. */
  readonly floorAfterHint: (floor: number, generation: number) => number;
  readonly keepsHint: (replica: Replica) => boolean;
  readonly readsAfterGap: boolean;
  readonly offersTo: (stored: number, held: number) => boolean;
  readonly offersUnconfirmed: boolean;
  readonly adoptsBeforePublishing: boolean;
  readonly namesWhatItWatched: boolean;
  readonly saysThatItCalled: boolean;
  readonly takesForSilence: (state: World['storeState']) => boolean;
  readonly settlesContested: boolean;
  readonly aloneGeneration: (floor: number, seat: number) => number;
  /** What a claim gives as its floor, so that a fence derived from it is one of the seat's own. */
  readonly floorOfSeat: (floor: number, seat: number) => number;
  readonly letsOthersOffer: boolean;
  /** When the gateway answered, from the session itself and from the age that the store reported. */
  readonly answeredAt: (times: { created: number; time: number; age: number }) => number;
  readonly mayCallAt: (time: number, leaseEndsAt: number) => boolean;
}

export interface Rules {
  readonly store: StoreRules;
  readonly replica: ReplicaRules;
  /** What a replica does if the store stays silent beyond its margin. */
  readonly onStoreOutage: 'fail' | 'authorize';
}

/** Every seat owns one number in this many, of either kind. */
const STEP = 2 * SEATS;

function firstAbove(above: number, residue: number): number {
  const least = above + 1;
  return least + ((((residue - least) % STEP) + STEP) % STEP);
}

/** A fence seeded from a clock at or beyond this is the same for every seat. */
export const beyondSeats = (floor: number): number => floor + STEP + 2;

export const replicaRules: ReplicaRules = {
  floorOf: ({ floor }) => floor,
  floorAfterHint: (floor) => floor,
  keepsHint: () => true,
  readsAfterGap: true,
  offersTo: (stored, held) => held > stored,
  offersUnconfirmed: true,
  adoptsBeforePublishing: true,
  namesWhatItWatched: true,
  saysThatItCalled: true,
  takesForSilence: (state) => state === 'silent',
  settlesContested: true,
  aloneGeneration: (floor, seat) => firstAbove(floor, 2 * seat + 1),
  floorOfSeat: (floor, seat) => firstAbove(floor, 2 * seat) - 1,
  letsOthersOffer: true,
  answeredAt: ({ created, time, age }) => Math.min(created, time - age),
  mayCallAt: (time, leaseEndsAt) => time < leaseEndsAt,
};

export const rulesWith = (onStoreOutage: Rules['onStoreOutage']): Rules => ({
  store: storeRules,
  replica: replicaRules,
  onStoreOutage,
});

export const clockOf = ({ time, clockOffset }: World): number => time + clockOffset;
/**
 * The store's clock as fences are seeded from it. A phase has many milliseconds, and no two leases are granted in the
 * same one: two grants in one millisecond, on either side of a lost write, are beyond this specification.
 */
export const millisecondsOf = (world: World): number => clockOf(world) * MILLISECONDS + 2 * world.grants;
export const ownerOf = (world: World, replica: number): string => `${replica}.${world.replicas[replica]?.epoch ?? 0}`;

/** By the replica's reckoning the session can still be used. */
export const isServed = (held: Held | undefined, time: number): held is Held =>
  held !== undefined && time < held.answeredAt + phases.lifetime;

/** Seats for a replica without one that counts yet: one before, between or after each of those that are known. */
export function seatsFor({ seats }: World, seat: Seat): readonly number[] {
  if (typeof seat === 'number') return [seat];
  const bounds = [-1, ...seats, SEATS];
  return bounds.slice(1).map((above, at) => Math.floor(((bounds[at] ?? 0) + above) / 2));
}

/** The world in which the replica has this seat. */
export function seated(world: World, replica: number, seat: number): World {
  if (world.seats.includes(seat)) return world;
  const seats = [...world.seats, seat].sort((a, b) => a - b);
  return { ...changed(world, replica, { seat }), seats };
}

export function changed(world: World, replica: number, by: Partial<Replica>): World {
  return { ...world, replicas: world.replicas.map((one, index) => (index === replica ? { ...one, ...by } : one)) };
}

const FIRST_GENERATION = 2;

/** Every replica holds the first session, which is as old as the world. */
export function newWorld(replicas: number, faults: number): World {
  const held: Held = { generation: FIRST_GENERATION, session: 0, answeredAt: 0 };
  const length = phases.renewAfter;
  const due = { mark: 'due:2:0', endsAt: length, length };
  const replica: Replica = {
    state: 'up',
    epoch: 0,
    work: { kind: 'idle' },
    held,
    floor: FIRST_GENERATION,
    seat: 'open',
    settles: 0,
    isHinted: false,
    isDeaf: false,
    hasAsked: false,
    letsOthersOffer: false,
    watched: { mark: due.mark, until: length },
  };
  return {
    time: 0,
    clockOffset: 0,
    store: {
      fence: FIRST_GENERATION,
      session: { generation: FIRST_GENERATION, identity: '0', answeredAt: 0, isContested: false },
      due,
      failures: 0,
      calls: [0],
    },
    grants: 2,
    seats: [],
    storeState: 'answers',
    isGatewayDown: false,
    calls: [
      { generation: FIRST_GENERATION, isAlone: false, sentAt: 0, grantedAt: 0, state: 'carried out', answeredAt: 0 },
    ],
    live: 0,
    replicas: Array.from({ length: replicas }, () => replica),
    faults: [],
    faultsLeft: faults,
    extraCalls: { leased: 0, alone: 0, besideAlone: 0, settling: 0, reported: 0 },
  };
}
