import { instantFromEpochMs } from '#libs/clock';
import {
  type Effect,
  floorOf,
  GatewayFailure,
  generationOf,
  type Input,
  type IssuedSession,
  knownOf,
  type Merchant,
  type Publication,
  publicationOf,
  type RenewalOutcome,
  type ReportResult,
  step,
  type StoredState,
  untilRenewalMsOf,
  verdictOn,
} from '#libs/session';
import { aServerPublicKey } from '#libs/testing';
import { type Answer, isDue, type Question } from './store-state.js';
import {
  type Action,
  type Asked,
  type Call,
  changed,
  clockOf,
  type ExtraCalls,
  msOf,
  noting,
  nowOf,
  ownerOf,
  PHASE_MS,
  phases,
  type Replica,
  storeClockOf,
  type World,
} from './world.js';

/** The store's list and a replica's own count of a session's age do not agree to the millisecond. */
const EARLY_MS = 250;

// ---- One input, as the driver feeds it: what `step` says is done at once, or is under way

export function feed(world: World, at: number, input: Input): World {
  const replica = world.replicas[at];
  if (replica === undefined || replica.state === 'crashed') return world;
  const { merchant, effects } = step(replica.merchant, input, nowOf(world, at));
  return effects.reduce((after, effect) => performed(after, at, effect), changed(world, at, { merchant }));
}

function performed(world: World, at: number, effect: Effect): World {
  switch (effect.do) {
    case 'enter':
      return feed(world, at, { on: 'admitted' });
    case 'create':
      return calls(world, at);
    case 'hand_over':
      return changed(world, at, { isHandingOver: true });
    case 'read':
      return changed(world, at, { wantsRead: true });
    case 'resync':
      return changed(world, at, { isSynced: false });
    case 'end':
      return ended(world, at, effect);
    case 'hurry':
    case 'say':
    case 'emit':
      return world;
    default:
      return asks(world, at, { question: questionOf(effect, world, at), inVain: isRepeated(effect, world) });
  }
}

type Asking = Extract<Effect, { do: 'claim' | 'publish' | 'release' | 'offer' | 'report' }>;

function questionOf(effect: Asking, world: World, at: number): Question {
  const owner = ownerOf(world, at);
  switch (effect.do) {
    case 'claim':
      return { ask: 'claim', request: { ...effect.request, owner, floor: floorOf(owner, effect.request.floor) } };
    case 'publish':
      return { ask: 'publish', lease: effect.lease, publication: publishing(effect, world) };
    case 'release':
      return { ask: 'release', lease: effect.lease, release: effect.release };
    case 'offer':
      return { ask: 'offer', publication: effect.offer };
    case 'report':
      return { ask: 'report', report: effect.report, atMs: effect.atMs };
  }
}

const publishing = (
  { session, answeredAtMs, afterMs }: Extract<Effect, { do: 'publish' }>,
  world: World,
): Publication => publicationOf(session, msOf(world) + afterMs - answeredAtMs);

/** What was asked in vain just now is asked again only in the next phase, or when the store is back. */
const isRepeated = (effect: Asking, { storeState }: World): boolean =>
  effect.do === 'publish' && effect.afterMs > 0 && storeState !== 'answers';

interface NewlyAsked {
  readonly question: Question;
  readonly inVain?: boolean;
}

export function asks(world: World, at: number, { question, inVain = false }: NewlyAsked): World {
  const { asked, merchant } = world.replicas[at] as Replica;
  const tried = inVain ? { triedAt: world.time } : {};
  const newest: Asked = { question, askedAtMs: msOf(world), failureBefore: merchant.failure, ...tried };
  return changed(world, at, { asked: [...asked, newest] });
}

function ended(world: World, at: number, { result }: Extract<Effect, { do: 'end' }>): World {
  const { rejected, merchant } = world.replicas[at] as Replica;
  if (rejected?.waitsFor !== 'wish') return world;
  const { generation, attempts } = rejected;
  const isNewer = generationOf(merchant) > generation;
  if (!isNewer && attempts < MAX_ATTEMPTS && mayBeWishedAgain.has(result.kind)) {
    // What another replica has published is read first.
    const isAhead = result.kind === 'already_newer' || result.kind === 'lost';
    const again = { generation, attempts: attempts + 1, waitsFor: 'read' } as const;
    const waiting = changed(world, at, { rejected: again });
    return isAhead ? changed(waiting, at, { wantsRead: true }) : wishing(waiting, at, 'read');
  }
  const after = gone(world, at, 'rejected');
  return isNewer ? after : feed(after, at, { on: 'unreplaced', generation, result });
}

/** The attempt that a report joins may have been made for a lesser wish. */
const MAX_ATTEMPTS = 2;
const mayBeWishedAgain: ReadonlySet<string> = new Set(['renewed', 'already_newer', 'lost', 'not_due']);

function gone(world: World, at: number, name: 'rejected' | 'call'): World {
  const { [name]: _over, ...rest } = world.replicas[at] as Replica;
  return { ...world, replicas: world.replicas.map((one, index) => (index === at ? rest : one)) };
}

// ---- The create call

/** The consumers' running calls take no longer than they may; nobody waits for those of a paused process. */
function handedOver(world: World, at: number): Action {
  const after = feed(changed(world, at, { isHandingOver: false }), at, { on: 'handed_over' });
  return { label: `the consumers of ${at} hold their calls`, world: after, isLocal: true };
}

export const isLiveDue = (world: World): boolean =>
  world.live < 0 || msOf(world) >= (world.calls[world.live]?.madeAtMs ?? 0) + phases.renewAfter * PHASE_MS;

function calls(world: World, at: number): World {
  const { merchant } = world.replicas[at] as Replica;
  const { phase } = merchant;
  if (phase.at !== 'calling') throw new Error('a call is made in its own phase');
  const { wish, lease, endsAtMs } = phase;
  const call: Call = {
    generation: lease.fence,
    // A lease that is granted again, since nobody heard of it, was counted when it was new.
    grantedAtMs: endsAtMs - phases.lease * PHASE_MS,
    sentWallMs: msOf(world) + (world.replicas[at]?.wallOffsetMs ?? 0),
    isEarly: wish.coolDownMs > 0 || wish.cutsShort !== undefined,
    state: 'sent',
    madeAtMs: 0,
  };
  // It is needed if the live session is due, and no other call is about to end it.
  const isNeeded = isLiveDue(world) && world.calls.every(({ state }) => state !== 'sent');
  const kind: keyof ExtraCalls = wish.trigger === 'rejection' ? 'reported' : 'leased';
  const extraCalls = isNeeded ? world.extraCalls : { ...world.extraCalls, [kind]: world.extraCalls[kind] + 1 };
  const after = changed(world, at, { call: world.calls.length });
  return { ...after, calls: [...world.calls, call], extraCalls };
}

/** As the gateway answers: its own moment of expiry, and its own clock. */
export function issuedBy(world: World, at: number, index: number): IssuedSession {
  const { madeAtMs, sentWallMs } = world.calls[index] as Call;
  const wallOffsetMs = world.replicas[at]?.wallOffsetMs ?? 0;
  return {
    authToken: String(index),
    deviceId: 'device',
    serverPublic: aServerPublicKey(),
    clientKeyThumbprint: 'thumbprint',
    expiresAt: instantFromEpochMs(madeAtMs + phases.lifetime * PHASE_MS),
    gatewayDate: instantFromEpochMs(madeAtMs),
    sentAt: instantFromEpochMs(sentWallMs),
    receivedAt: instantFromEpochMs(msOf(world) + wallOffsetMs),
  };
}

export function callAnswered(world: World, at: number, outcome: 'created' | RenewalOutcome): World {
  const { call = -1 } = world.replicas[at] as Replica;
  const free = gone(world, at, 'call');
  if (outcome === 'created') return feed(free, at, { on: 'created', issued: issuedBy(world, at, call) });
  const kind = outcome === 'timeout' ? 'timeout' : 'transient';
  return feed(free, at, { on: 'not_created', failure: failures[kind] });
}

/** One of each: they are compared by what they are. */
const failures = {
  timeout: new GatewayFailure({ kind: 'timeout', detail: 'no answer within the timeout' }),
  transient: new GatewayFailure({ kind: 'transient', detail: 'the gateway answered 503' }),
};

// ---- Answers of the store, and what becomes of a question without one

export function without(world: World, at: number, asked: Asked): World {
  const all = world.replicas[at]?.asked ?? [];
  return changed(world, at, { asked: all.filter((one) => one !== asked) });
}

export type AnsweredQuestion = Asked & { readonly answer: Answer };

export function answered(before: World, at: number, asked: AnsweredQuestion): World {
  const world = cameBack(before, at);
  const { answer } = asked;
  switch (answer.ask) {
    case 'claim': {
      const { result } = answer;
      if (result.kind !== 'claimed') return feed(world, at, { on: 'refused', refusal: result });
      return feed(world, at, { on: 'claimed', lease: result.lease });
    }
    case 'publish':
      return feed(world, at, { on: 'published', answer: answer.result });
    case 'release':
      return world;
    case 'offer':
      return feed(world, at, { on: 'offered', generation: offered(asked), answer: answer.result });
    case 'report':
      return reported(world, at, { ...asked, result: answer.result });
    case 'read':
    case 'sync': {
      const synced = answer.ask === 'sync' ? { isSynced: true, letsOthersOffer: true } : {};
      const heard = changed(world, at, synced);
      return wasRead(heard, at, { ...asked, result: answer.result });
    }
  }
}

/** The first answer after an outage: others may have something to tell. */
function cameBack(world: World, at: number): World {
  if (world.replicas[at]?.wasLeftAlone !== true) return world;
  return changed(world, at, { wasLeftAlone: false, letsOthersOffer: true });
}

function wasRead(world: World, at: number, asked: Asked & { readonly result: StoredState }): World {
  const { result } = asked;
  const replica = world.replicas[at] as Replica;
  const ms = msOf(world);
  const before = storeClockOf(replica, ms);
  const storeMs = clockOf(world);
  const forMs = before.note(instantFromEpochMs(storeMs), asked.askedAtMs);
  const noted = noting(replica.noted, { storeMs, ms, wallMs: ms + replica.wallOffsetMs });
  let after = noted === replica.noted ? world : changed(world, at, { noted });
  if (forMs !== undefined) after = feed(after, at, { on: 'slept', forMs });
  const { stored } = result;
  const wayMs = ms - asked.askedAtMs;
  const ageMs = stored.kind === 'session' ? before.ageMs(stored.ageMs, stored.session.createdAt) + wayMs : 0;
  const read = feed(after, at, { on: 'stored', state: result, ageMs, failureBefore: asked.failureBefore });
  return wishing(read, at, 'read');
}

/** The adapter gives up: the question may have been applied. */
export function unanswered(before: World, at: number, asked: Asked): World {
  const { question } = asked;
  const isDown = before.storeState !== 'answers';
  const world = isDown ? changed(before, at, { wasLeftAlone: true }) : before;
  switch (question.ask) {
    case 'claim':
      return feed(world, at, { on: 'unclaimed' });
    case 'publish':
      return feed(world, at, { on: 'unpublished', isLast: false });
    case 'release':
      return world;
    case 'offer':
      return feed(world, at, { on: 'offered', generation: offered(asked), answer: 'outage' });
    case 'report':
      return reported(world, at, { ...asked, result: undefined });
    case 'sync':
    case 'read': {
      const { noted, wallOffsetMs } = world.replicas[at] as Replica;
      const ms = msOf(world);
      const believed = noting(noted, { storeMs: undefined, ms, wallMs: ms + wallOffsetMs });
      const isSynced = question.ask !== 'sync' && !isDown;
      return changed(world, at, { wantsRead: true, hasAsked: isDown, isSynced, noted: believed });
    }
  }
}

const offered = ({ question }: Asked): number =>
  question.ask === 'offer' ? question.publication.session.generation : 0;

function reported(world: World, at: number, asked: Asked & { readonly result: ReportResult | undefined }): World {
  const { question, result } = asked;
  if (question.ask !== 'report') return world;
  const { report, atMs } = question;
  const told = feed(world, at, { on: 'reported', report, atMs, answer: result });
  return report.mayProve ? wishing(told, at, 'judgement') : told;
}

// ---- What a replica does next of its own accord

/** A replica's own steps: rounds over what is due, reads, the wishes of readers and consumers. */
export function ownSteps(world: World, at: number): readonly Action[] {
  const replica = world.replicas[at];
  if (replica?.state !== 'up') return [];
  if (replica.isHandingOver) return [handedOver(world, at)];
  const steps = [roundOf(world, at, replica), demandOf(world, at, replica), reportOf(world, at, replica)];
  return steps.filter((one) => one !== undefined);
}

/** A question of it is on its way to the store. */
export const isAsking = (asked: readonly Asked[]): boolean => asked.some(({ answer }) => answer === undefined);

export const isUnstored = ({ merchant: { held } }: Replica): boolean => held !== undefined && held.kept !== 'in_store';

function roundOf(world: World, at: number, replica: Replica): Action | undefined {
  const { merchant, asked } = replica;
  const mustWait = isAsking(asked) || asked.some(({ question: { ask } }) => ask === 'offer' || ask === 'sync');
  if (replica.hasAsked || mustWait) return undefined;
  const offers = isUnstored(replica) ? feed(world, at, { on: 'store_back' }) : world;
  if (world.storeState !== 'answers') {
    const failed = { hasAsked: true, isSynced: false, wasLeftAlone: true };
    return { label: `${at} asks what is due in vain`, world: changed(offers, at, failed), isLocal: true };
  }
  if ((offers.replicas[at] as Replica).asked.length > asked.length) return { label: `${at} offers`, world: offers };
  if (!replica.isSynced) {
    const question = { ask: 'sync', known: knownOf(merchant) } as const;
    return { label: `${at} reads everything`, world: asks(changed(world, at, { wantsRead: false }), at, { question }) };
  }
  const mayClaim = !replica.letsOthersOffer && merchant.phase.at === 'idle';
  return mayClaim && isDue(world.store, clockOf(world)) ? dueAt(world, at, merchant) : undefined;
}

function dueAt(world: World, at: number, merchant: Merchant): Action {
  const after = changed(world, at, { hasAsked: true });
  const isDueHere =
    untilRenewalMsOf(merchant, nowOf(world, at)) <= EARLY_MS ||
    merchant.failure !== undefined ||
    merchant.held?.isReported === true;
  if (!isDueHere) return { label: `${at} finds nothing due`, world: changed(after, at, { wantsRead: true }) };
  const trigger = merchant.held === undefined ? 'startup' : 'schedule';
  return { label: `${at} finds it due`, world: feed(after, at, { on: 'wanted', trigger }) };
}

/** A reader who finds nothing; after a jump of our own clock, the store is asked first. */
function demandOf(world: World, at: number, replica: Replica): Action | undefined {
  const { merchant, hasDemanded, wantsRead, hasAsked } = replica;
  if (hasDemanded || merchant.phase.at !== 'idle') return undefined;
  if (verdictOn(merchant, nowOf(world, at)).result !== 'unavailable') return undefined;
  if (storeClockOf(replica, msOf(world)).driftMs !== 0 && !(hasAsked && world.storeState !== 'answers')) {
    const asking = changed(world, at, { wantsRead: true });
    return wantsRead ? undefined : { label: `${at} doubts its clock`, world: asking, isLocal: true };
  }
  const asked = changed(world, at, { hasDemanded: true });
  return {
    label: `a reader at ${at} finds nothing`,
    world: feed(asked, at, { on: 'wanted', trigger: 'demand' }),
    isLocal: true,
  };
}

/** A consumer finds its session dead, and nothing will tell this replica of a newer one. */
function reportOf(world: World, at: number, { merchant, reportedUpTo, rejected }: Replica): Action | undefined {
  const { held } = merchant;
  if (rejected !== undefined || held === undefined || !isOrphaned(world)) return undefined;
  if (verdictOn(merchant, nowOf(world, at)).result === 'unavailable') return undefined;
  const { generation } = held.session;
  if (generation <= reportedUpTo) return undefined;
  const waiting = { generation, attempts: 1, waitsFor: 'judgement' } as const;
  const asked = changed(world, at, { reportedUpTo: generation, rejected: waiting });
  const told = feed(asked, at, { on: 'rejected', generation, reason: 'b_unknown_device' });
  const isJudged =
    told.replicas[at]?.asked.some(({ question }) => question.ask === 'report' && question.report.mayProve) === true;
  const after = isJudged ? told : wishing(told, at, 'judgement');
  return { label: `a consumer at ${at} reports ${generation}`, world: after };
}

/** The consumer's wish, once what it has waited for is there. */
function wishing(before: World, at: number, waitedFor: 'judgement' | 'read'): World {
  const { rejected, merchant } = before.replicas[at] as Replica;
  if (rejected?.waitsFor !== waitedFor) return before;
  const { generation: above } = rejected;
  if (generationOf(merchant) > above) return gone(before, at, 'rejected');
  const world = changed(before, at, { rejected: { ...rejected, waitsFor: 'wish' } });
  return feed(world, at, { on: 'wanted', trigger: 'rejection', above, reason: 'b_unknown_device' });
}

/** Nobody brings the live session to the others: only a consumer's report ends this. */
function isOrphaned({ live, replicas, store, calls: made }: World): boolean {
  const isKnown = replicas.some(({ state, merchant: { held }, call }) => {
    if (state === 'crashed') return false;
    const isCalling = call !== undefined && ['sent', 'carried out'].includes(made[call]?.state ?? '');
    return isCalling || (live >= 0 && held?.session.authToken === String(live));
  });
  return !isKnown && (live < 0 || store?.stored?.session.authToken !== String(live));
}
