/** A key or channel of the store, after the prefix. `{n}` is the number of a shard, `<id>` a merchant. */
interface LayoutKey {
  readonly type: 'hash' | 'sorted set' | 'string' | 'channel';
  readonly holds: string;
}

interface LayoutField {
  readonly holds: string;
  /** The scripts that set it. */
  readonly setBy: readonly string[];
  /** Longer than a name: read separately, and only if it is needed. */
  readonly isText?: true;
}

/** Everything that the store keeps in Redis. A test keeps the tables of docs/redis.md equal to this. */
export const layoutKeys = {
  ':{n}:merchant:<id>': { type: 'hash', holds: 'the truth about a merchant, in the fields below' },
  ':{n}:calls:<id>': {
    type: 'sorted set',
    holds: 'create calls, one member each, for as long as the longest window of the budget looks back',
  },
  ':{n}:due': {
    type: 'sorted set',
    holds: 'due moments of all merchants of shard `n`: an index of the hashes, made anew when it is missing',
  },
  ':{0}:seats': {
    type: 'hash',
    holds: 'numbers 0 to 1023 and the replica that has each: keeps generations apart that are made alone',
  },
  ':announcements': {
    type: 'channel',
    holds: 'hints that a merchant has to be read, requests to write a session again, and the signals of hand-overs',
  },
} as const satisfies Record<string, LayoutKey>;

/**
 * The fields of a merchant's hash. Moments and durations are in ms, by the server's clock. The scripts read them as
 * described in `prelude.lua.ts`: whatever is not as this store writes it counts as absent.
 */
export const merchantFields: Readonly<Record<string, LayoutField>> = {
  fence: { holds: 'the number of the newest lease: the generation that it may publish', setBy: ['claim'] },
  owner: { holds: 'the replica that has the lease', setBy: ['claim'] },
  leaseEndsAt: { holds: 'when the lease ends by itself', setBy: ['claim'] },
  leaseMs: { holds: 'how long the lease was when it was granted', setBy: ['claim'] },
  leaseCools: {
    holds: '1 when the claim began a cool-down, which is taken back if no call was made',
    setBy: ['claim'],
  },
  leaseCall: { holds: 'the member of the calls that stands for the call of this lease', setBy: ['claim'] },
  generation: { holds: 'the generation of the session', setBy: ['publish', 'offer'] },
  sealed: { holds: 'the **sealed** session', setBy: ['publish', 'offer'], isText: true },
  publishedAt: { holds: 'when the gateway had answered with the session', setBy: ['publish', 'offer'] },
  contested: { holds: '1 when another session was made meanwhile, of which its maker did not know', setBy: ['offer'] },
  condemned: { holds: 'the generation that was found dead early, while it was the newest', setBy: ['condemn'] },
  reportedDead: {
    holds:
      'the last report of consumers that a session is dead: generation, moment, what held up a newer one, and for how long',
    setBy: ['report'],
    isText: true,
  },
  failures: { holds: 'failed attempts in a row', setBy: ['release'] },
  failure: { holds: 'the last failure since the last session', setBy: ['release'], isText: true },
  cooledDownAt: { holds: 'when the last cool-down began', setBy: ['claim'] },
  dueAt: { holds: 'when the merchant falls due', setBy: ['claim', 'publish', 'offer', 'release', 'enrol'] },
  dueMs: { holds: 'how long that wait was when it was set', setBy: ['claim', 'publish', 'offer', 'release', 'enrol'] },
  dueFence: {
    holds: 'the fence as it was when the due moment was set; another one there means that only the index is up to date',
    setBy: ['claim', 'publish', 'offer', 'release', 'enrol'],
  },
};

/**
 * What anyone who can read Redis learns, and from which keys and fields. Everything but the session is in the clear.
 */
export const inClear: Readonly<Record<string, readonly string[]>> = {
  'the ids of merchants': [':{n}:merchant:<id>', ':{n}:due', 'sealed'],
  'the thumbprint of the client key under which a session is sealed (`kid`, RFC 7638)': ['sealed'],
  'when sessions are published and fall due, when leases end, and generations, which are moments': [
    'fence',
    'leaseEndsAt',
    'leaseMs',
    'leaseCools',
    'generation',
    'publishedAt',
    'contested',
    'cooledDownAt',
    'dueAt',
    'dueMs',
    'dueFence',
    ':{n}:due',
  ],
  'each create call that a budget still counts: its moment and its replica': [':{n}:calls:<id>', 'leaseCall'],
  'the random ids of replicas, and when each last took its number': [':{0}:seats', 'owner'],
  "the last failure: its kind, moment and code, the bank's or the network's, the HTTP status, and the address that was called":
    ['failures', 'failure'],
  'which sessions were reported or found dead, when, and what held up a newer one': ['condemned', 'reportedDead'],
  'the same as it happens, and how many consumers take part in a hand-over': [':announcements'],
};
