import { type Merchant, type StoreRules, storeRules } from './store-rules.js';

/** One phase is the shortest time that matters: what can be done at once is done before the next one begins. */
export const phases = {
  lease: 2,
  backOff: 1,
  renewAfter: 2,
  margin: 3,
  lifetime: 4,
  coolDown: 1,
  budgetWindow: 4,
  /** No fault begins after this one, and every fault has ended before the next. */
  lastFault: 4,
  horizon: 8,
} as const;

export const CALLS_PER_WINDOW = 3;
/** In one phase. */
export const MILLISECONDS = 10_000;
const RESIDUE_CLASSES = 2_048;

export type FaultKind =
  | 'request lost'
  | 'reply lost'
  | 'announcements lost'
  | 'forged hint'
  | 'refusal'
  | 'silence'
  | 'clock back'
  | 'clock forward'
  | 'failover'
  | 'emptied'
  | 'crash'
  | 'pause'
  | 'gateway down'
  | 'late call';

export interface Fault {
  readonly kind: FaultKind;
  /** It struck while every replica held the store's session and nobody had a lease. */
  readonly isCalm: boolean;
}

/** A create call; the session that it makes is named by its place in the list. */
export interface Call {
  readonly replica: number;
  readonly generation: number;
  readonly isAlone: boolean;
  readonly sentAt: number;
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
  readonly basis: number;
}

export type Work =
  | { readonly kind: 'idle' }
  | { readonly kind: 'claimed'; readonly fence: number; readonly endsAt: number }
  | { readonly kind: 'calling'; readonly call: number; readonly endsAt: number; readonly basis: number }
  | { readonly kind: 'made'; readonly made: Unconfirmed; readonly endsAt: number };

export interface Replica {
  readonly state: 'up' | 'paused' | 'crashed';
  /** A process that starts again is another owner. */
  readonly epoch: number;
  readonly work: Work;
  readonly held?: Held;
  /** The highest generation that it has made, opened or called for. */
  readonly floor: number;
  readonly seat?: number;
  readonly unconfirmed?: Unconfirmed;
  /** Its session was made beside another one, and one newer than this settles which of them counts. */
  readonly settles: number;
  /** There is something to read. */
  readonly isHinted: boolean;
  /** The generation of an announcement that is on its way; 0: none. */
  readonly announced: number;
  /** Its connection for announcements is down. */
  readonly isDeaf: boolean;
  /** It was told to wait, or nothing at all, in this phase. */
  readonly hasAsked: boolean;
  readonly silentSince?: number;
  readonly watched?: { readonly mark: string; readonly until: number };
}

export interface World {
  readonly time: number;
  readonly clockOffset: number;
  readonly store: Merchant;
  /** The store without its last write: what a failover goes back to. */
  readonly lagging?: Merchant;
  /** How many leases were ever granted. */
  readonly grants: number;
  readonly storeState: 'answers' | 'refuses' | 'silent';
  readonly isGatewayDown: boolean;
  readonly calls: readonly Call[];
  /** The session that the gateway takes: a place in `calls`. */
  readonly live: number;
  readonly replicas: readonly Replica[];
  readonly faults: readonly Fault[];
  readonly faultsLeft: number;
  /** Calls that replaced a session which was alive, not due and known to somebody, by their cause. */
  readonly extraCalls: { readonly leased: number; readonly alone: number; readonly settling: number };
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
  /** When the gateway answered, from the session itself and from the age that the store told. */
  readonly answeredAt: (times: { created: number; time: number; age: number }) => number;
  readonly mayCallAt: (time: number, leaseEndsAt: number) => boolean;
}

export interface Rules {
  readonly store: StoreRules;
  readonly replica: ReplicaRules;
  /** What a replica does when the store stays silent beyond its margin. */
  readonly onStoreOutage: 'fail' | 'authorize';
}

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
  aloneGeneration: (floor, seat) => {
    const residue = 2 * seat + 1;
    const least = floor + 1;
    return least + ((((residue - least) % RESIDUE_CLASSES) + RESIDUE_CLASSES) % RESIDUE_CLASSES);
  },
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
 * The store's clock as fences are seeded from it. A phase has many milliseconds, and no two leases are granted in one: two
 * grants of one millisecond, on both sides of a lost write, are beyond what this specification looks at.
 */
export const millisecondsOf = (world: World): number => clockOf(world) * MILLISECONDS + 2 * world.grants;
export const ownerOf = (world: World, replica: number): string => `${replica}.${world.replicas[replica]?.epoch ?? 0}`;

/** By the replica's reckoning the session can still be used. */
export const isServed = (held: Held | undefined, time: number): held is Held =>
  held !== undefined && time < held.answeredAt + phases.lifetime;

export function changed(world: World, replica: number, by: Partial<Replica>): World {
  return { ...world, replicas: world.replicas.map((one, index) => (index === replica ? { ...one, ...by } : one)) };
}

const FIRST_GENERATION = 2;

/** Every replica holds the first session, which is as old as the world. */
export function newWorld(replicas: number, faults: number): World {
  const held: Held = { generation: FIRST_GENERATION, session: 0, answeredAt: 0 };
  const length = phases.renewAfter;
  const due = { mark: 'due:2:0', endsAt: length, length };
  const replica = (seat: number): Replica => ({
    state: 'up',
    epoch: 0,
    work: { kind: 'idle' },
    held,
    floor: FIRST_GENERATION,
    seat,
    settles: 0,
    isHinted: false,
    announced: 0,
    isDeaf: false,
    hasAsked: false,
    watched: { mark: due.mark, until: length },
  });
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
    storeState: 'answers',
    isGatewayDown: false,
    calls: [
      { replica: 0, generation: FIRST_GENERATION, isAlone: false, sentAt: 0, state: 'carried out', answeredAt: 0 },
    ],
    live: 0,
    replicas: Array.from({ length: replicas }, (_, seat) => replica(seat)),
    faults: [],
    faultsLeft: faults,
    extraCalls: { leased: 0, alone: 0, settling: 0 },
  };
}
