import type {
  DeathReport,
  ClaimRequest,
  ClaimResult,
  Lease,
  LeaseRelease,
  OfferResult,
  RecordedFailure,
  StoredState,
} from '#libs/session';

/** A moment of the store: its end by the store's clock, and how far ahead that was when it was set. */
export interface Moment {
  readonly mark: string;
  readonly endsAt: number;
  readonly length: number;
}

export interface GrantedLease {
  readonly owner: string;
  readonly fence: number;
  readonly end: Moment;
  readonly coolsDown: boolean;
  /** When the call of this lease was charged to the budget. */
  readonly calledAt: number;
}

export interface KeptSession {
  readonly generation: number;
  /** Distinguishes two sessions, whatever their generations. */
  readonly identity: string;
  readonly answeredAt: number;
  readonly isContested: boolean;
}

/** All that a store keeps of one merchant. Every moment is by the store's own clock. */
export interface Merchant {
  /** The highest fence that was granted, published or offered. */
  readonly fence: number;
  readonly lease?: GrantedLease;
  readonly session?: KeptSession;
  readonly due?: Moment;
  readonly failures: number;
  readonly failure?: RecordedFailure;
  /** The generation that was condemned. */
  readonly condemned?: number;
  readonly reportedDead?: { readonly report: DeathReport; readonly at: number };
  readonly cooledDown?: { readonly mark: string; readonly from: number };
  /** When each create call was charged to the budget, in that order. */
  readonly calls: readonly number[];
}

export const unknownMerchant: Merchant = { fence: 0, failures: 0, calls: [] };

/** A session as an operation carries it. */
export interface Made {
  readonly generation: number;
  readonly identity: string;
  readonly age: number;
  readonly nextDueIn: number;
}

/** The result of an operation and the merchant after it. */
export type Step<Result> = readonly [Result, Merchant];

/** The decisions that the protocol rests on, one by one, so that each can be broken on purpose. */
export interface StoreRules {
  readonly nextFence: (highestKnown: number, clock: number) => number;
  readonly isSpent: (lease: GrantedLease, floor: number) => boolean;
  readonly mayPublish: (merchant: Merchant, fence: number) => boolean;
  readonly mayTakeOffer: (merchant: Merchant, generation: number) => boolean;
  readonly offerFrees: (lease: GrantedLease, generation: number) => boolean;
  readonly isOver: (moment: Moment, clock: number, watched?: string) => boolean;
}

export const generationOf = (merchant: Merchant): number => merchant.session?.generation ?? 0;

/** Never more than the length for which the moment was set, however the clock was moved. */
export const remaining = ({ endsAt, length }: Moment, clock: number): number =>
  Math.max(0, Math.min(endsAt - clock, length));

export const storeRules: StoreRules = {
  // Even under a lease, odd alone.
  nextFence: (highestKnown, clock) => {
    const least = Math.max(highestKnown + 1, Math.floor(clock));
    return least + (least % 2);
  },
  isSpent: (lease, floor) => lease.fence <= floor,
  mayPublish: (merchant, fence) => fence >= merchant.fence && fence > generationOf(merchant),
  mayTakeOffer: (merchant, generation) => generation >= merchant.fence && generation > generationOf(merchant),
  offerFrees: (lease, generation) => lease.fence === generation,
  isOver: (moment, clock, watched) => moment.mark === watched || remaining(moment, clock) === 0,
};

export const liveLease = ({ lease }: Merchant, clock: number): GrantedLease | undefined =>
  lease !== undefined && remaining(lease.end, clock) > 0 ? lease : undefined;

type Asked = ClaimRequest & { readonly clock: number; readonly rules: StoreRules };

const waitFor = (moment: Moment, { clock }: Asked): { retryInMs: number; mark: string } => ({
  retryInMs: remaining(moment, clock),
  mark: moment.mark,
});

/** In this order, the first that answers counts; if none does, the budget decides. */
const claimChecks: readonly ((merchant: Merchant, asked: Asked) => ClaimResult | undefined)[] = [
  function alreadyNewer(merchant, { newerThan }) {
    const generation = generationOf(merchant);
    return generation > newerThan ? { kind: 'already_newer', generation } : undefined;
  },
  function leased(merchant, asked) {
    const lease = liveLease(merchant, asked.clock);
    if (lease === undefined) return undefined;
    if (lease.owner === asked.owner) {
      if (asked.rules.isSpent(lease, asked.floor)) return undefined;
      return { kind: 'claimed', lease: asLease(merchant, asked, lease) };
    }
    return asked.watched === lease.end.mark ? undefined : { kind: 'held', ...waitFor(lease.end, asked) };
  },
  function waiting({ due, failures }, asked) {
    if (due === undefined || asked.rules.isOver(due, asked.clock, asked.watched)) return undefined;
    if (asked.mode === 'when_due') return { kind: 'not_due', ...waitFor(due, asked) };
    const backsOff = failures > 0 && asked.ignoresBackOff !== true;
    return backsOff ? { kind: 'backing_off', ...waitFor(due, asked) } : undefined;
  },
  function coolingDown({ cooledDown }, asked) {
    if (cooledDown === undefined || asked.coolDownMs <= 0) return undefined;
    const { mark, from } = cooledDown;
    const end: Moment = { mark, endsAt: from + asked.coolDownMs, length: asked.coolDownMs };
    return asked.rules.isOver(end, asked.clock, asked.watched)
      ? undefined
      : { kind: 'cooled_down', ...waitFor(end, asked) };
  },
];

/** Each window on its own; of those that refuse, the one that refuses for longest. */
function budgetSpent({ calls }: Merchant, { clock, budget }: Asked): ClaimResult | undefined {
  let refusal: ClaimResult | undefined;
  let longest = 0;
  for (const { calls: allowed, perMs } of budget) {
    const leavesLast = calls[calls.length - Math.max(1, allowed)];
    if (leavesLast === undefined || leavesLast + perMs - clock <= longest) continue;
    longest = leavesLast + perMs - clock;
    refusal = { kind: 'budget_exhausted', retryInMs: longest, mark: `call:${leavesLast}:${perMs}`, perMs };
  }
  return refusal;
}

/**
 * With only the calls that the longest window counts. Those in the future were made before the clock was set back: they
 * count from now on.
 */
function withCallsThatCount(merchant: Merchant, { clock, budget }: Asked): Merchant {
  const { lease, calls } = merchant;
  const longest = Math.max(...budget.map(({ perMs }) => perMs));
  const counting = calls.filter((at) => at + longest > clock);
  if (counting.length === calls.length && calls.every((at) => at <= clock)) return merchant;
  const counted = { ...merchant, calls: counting.map((at) => Math.min(at, clock)) };
  return lease === undefined ? counted : { ...counted, lease: { ...lease, calledAt: Math.min(lease.calledAt, clock) } };
}

function asLease(merchant: Merchant, asked: Asked, { fence, end }: GrantedLease): Lease {
  const remainingMs = remaining(end, asked.clock);
  return { merchant: asked.merchant, owner: asked.owner, fence, remainingMs, failures: merchant.failures };
}

/** The clock that fences are seeded from, or what a store under test granted if its clock is not known. */
export interface FenceSeed {
  readonly wall: number;
  readonly fence?: number | undefined;
}

/** Grants the lease or says why not. */
export function claim(merchant: Merchant, asked: Asked, seed: FenceSeed): Step<ClaimResult> {
  for (const check of claimChecks) {
    const answer = check(merchant, asked);
    if (answer !== undefined) return [answer, merchant];
  }
  const counted = withCallsThatCount(merchant, asked);
  const refusal = budgetSpent(counted, asked);
  return refusal === undefined ? grant(counted, asked, seed) : [refusal, counted];
}

function grant(merchant: Merchant, asked: Asked, seed: FenceSeed): Step<ClaimResult> {
  const { owner, clock, leaseMs, floor } = asked;
  const known = Math.max(merchant.fence, generationOf(merchant), floor);
  const fence = seed.fence ?? asked.rules.nextFence(known, seed.wall);
  const end: Moment = { mark: `lease:${fence}:${clock}`, endsAt: clock + leaseMs, length: leaseMs };
  const coolsDown = asked.coolDownMs > 0;
  const lease: GrantedLease = { owner, fence, end, coolsDown, calledAt: clock };
  const cooledDown = coolsDown ? { cooledDown: { mark: `cool:${fence}:${clock}`, from: clock } } : {};
  const next: Merchant = { ...merchant, fence, lease, due: end, calls: [...merchant.calls, clock], ...cooledDown };
  return [{ kind: 'claimed', lease: asLease(next, asked, lease) }, next];
}

function withSession(merchant: Merchant, made: Made & { clock: number; isContested: boolean }): Merchant {
  const { generation, identity, age, clock, isContested } = made;
  const session = { generation, identity, answeredAt: clock - age, isContested };
  return { ...merchant, fence: generation, session };
}

/** No failure counts any more, and the next due moment is set. */
function fallsDue(merchant: Merchant, { nextDueIn, generation }: Made, clock: number): Merchant {
  const { failure: _cleared, ...rest } = merchant;
  const mark = `due:${generation}:${clock}`;
  return { ...rest, failures: 0, due: { mark, endsAt: clock + nextDueIn, length: nextDueIn } };
}

function withoutLease({ lease: _freed, ...merchant }: Merchant): Merchant {
  return merchant;
}

export function publish(
  merchant: Merchant,
  made: Made & { readonly owner: string },
  { clock, rules }: { clock: number; rules: StoreRules },
): Step<'published' | 'fenced'> {
  if (generationOf(merchant) === made.generation) return ['published', merchant];
  if (!rules.mayPublish(merchant, made.generation)) return ['fenced', merchant];
  const written = fallsDue(withSession(merchant, { ...made, clock, isContested: false }), made, clock);
  const isOwn = merchant.lease?.fence === made.generation && merchant.lease.owner === made.owner;
  return ['published', isOwn ? withoutLease(written) : written];
}

/** `known`: the highest generation that the maker knew of when it made the session. */
export function offer(
  merchant: Merchant,
  made: Made & { readonly known: number },
  { clock, rules }: { clock: number; rules: StoreRules },
): Step<OfferResult> {
  const { generation, known } = made;
  const stored = generationOf(merchant);
  const isRepeated = stored === generation;
  const lease = liveLease(merchant, clock);
  const goesOn = lease !== undefined && !rules.offerFrees(lease, generation);
  const unknownToMaker = (other: number): boolean => other > known && other !== generation;
  const isContested =
    (isRepeated && merchant.session?.isContested === true) ||
    (lease !== undefined && lease.fence !== generation) ||
    unknownToMaker(stored) ||
    unknownToMaker(merchant.fence);
  if (isRepeated) return [{ kind: 'taken', generation, isContested }, merchant];
  if (!rules.mayTakeOffer(merchant, generation)) {
    return [{ kind: 'refused', generation: Math.max(stored, merchant.fence), isContested }, merchant];
  }
  const written = withSession(merchant, { ...made, clock, isContested });
  return [{ kind: 'taken', generation, isContested }, goesOn ? written : withoutLease(fallsDue(written, made, clock))];
}

export function release(merchant: Merchant, lease: Lease, asked: LeaseRelease & { clock: number }): Step<boolean> {
  const live = liveLease(merchant, asked.clock);
  if (live?.fence !== lease.fence || live.owner !== lease.owner) return [false, merchant];
  const { clock, nextDueInMs, failure } = asked;
  const due: Moment = {
    mark: `due:${lease.fence}:${clock}:released`,
    endsAt: clock + nextDueInMs,
    length: nextDueInMs,
  };
  const freed: Merchant = { ...withoutLease(merchant), due };
  const kept = asked.called ? freed : withoutCall(freed, live);
  return [true, failure === undefined ? kept : { ...kept, failures: countedFailures(kept, asked.called), failure }];
}

/** Without a call, failures count up to five. */
const countedFailures = ({ failures }: Merchant, called: boolean): number =>
  called || failures < 5 ? failures + 1 : failures;

/** A call that was never made is given back, to the budget and to the cool-down. */
function withoutCall(merchant: Merchant, { calledAt, coolsDown }: GrantedLease): Merchant {
  const at = merchant.calls.lastIndexOf(calledAt);
  const calls = merchant.calls.filter((_, index) => index !== at);
  if (!coolsDown) return { ...merchant, calls };
  const { cooledDown: _givenBack, ...rest } = merchant;
  return { ...rest, calls };
}

export function enrol(merchant: Merchant, clock: number): Merchant {
  return merchant.due === undefined ? { ...merchant, due: { mark: 'enrolled', endsAt: clock, length: 0 } } : merchant;
}

/** What a reader is told about the merchant: of the session itself only its identity. */
export interface ReadMerchant extends Omit<StoredState, 'stored' | 'merchant'> {
  readonly stored:
    | { readonly kind: 'session'; readonly generation: number; readonly identity: string; readonly ageMs: number }
    | { readonly kind: 'unchanged'; readonly ageMs: number }
    | { readonly kind: 'absent' };
}

/** Condemns only what is the newest of all, and beyond doubt. */
export function condemn(merchant: Merchant, generation: number): Step<boolean> {
  const { session, fence } = merchant;
  if (session?.generation !== generation || fence > generation || session.isContested) return [false, merchant];
  return [true, merchant.condemned === generation ? merchant : { ...merchant, condemned: generation }];
}

/** Applies to the stored session only, whatever else is known of it; the last report counts. */
export function reportDead(merchant: Merchant, report: DeathReport, clock: number): Step<boolean> {
  if (merchant.session?.generation !== report.generation) return [false, merchant];
  return [true, { ...merchant, reportedDead: { report, at: clock - report.ageMs } }];
}

function reportOf({ session, reportedDead }: Merchant, clock: number): Pick<ReadMerchant, 'reportedDead'> {
  if (reportedDead === undefined || reportedDead.report.generation !== session?.generation) return {};
  return { reportedDead: { ...reportedDead.report, ageMs: clock - reportedDead.at } };
}

export function read(merchant: Merchant, known: number, clock: number): ReadMerchant {
  const { session, due, failure, condemned } = merchant;
  return {
    ...reportOf(merchant, clock),
    stored: storedSession(session, known, clock),
    ...(condemned === undefined || condemned !== session?.generation ? {} : { condemned }),
    ...(failure === undefined ? {} : { failure }),
    ...(due === undefined ? {} : { dueInMs: remaining(due, clock), dueMark: due.mark }),
  };
}

function storedSession(session: KeptSession | undefined, known: number, clock: number): ReadMerchant['stored'] {
  if (session === undefined) return { kind: 'absent' };
  const ageMs = clock - session.answeredAt;
  if (session.generation === known) return { kind: 'unchanged', ageMs };
  return { kind: 'session', generation: session.generation, identity: session.identity, ageMs };
}
