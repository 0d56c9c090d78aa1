import type { Lease, Merchant } from '#libs/session';
import { struckAsFarAsItCounts } from './promises.js';
import { endOf, type Question, type StoreState } from './store-state.js';
import { type Asked, type Call, clockOf, msOf, ownerOf, PHASE_MS, type Replica, type World } from './world.js';

/** What a part of the world comes to: a hash of its text, in which each generation is only a place, and those. */
interface Part {
  readonly hash: number;
  readonly generations: readonly number[];
}

/**
 * A number for each world, the same for worlds that nothing tells apart: replicas are alike, so their order does not
 * matter; of generations only the order counts; what is over counts no more; and of faults, what they excuse.
 *
 * 53 bits: with ten million worlds, the chance that two share a number is one in two hundred.
 */
export function keyOf(world: World): number {
  const { store, lagging, extraCalls, live } = world;
  const head = textHash(
    `${world.time} ${world.clockOffset} ${world.storeState} ${world.isGatewayDown} ${world.faultsLeft} ${live} ` +
      `${extraCalls.leased} ${extraCalls.reported} ${struckAsFarAsItCounts(world)}`,
  );
  const storePart = storePartOf(store, clockOf(world));
  const laggingPart = lagging === undefined ? undefined : storePartOf(lagging.store, clockOf(world));
  const callParts = world.calls.map((call) => partOf(call, 0, () => callText(call)));
  const replicaParts = world.replicas.map((replica) => replicaPartOf(replica, msOf(world)));
  const ranks = ranksOf([
    storePart,
    ...(laggingPart === undefined ? [] : [laggingPart]),
    ...callParts,
    ...replicaParts,
  ]);
  const ranked = ({ hash, generations }: Part): number =>
    mixed([hash, ...generations.map((one) => ranks.get(one) ?? -1)]);
  const replicas = replicaParts.map((part, at) => {
    const owner = ownerOf(world, at);
    const owns = (one: StoreState): number => (one?.lease?.owner === owner ? 1 : 0);
    return mixed([ranked(part), 2 * owns(store) + owns(lagging?.store)]);
  });
  replicas.sort((a, b) => a - b);
  return mixed([
    head,
    ranked(storePart),
    laggingPart === undefined ? 0 : ranked(laggingPart),
    ...callParts.map(ranked),
    ...replicas,
  ]);
}

function ranksOf(parts: readonly Part[]): ReadonlyMap<number, number> {
  const all = new Set<number>();
  for (const { generations } of parts) for (const one of generations) all.add(one);
  return new Map([...all].sort((a, b) => a - b).map((generation, rank) => [generation, rank]));
}

// ---- The parts as text. Worlds share most of them, which never change.

const knownParts = new WeakMap<object, { atMs: number; part: Part }>();

/** @param atMs what is over by then counts no more */
function partOf(thing: object, atMs: number, textOf: () => readonly unknown[]): Part {
  const known = knownParts.get(thing);
  if (known?.atMs === atMs) return known.part;
  const generations: number[] = [];
  const text = textOf()
    .map((one) => {
      if (!(one instanceof Generation)) return String(one);
      generations.push(one.number);
      return '#';
    })
    .join(' ');
  const part = { hash: textHash(text), generations };
  knownParts.set(thing, { atMs, part });
  return part;
}

class Generation {
  readonly number: number;
  constructor(number: number) {
    this.number = number;
  }
}

const none = new Generation(0);
const generation = (number: number | undefined): Generation =>
  number === undefined || number === 0 ? none : new Generation(number);
/** In phases begun: whatever happens in between is seen at the beginning of the next one. */
const ahead = (moment: number, nowMs: number): number => Math.max(0, Math.ceil((moment - nowMs) / PHASE_MS));

function callText({ generation: number, sentWallMs, grantedAtMs, isEarly, state, madeAtMs }: Call): readonly unknown[] {
  return [generation(number), sentWallMs - grantedAtMs, grantedAtMs, isEarly, state, madeAtMs];
}

function storePartOf(store: StoreState, nowMs: number): Part {
  return partOf(store ?? forgotten, nowMs, () => {
    if (store === undefined) return ['nothing'];
    const { fence, stored, lease, reported, cooledDownAtMs, calls, due } = store;
    const isLeased = lease !== undefined && endOf(lease.end) > nowMs;
    return [
      ahead(endOf(due), nowMs),
      generation(fence),
      ...(stored === undefined
        ? []
        : [generation(stored.session.generation), stored.session.authToken, stored.answeredAtMs]),
      isLeased ? endOf(lease.end) : 'free',
      store.failures,
      store.failure?.kind,
      store.failure?.at,
      ...(reported === undefined ? [] : [generation(reported.generation), reported.atMs, reported.diedEarly]),
      cooledDownAtMs === undefined || cooledDownAtMs + PHASE_MS <= nowMs ? '' : cooledDownAtMs,
      ...calls.map(({ atMs }) => atMs).filter((atMs) => atMs + 4 * PHASE_MS > nowMs),
    ];
  });
}

const forgotten = {};

function replicaPartOf(replica: Replica, nowMs: number): Part {
  return partOf(replica, nowMs, () => {
    const { merchant, asked, epoch: _name, noted, ...rest } = replica;
    const {
      state,
      call,
      wantsRead,
      isSynced,
      wasLeftAlone,
      letsOthersOffer,
      hasAsked,
      hasDemanded,
      isDeaf,
      isHandingOver,
    } = rest;
    return [
      state,
      call,
      [wantsRead, isSynced, wasLeftAlone, letsOthersOffer, hasAsked, hasDemanded, isDeaf, isHandingOver]
        .map(Number)
        .join(''),
      rest.wallOffsetMs,
      generation(rest.reportedUpTo),
      generation(rest.rejected?.generation),
      rest.rejected?.attempts,
      rest.rejected?.waitsFor,
      ...merchantText(merchant, nowMs),
      ...noted.map(
        ({ storeMs = 0, ms, wallMs }, at) => `${storeMs - ms}:${wallMs - ms}:${at === noted.length - 1 ? 0 : ms}`,
      ),
      ...asked.flatMap(askedText),
    ];
  });
}

function askedText({ question, askedAtMs, failureBefore, answer, triedAt }: Asked): readonly unknown[] {
  const text = [question.ask, askedAtMs, failureBefore?.at, triedAt, ...questionText(question)];
  if (answer === undefined) return text;
  const { result } = answer;
  const fence = typeof result === 'object' && 'lease' in result ? result.lease.fence : 0;
  const plain = JSON.stringify(result, (name, value: unknown) =>
    ['fence', 'owner', 'generation', 'mark', 'dueMark'].includes(name) ? '' : value,
  );
  return [...text, plain, generation(fence)];
}

const leaseText = ({ fence, remainingMs, failures }: Lease): readonly unknown[] => [
  generation(fence),
  remainingMs,
  failures,
];

function questionText(question: Question): readonly unknown[] {
  switch (question.ask) {
    case 'claim': {
      const { newerThan, floor: _ofOwner, mode, coolDownMs, ignoresBackOff, budget } = question.request;
      return [generation(newerThan), mode, coolDownMs, ignoresBackOff, budget.map(({ calls }) => calls).join()];
    }
    case 'publish':
      return [...leaseText(question.lease), question.publication.ageMs];
    case 'release':
      return [...leaseText(question.lease), question.release.called, question.release.nextDueInMs];
    case 'offer':
      return [generation(question.publication.session.generation), question.publication.ageMs];
    case 'report':
      return [generation(question.report.generation), question.report.ageMs, question.report.mayProve];
    case 'read':
    case 'sync':
      return [generation(question.known)];
  }
}

function merchantText(merchant: Merchant, nowMs: number): readonly unknown[] {
  const { held, floor, unopened, blocked, callsAtMs, failure, report, lookAtMs, looks } = merchant;
  const blocks = Object.entries(blocked)
    .filter(([, { untilMs }]) => untilMs > nowMs)
    .map(
      ([whom, { refusal, untilMs, bindsUntilMs, coolDownMs }]) =>
        `${whom}:${refusal.kind}:${ahead(untilMs, nowMs)}:${ahead(bindsUntilMs, nowMs)}:${coolDownMs}`,
    );
  return [
    ...phaseText(merchant),
    ...(held === undefined ? ['nothing'] : heldText(held, nowMs)),
    generation(floor),
    generation(unopened),
    merchant.isOffering,
    blocks.join(),
    callsAtMs.filter((at) => at + 4 * PHASE_MS > nowMs).join(),
    failure === undefined ? '' : `${failure.kind}:${failure.at}:${failure.trace?.lostSession === true}`,
    report === undefined ? '' : JSON.stringify(report),
    merchant.isLookedAt,
    ahead(lookAtMs, nowMs),
    Math.min(looks, 3),
  ];
}

function heldText({ session, ...held }: NonNullable<Merchant['held']>, nowMs: number): readonly unknown[] {
  return [
    generation(session.generation),
    session.authToken,
    session.deathsBefore,
    session.expiresAt - session.createdAt,
    session.createdAt,
    held.answeredAtMs,
    held.kept,
    ahead(held.restsUntilMs, nowMs),
    held.isReported,
    held.verdict,
    held.reportedAtMs,
  ];
}

function phaseText({ phase }: Merchant): readonly unknown[] {
  if (phase.at === 'idle') return ['idle'];
  const { trigger, newerThan, coolDownMs, isOverdue, ignoresBackOff, cutsShort } = phase.wish;
  const wish = [phase.at, trigger, generation(newerThan), coolDownMs, isOverdue, ignoresBackOff, cutsShort?.kind];
  if (phase.at === 'entering') return wish;
  if (phase.at === 'claiming') return [...wish, phase.askedAtMs];
  const { endsAtMs, grantedAtMs: _told, lease } = phase;
  const granted = [...wish, ...leaseText(lease), endsAtMs];
  if (phase.at === 'calling') return [...granted, phase.askedAtMs, phase.before.deathsBefore];
  return phase.at === 'publishing' ? [...granted, phase.answeredAtMs] : granted;
}

// ---- Hashes

const SEEDS = [0xdeadbeef, 0x41c6ce57] as const;
const HIGH = 4_294_967_296;

/** As cyrb53 does. */
function textHash(text: string): number {
  let [high, low]: [number, number] = [...SEEDS];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  return finished(high, low);
}

function mixed(keys: readonly number[]): number {
  let [high, low]: [number, number] = [...SEEDS];
  for (const key of keys) {
    const upper = Math.floor(key / HIGH);
    const lower = key >>> 0;
    high = Math.imul(Math.imul(high ^ lower, 2_654_435_761) ^ upper, 2_246_822_507);
    low = Math.imul(Math.imul(low ^ upper, 1_597_334_677) ^ lower, 3_266_489_909);
    high ^= low >>> 15;
    low ^= high >>> 13;
  }
  return finished(high, low);
}

function finished(high: number, low: number): number {
  const upper = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  const lower = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(upper ^ (upper >>> 13), 3_266_489_909);
  return HIGH * (2_097_151 & lower) + (upper >>> 0);
}
