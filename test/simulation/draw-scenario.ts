import type { CreateCallBudget } from '#libs/session';
import { RandomStream } from './random-streams.js';
import { type Fault, type FaultKind, type PortPoint, portOperations, type Scenario, type Whom } from './scenario.js';

export interface DrawOptions {
  readonly seed: number;
  readonly forMs: number;
  readonly replicas: number;
}

const MERCHANTS = ['shop', 'stall'] as const;
const HOUR_MS = 3_600_000;
const BY_DEFAULT: CreateCallBudget = [
  { calls: 20, perMs: 600_000 },
  { calls: 60, perMs: 86_400_000 },
];
/** How often faults are aimed at renewals: little is going on anywhere else. */
const AIMED = 0.6;
const AIM_BEFORE_MS = 400;
const AIM_AFTER_MS = 1_000;
/** The share of a run after which no fault begins: the rest is for healing. */
const LAST_FAULT_SHARE = 0.6;
const MAX_FAULT_SHARE = 0.2;

interface Draw {
  readonly random: RandomStream;
  readonly replicas: number;
  readonly atMs: number;
  readonly lastsMs: number;
}

type DrawFault = (draw: Draw) => Fault;

const whom = ({ random, replicas }: Draw): Whom => (random.chance(0.5) ? 'all' : random.whole(0, replicas - 1));
const one = ({ random, replicas }: Draw): number => random.whole(0, replicas - 1);
const merchant = ({ random }: Draw): string => random.oneOf(MERCHANTS);
const times = ({ atMs, lastsMs }: Draw): { atMs: number; lastsMs: number } => ({ atMs, lastsMs });
const moment = ({ atMs }: Draw): { atMs: number; lastsMs: number } => ({ atMs, lastsMs: 0 });

function point({ random }: Draw): { at?: PortPoint } {
  if (random.chance(0.3)) return {};
  const operation = random.oneOf([...portOperations, 'claim', 'publish', 'createSession'] as const);
  return { at: { operation, moment: random.oneOf(['before', 'after', 'answer'] as const) } };
}

/** Half of the jumps are small, and half are up to an hour. */
function jumpMs({ random }: Draw): number {
  const size = random.chance(0.5) ? random.between(100, 30_000) : random.between(30_000, HOUR_MS);
  return Math.round(random.chance(0.6) ? -size : size);
}

const drawFault = {
  network: (draw) => ({
    kind: 'network',
    ...times(draw),
    whom: whom(draw),
    loss: draw.random.oneOf([0, 0.1, 0.5, 1]),
    lateMs: draw.random.oneOf([0, 50, 400, 3_000]),
  }),
  announcements: (draw) => ({
    kind: 'announcements',
    ...times(draw),
    whom: whom(draw),
    loss: draw.random.oneOf([0, 0.5, 1]),
    lateMs: draw.random.oneOf([0, 300, 3_000]),
    copies: draw.random.oneOf([1, 1, 3]),
  }),
  forged_hint: (draw) => ({
    kind: 'forged_hint',
    ...moment(draw),
    whom: whom(draw),
    merchant: merchant(draw),
    hint: draw.random.oneOf(['largest', 'largest', 'nonsense', 'negative', 'a_little_ahead', 'none'] as const),
  }),
  store_refuses: (draw) => ({ kind: 'store_refuses', ...times(draw) }),
  store_silent: (draw) => ({
    kind: 'store_silent',
    ...times(draw),
    how: draw.random.oneOf(['unreachable', 'unheard', 'unanswered'] as const),
  }),
  store_clock: (draw) => ({ kind: 'store_clock', ...moment(draw), byMs: jumpMs(draw) }),
  store_emptied: (draw) => ({ kind: 'store_emptied', ...moment(draw) }),
  store_failover: (draw) => ({ kind: 'store_failover', ...moment(draw), losesWrites: draw.random.whole(1, 4) }),
  record_damaged: (draw) => ({
    kind: 'record_damaged',
    ...moment(draw),
    merchant: merchant(draw),
    part: draw.random.oneOf(['session', 'everything'] as const),
  }),
  pause: (draw) => ({ kind: 'pause', ...times(draw), whom: one(draw), ...point(draw) }),
  crash: (draw) => ({ kind: 'crash', ...times(draw), whom: one(draw), ...point(draw) }),
  wall_clock: (draw) => ({ kind: 'wall_clock', ...moment(draw), whom: one(draw), byMs: jumpMs(draw) }),
  gateway_fails: (draw) => ({
    kind: 'gateway_fails',
    ...times(draw),
    merchant: merchant(draw),
    how: draw.random.oneOf(['carried_out_late', 'answer_lost', 'lost', 'overloaded', 'overloaded', 'refused'] as const),
  }),
  gateway_slow: (draw) => ({
    kind: 'gateway_slow',
    ...times(draw),
    merchant: merchant(draw),
    latencyMs: draw.random.whole(100, 900),
  }),
  gateway_clock: (draw) => {
    const isFar = draw.random.chance(0.3);
    const byMs = isFar ? draw.random.oneOf([-1, 1]) * 8_760 * HOUR_MS : draw.random.whole(-20_000, 20_000);
    return { kind: 'gateway_clock', ...times(draw), merchant: merchant(draw), byMs, withExpiry: !isFar };
  },
  gateway_names_no_expiry: (draw) => ({
    kind: 'gateway_names_no_expiry',
    ...times(draw),
    merchant: merchant(draw),
  }),
} as const satisfies Record<FaultKind, DrawFault>;

const faultKinds = Object.keys(drawFault) as FaultKind[];

type Timing = Pick<Scenario, 'forMs' | 'lifetimeMs' | 'gatewayTimeoutMs'>;

/** Anywhere, or around the time when a renewal is expected; the first one is at the very start. */
function momentMs(random: RandomStream, { forMs, lifetimeMs, gatewayTimeoutMs }: Timing): number {
  const lastMs = LAST_FAULT_SHARE * forMs;
  if (!random.chance(AIMED)) return Math.round(random.between(0, lastMs));
  const leadMs = Math.max(0.2 * lifetimeMs, 2 * gatewayTimeoutMs);
  const everyMs = lifetimeMs - 1.05 * leadMs;
  const renewal = random.whole(0, Math.floor(lastMs / everyMs));
  const aimMs = random.between(-AIM_BEFORE_MS, AIM_AFTER_MS) + 0.05 * leadMs * random.between(-1, 1);
  return Math.round(Math.min(lastMs, Math.max(0, renewal * everyMs + aimMs)));
}

function faultAt(random: RandomStream, replicas: number, timing: Timing): Fault {
  const atMs = momentMs(random, timing);
  // Short ones are more interesting: they fall between two steps.
  const lastsMs = Math.round(MAX_FAULT_SHARE * timing.forMs * random.unit() ** 2);
  return drawFault[random.oneOf(faultKinds)]({ random, replicas, atMs, lastsMs });
}

/** The scenario that a seed stands for. */
export function drawScenario(options: DrawOptions): Scenario {
  const { seed, forMs, replicas } = options;
  const random = new RandomStream(seed, 'scenario');
  const count = random.oneOf([0, 1, 1, 2, 2, 3, 4, 6]);
  const clocksAreOff = random.chance(0.3);
  const timing = {
    forMs,
    lifetimeMs: random.oneOf([10_000, 15_000, 15_000, 30_000, 900_000]),
    gatewayTimeoutMs: random.oneOf([1_000, 2_000]),
  };
  return {
    seed,
    replicas,
    merchants: MERCHANTS,
    ...timing,
    gatewayLatencyMs: random.oneOf([20, 80, 300]),
    budget: random.oneOf([BY_DEFAULT, BY_DEFAULT, [{ calls: 4, perMs: 40_000 }]]),
    wallOffsetsMs: Array.from({ length: replicas }, () =>
      clocksAreOff && random.chance(0.5) ? random.whole(-5_000, 5_000) : 0,
    ),
    faults: Array.from({ length: count }, () => faultAt(random, replicas, timing)).sort((a, b) => a.atMs - b.atMs),
    ...(random.chance(0.4) ? { handoverMs: random.oneOf([200, 1_000]) } : {}),
  };
}
