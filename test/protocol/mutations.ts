import { generationOf, type StoreRules } from './store-rules.js';
import { type FaultKind, type ReplicaRules, type Rules, rulesWith } from './world.js';

/** A mistake in one rule, and the invariant that it breaks first. */
export interface Mutation {
  readonly mistake: string;
  readonly breaks: string;
  readonly rules: Rules;
  readonly faults: number;
  readonly kinds?: readonly FaultKind[];
}

interface Wrong {
  readonly store?: Partial<StoreRules>;
  readonly replica?: Partial<ReplicaRules>;
  readonly onStoreOutage?: Rules['onStoreOutage'];
  readonly faults?: number;
  readonly kinds?: readonly FaultKind[];
}

function mutation(mistake: string, breaks: string, wrong: Wrong): Mutation {
  const right = rulesWith(wrong.onStoreOutage ?? 'fail');
  const rules: Rules = {
    ...right,
    store: { ...right.store, ...wrong.store },
    replica: { ...right.replica, ...wrong.replica },
  };
  const kinds = wrong.kinds === undefined ? {} : { kinds: wrong.kinds };
  return { mistake, breaks, rules, faults: wrong.faults ?? 1, ...kinds };
}

export const mutations: readonly Mutation[] = [
  mutation('the own lease is granted again at or below the floor', 'a granted fence is the highest', {
    store: { isSpent: () => false },
    faults: 2,
    kinds: ['gateway down', 'request lost'],
  }),
  mutation('a publication ignores the fence', 'generations and fences grow', {
    store: { mayPublish: () => true },
  }),
  mutation('an offer ignores the fence', 'generations and fences grow', {
    store: { mayTakeOffer: (merchant, generation) => generation > generationOf(merchant) },
    onStoreOutage: 'authorize',
  }),
  mutation('an offer frees the lease of somebody else', 'one lease at a time', {
    store: { offerFrees: () => true },
    onStoreOutage: 'authorize',
  }),
  mutation('fences are even and odd', 'even under a lease, odd alone', {
    store: { nextFence: (highestKnown, clock) => Math.max(highestKnown + 1, clock + 1) },
  }),
  mutation('what was watched stand for its length still holds', 'renewed in time', {
    replica: { namesWhatItWatched: false },
  }),
  mutation('an announcement sets what is seen', 'a hint sets nothing', {
    replica: { floorAfterHint: Math.max },
  }),
  mutation('lost hints are never followed', 'all agree in the end', {
    replica: { readsAfterGap: false },
    kinds: ['announcements lost'],
  }),
  mutation('an announcement is not read', 'all agree in the end', { replica: { keepsHint: () => false } }),
  mutation('a call that was made is given back', 'the budget holds', { replica: { saysThatItCalled: false } }),
  mutation('an emptied store is not offered to', 'all agree in the end', {
    replica: { offersTo: (stored, held) => stored > 0 && held > stored },
  }),
  mutation('the floor is always 0', 'a granted fence is the highest', {
    replica: { floorOf: () => 0 },
    faults: 2,
    kinds: ['clock back', 'emptied'],
  }),
  mutation('a session is served only when it is published', 'the maker serves what it made', {
    replica: { adoptsBeforePublishing: false },
  }),
  mutation('the age of a stored session is ignored', 'none expired', { replica: { answeredAt: ({ time }) => time } }),
  mutation('a call goes out after the end of its lease', 'one lease at a time', { replica: { mayCallAt: () => true } }),
  mutation('a refusal is taken for silence', 'only silence lets a replica create alone', {
    replica: { takesForSilence: (state) => state !== 'answers' },
    onStoreOutage: 'authorize',
  }),
  mutation('every replica draws its generations alone from the same numbers', 'a generation names one session', {
    replica: { aloneGeneration: (floor) => floor + 1 + (floor % 2) },
    onStoreOutage: 'authorize',
  }),
  mutation('the floor of a claim is not a number of the seat', 'one call per fence', {
    replica: { floorOfSeat: (floor) => floor },
    faults: 2,
    kinds: ['clock back', 'emptied'],
  }),
  mutation('nobody waits for what others have to offer after an outage', 'few extra calls', {
    replica: { letsOthersOffer: false },
    onStoreOutage: 'authorize',
  }),
  mutation('two sessions made beside each other are left in doubt', 'few extra calls', {
    replica: { settlesContested: false },
    onStoreOutage: 'authorize',
  }),
];
