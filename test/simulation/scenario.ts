import type { CreateCallBudget } from '#libs/session';
import { Random } from './random.js';

export const MERCHANTS = ['shop', 'stall'] as const;

/** Each kind of fault, and the ways in which it strikes. */
const waysOf = {
  network: ['late or lost'],
  announcements: ['once', 'once', 'three times'],
  forged_hint: ['largest', 'largest', 'nonsense', 'negative', 'a little ahead', 'none'],
  store_refuses: ['READONLY'],
  store_silent: ['unreachable', 'unheard', 'unanswered'],
  store_clock: ['set'],
  store_emptied: ['all'],
  store_failover: ['last writes'],
  record_damaged: ['session', 'everything'],
  pause: ['frozen'],
  crash: ['killed'],
  wall_clock: ['set'],
  gateway_fails: ['carried out late', 'answer lost', 'lost', 'overloaded', 'overloaded', 'refused'],
  gateway_slow: ['slow'],
  gateway_clock: ['with expiry', 'with expiry', 'far', 'names no expiry'],
} as const;

export type FaultKind = keyof typeof waysOf;
export type Way = (typeof waysOf)[FaultKind][number];

const kinds = Object.keys(waysOf) as FaultKind[];
/** They happen, and are over. */
const momentary: readonly FaultKind[] = [
  'forged_hint',
  'store_clock',
  'store_emptied',
  'store_failover',
  'record_damaged',
  'wall_clock',
];

/** Everything that may matter is drawn for each fault; what its kind does not need stays unused. */
export interface Fault {
  readonly kind: FaultKind;
  readonly how: Way;
  readonly atMs: number;
  readonly lastsMs: number;
  /** The replica that it strikes; `strikesAll` where it may strike all of them, and does. */
  readonly replica: number;
  readonly strikesAll: boolean;
  readonly merchant: string;
  /** The share of messages that is lost. */
  readonly loss: number;
  readonly lateMs: number;
  /** By how much a clock is set. */
  readonly byMs: number;
  /** Writes that are lost. */
  readonly writes: number;
}

/** Everything that decides a run: the same scenario gives the same run, to the last draw. */
export interface Scenario {
  readonly seed: number;
  readonly forMs: number;
  readonly replicas: number;
  readonly lifetimeMs: number;
  readonly gatewayTimeoutMs: number;
  readonly gatewayLatencyMs: number;
  /** What a message takes on its way, at most. */
  readonly tripMs: number;
  readonly budget: CreateCallBudget;
  readonly handoverMs: number;
  /** How far off each replica's wall clock is from the beginning. */
  readonly wallOffsetsMs: readonly number[];
  readonly faults: readonly Fault[];
}

export type Timing = Pick<Scenario, 'seed' | 'forMs' | 'replicas'>;

const HOUR_MS = 3_600_000;
const BY_DEFAULT: CreateCallBudget = [
  { calls: 20, perMs: 600_000 },
  { calls: 60, perMs: 86_400_000 },
];
/** The share of a run after which no fault begins: the rest is for healing. */
const LAST_FAULT_SHARE = 0.6;
const MAX_FAULT_SHARE = 0.2;

const isMerchants = (kind: FaultKind): boolean =>
  kind.startsWith('gateway_') || kind === 'record_damaged' || kind === 'forged_hint';

/** Whether the fault can affect the merchant. */
export const concerns = ({ kind, merchant: struck }: Fault, merchant: string): boolean =>
  !isMerchants(kind) || struck === merchant;

export const strikes = ({ strikesAll, replica }: Fault, number: number): boolean => strikesAll || replica === number;

/** Faults in the store and on the way to it, and not in a replica or a gateway. */
export const isOfStore = ({ kind }: Fault): boolean =>
  kind.startsWith('store_') || ['network', 'announcements', 'forged_hint', 'record_damaged'].includes(kind);

/** The scenario that a seed stands for. */
export function drawScenario({ seed, forMs, replicas }: Timing): Scenario {
  const random = new Random(seed, 'scenario');
  const lifetimeMs = random.oneOf([10_000, 15_000, 15_000, 30_000, 900_000]);
  const gatewayTimeoutMs = random.oneOf([1_000, 2_000]);
  const clocksAreOff = random.chance(0.3);
  const faults = Array.from({ length: random.oneOf([0, 1, 1, 2, 2, 3, 4, 6]) }, (): Fault => {
    const kind = random.oneOf(kinds);
    const jumpMs = random.chance(0.5) ? random.whole(100, 30_000) : random.whole(30_000, HOUR_MS);
    return {
      kind,
      how: random.oneOf<Way>(waysOf[kind]),
      atMs: momentMs(random, { lastMs: LAST_FAULT_SHARE * forMs, lifetimeMs, gatewayTimeoutMs }),
      // Short ones are more interesting: they fall between two steps.
      lastsMs: momentary.includes(kind) ? 0 : Math.round(MAX_FAULT_SHARE * forMs * random.unit() ** 2),
      replica: random.whole(0, replicas - 1),
      strikesAll: random.chance(0.5),
      merchant: random.oneOf(MERCHANTS),
      loss: random.oneOf([0, 0.1, 0.5, 1]),
      lateMs: random.oneOf([0, 50, 400, 3_000]),
      byMs: random.chance(0.6) ? -jumpMs : jumpMs,
      writes: random.whole(1, 4),
    };
  });
  return {
    seed,
    forMs,
    replicas,
    lifetimeMs,
    gatewayTimeoutMs,
    gatewayLatencyMs: random.oneOf([20, 80, 300]),
    tripMs: random.oneOf([2, 40]),
    budget: random.oneOf([BY_DEFAULT, BY_DEFAULT, [{ calls: 4, perMs: 40_000 }]]),
    handoverMs: random.oneOf([0, 0, 0, 200, 1_000]),
    wallOffsetsMs: Array.from({ length: replicas }, () =>
      clocksAreOff && random.chance(0.5) ? random.whole(-5_000, 5_000) : 0,
    ),
    faults: faults.sort((left, right) => left.atMs - right.atMs),
  };
}

/** Anywhere, or, more often, around the time when a renewal is expected: little is going on anywhere else. */
function momentMs(
  random: Random,
  of: { readonly lastMs: number } & Pick<Scenario, 'lifetimeMs' | 'gatewayTimeoutMs'>,
): number {
  if (random.chance(0.4)) return random.whole(0, of.lastMs);
  const leadMs = Math.max(0.2 * of.lifetimeMs, 2 * of.gatewayTimeoutMs);
  const everyMs = of.lifetimeMs - 1.05 * leadMs;
  const renewal = random.whole(0, Math.floor(of.lastMs / everyMs));
  const aimMs = renewal * everyMs + random.whole(-400, 1_000) + 0.05 * leadMs * random.between(-1, 1);
  return Math.round(Math.min(of.lastMs, Math.max(0, aimMs)));
}
