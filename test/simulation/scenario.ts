import type { CreateCallBudget } from '#libs/session';

/** The operations of the two ports at which a replica can be stopped. */
export const portOperations = [
  'due',
  'claim',
  'publish',
  'release',
  'read',
  'announce',
  'createSession',
  'report',
] as const;
export type PortOperation = (typeof portOperations)[number];

/** Before the request leaves, once it has left, or when its answer has arrived and nothing has been done with it. */
export type PortMoment = 'before' | 'after' | 'answer';

/** A place in a replica's program: the next call of this kind, at this moment of it. */
export interface PortPoint {
  readonly operation: PortOperation;
  readonly moment: PortMoment;
}

interface Timed {
  readonly atMs: number;
  /** 0 for what happens at once and is over. */
  readonly lastsMs: number;
}

/** A replica by its number, or all of them. */
export type Whom = number | 'all';

export type Fault =
  | (Timed & { readonly kind: 'network'; readonly whom: Whom; readonly loss: number; readonly lateMs: number })
  | (Timed & {
      readonly kind: 'announcements';
      readonly whom: Whom;
      readonly loss: number;
      readonly lateMs: number;
      readonly copies: number;
    })
  | (Timed & {
      readonly kind: 'forged_hint';
      readonly whom: Whom;
      readonly merchant: string;
      readonly hint: ForgedGeneration;
    })
  | (Timed & { readonly kind: 'store_refuses' })
  | (Timed & { readonly kind: 'store_silent'; readonly how: 'unreachable' | 'unheard' | 'unanswered' })
  | (Timed & { readonly kind: 'store_clock'; readonly byMs: number })
  | (Timed & { readonly kind: 'store_emptied' })
  | (Timed & { readonly kind: 'store_failover'; readonly losesWrites: number })
  | (Timed & { readonly kind: 'record_damaged'; readonly merchant: string; readonly part: 'session' | 'everything' })
  | (Timed & { readonly kind: 'pause'; readonly whom: number; readonly at?: PortPoint })
  | (Timed & { readonly kind: 'crash'; readonly whom: number; readonly at?: PortPoint })
  | (Timed & { readonly kind: 'wall_clock'; readonly whom: number; readonly byMs: number })
  | (Timed & {
      readonly kind: 'gateway_fails';
      readonly merchant: string;
      readonly how: 'carried_out_late' | 'lost' | 'overloaded' | 'refused' | 'answer_lost';
    })
  | (Timed & { readonly kind: 'gateway_slow'; readonly merchant: string; readonly latencyMs: number })
  | (Timed & {
      readonly kind: 'gateway_clock';
      readonly merchant: string;
      readonly byMs: number;
      /** Whether the expiry comes from the same wrong clock as the `Date`. */
      readonly withExpiry: boolean;
    })
  | (Timed & { readonly kind: 'gateway_names_no_expiry'; readonly merchant: string });

export type FaultKind = Fault['kind'];

/** Values that no adapter should let through, and values that one might if a stranger talks to it. */
export type ForgedGeneration = 'largest' | 'nonsense' | 'negative' | 'a_little_ahead' | 'none';

/** Everything that decides a run: the same scenario gives the same run, to the last draw. */
export interface Scenario {
  readonly seed: number;
  readonly forMs: number;
  readonly replicas: number;
  readonly merchants: readonly string[];
  readonly lifetimeMs: number;
  readonly gatewayTimeoutMs: number;
  readonly gatewayLatencyMs: number;
  readonly budget: CreateCallBudget;
  /** If left out, renewals are not handed over. */
  readonly handoverMs?: number;
  /** How far off each replica's wall clock is from the beginning. */
  readonly wallOffsetsMs: readonly number[];
  readonly faults: readonly Fault[];
}

export const endsAtMs = (fault: Fault): number => fault.atMs + fault.lastsMs;

/** Faults in the store and on the way to it, and not in a replica or a gateway. */
export function isOfStoreAlone({ kind }: Fault): boolean {
  return (
    kind.startsWith('store_') ||
    kind === 'network' ||
    kind === 'announcements' ||
    kind === 'forged_hint' ||
    kind === 'record_damaged'
  );
}

/** Whether the fault can affect the merchant: a fault of one merchant does not concern another. */
export function concerns(fault: Fault, merchant: string): boolean {
  return !('merchant' in fault) || fault.merchant === merchant;
}
