import { plusMs } from '#libs/clock';
import type { Effect, Input, Lease, Merchant, Now, RenewalTrigger, SessionEvent, StoredState } from '#libs/session';
import { GatewayFailure, type GatewayFailureKind, heldFrom, step, unknownMerchant } from '#libs/session';
import { anIssuedSession, aSession, createdAt, someSettings } from './builders.js';

export const MINUTE = 60_000;

/** The beginning of a session that a builder makes, with nothing in anybody's way. */
export function aNow(overrides: Partial<Now> = {}): Now {
  return {
    ms: 0,
    wall: createdAt,
    suspectMs: 0,
    chance: 0.5,
    settings: someSettings(),
    graceMs: 0,
    isStoreDown: false,
    isStopping: false,
    ...overrides,
  };
}

/** One merchant, fed by hand. */
export class Play {
  merchant: Merchant;
  /** What people are told, in order. */
  readonly told: SessionEvent[] = [];
  now = aNow();

  constructor(merchant: Partial<Merchant> = {}) {
    this.merchant = { ...unknownMerchant('shop'), ...merchant };
  }

  pass(ms: number): this {
    this.now = { ...this.now, ms: this.now.ms + ms, wall: plusMs(this.now.wall, ms) };
    return this;
  }

  feed(input: Input): readonly Effect[] {
    const { merchant, effects } = step(this.merchant, input, this.now);
    this.merchant = merchant;
    this.told.push(...effects.flatMap((effect) => (effect.do === 'emit' ? [effect.event] : [])));
    return effects.filter((effect) => effect.do !== 'emit');
  }

  /** Up to the claim. */
  wish(trigger: RenewalTrigger = 'schedule', how: Partial<Extract<Input, { on: 'wanted' }>> = {}): readonly Effect[] {
    return [...this.feed({ on: 'wanted', trigger, ...how }), ...this.feed({ on: 'admitted' })];
  }

  claim(lease: Partial<Lease> = {}, trigger: RenewalTrigger = 'schedule'): readonly Effect[] {
    this.wish(trigger);
    return this.feed(granted(lease));
  }

  create(): readonly Effect[] {
    return this.feed({ on: 'created', issued: anIssuedSession({ sentAt: this.now.wall, receivedAt: this.now.wall }) });
  }

  fail(kind: GatewayFailureKind, wasReached = true): readonly Effect[] {
    return this.feed({ on: 'not_created', failure: new GatewayFailure({ kind, wasReached, detail: 'on purpose' }) });
  }

  read(state: Partial<StoredState> & { readonly ageMs?: number } = {}): readonly Effect[] {
    const { ageMs = 0, ...rest } = state;
    const stored: StoredState = { merchant: 'shop', stored: { kind: 'absent' }, dueInMs: MINUTE, ...rest };
    return this.feed({ on: 'stored', state: stored, ageMs, failureBefore: this.merchant.failure });
  }
}

function aLease(overrides: Partial<Lease> = {}): Lease {
  return { merchant: 'shop', owner: 'me', fence: 1_000, remainingMs: 15_000, failures: 0, ...overrides };
}

export const granted = (lease: Partial<Lease> = {}): Input => ({
  on: 'claimed',
  answer: { kind: 'claimed', lease: aLease(lease) },
});

/** A merchant with a session of fifteen minutes that is renewed from its twelfth on. */
export const served = (generation = 10): Partial<Merchant> => ({
  held: heldFrom(aSession({ generation }), 0),
  floor: generation,
});

export const effectNames = (effects: readonly Effect[]): string[] => effects.map((effect) => effect.do);
export const resultOf = (effects: readonly Effect[]): unknown =>
  effects.flatMap((effect) => (effect.do === 'end' ? [effect.result] : []))[0];
export const effectIn = <Name extends Effect['do']>(
  effects: readonly Effect[],
  name: Name,
): Extract<Effect, { do: Name }> => {
  const effect = effects.find((one) => one.do === name);
  if (effect === undefined) throw new Error(`no effect ${name} among ${effectNames(effects).join(', ')}`);
  return effect as Extract<Effect, { do: Name }>;
};
