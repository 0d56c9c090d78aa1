import { type Clock, instantFromEpochMs } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import type { Announcement, SessionStore, StoredState } from '#libs/session';
import { MemorySessionStore } from '#libs/store';
import { WORLD_EPOCH_MS } from './replica-process.js';
import { type AppliedCall, perform, type StoreCall, writes } from './store-calls.js';
import type { VirtualWorld } from './virtual-world.js';
import type { Weather } from './weather.js';

export type MakeStore = (clock: Clock) => SessionStore;

export const memoryStore: MakeStore = (clock) => new MemorySessionStore({ clock });

export type StoreAnswer =
  { readonly kind: 'answered'; readonly applied: AppliedCall } | { readonly kind: 'failed'; readonly error: unknown };

/** Watches what the store does, and is told of every step that it answered. */
export interface StoreWitness {
  applied(call: AppliedCall): void;
}

export interface StoreServerParts {
  readonly world: VirtualWorld;
  readonly weather: Weather;
  readonly witness: StoreWitness;
  readonly makeStore: MakeStore;
}

interface LoggedWrite {
  readonly call: StoreCall;
  readonly atMs: number;
}

/** The store's own clock. No timers run on it. */
class StoreClock implements Clock {
  readonly #timeMs: () => number;

  constructor(timeMs: () => number) {
    this.#timeMs = timeMs;
  }

  now(): ReturnType<Clock['now']> {
    return instantFromEpochMs(Math.floor(this.#timeMs()));
  }

  /** A server counts by a single clock: when it is set, everything that it measures moves. */
  monotonicMs(): number {
    return this.#timeMs();
  }

  schedule(): never {
    throw new Error('a store has no timers: what ends, ends by being asked about');
  }
}

/** The machine that the store runs on: it can refuse, fall silent, lose what it was told, and have its clock set. */
export class StoreServer {
  readonly #parts: StoreServerParts;
  readonly #listeners = new Set<(announcement: Announcement) => void>();
  readonly #damaged = new Map<string, 'session' | 'everything'>();
  #clockOffsetMs = 0;
  #replayingAtMs: number | undefined;
  #log: LoggedWrite[] = [];
  #tested: SessionStore;

  constructor(parts: StoreServerParts) {
    this.#parts = parts;
    this.#tested = this.#rebuilt();
  }

  onAnnouncement(listener: (announcement: Announcement) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** `answer` is called at most once, and never while the store is silent. */
  handle(asked: StoreCall, answer: (answer: StoreAnswer) => void): void {
    const [silence] = this.#parts.weather.of('store_silent');
    if (silence !== undefined && silence.how !== 'unanswered') return;
    if (this.#parts.weather.of('store_refuses').length > 0) {
      answer({ kind: 'failed', error: new BrokerError('store_refused', { detail: 'READONLY' }) });
      return;
    }
    const call = this.#seenByDamage(asked);
    if (writes(call) || this.#makesKnown(call)) this.#log.push({ call, atMs: this.#timeMs() });
    this.#apply(call).then(
      (applied) => {
        this.#parts.witness.applied(applied);
        if (silence === undefined) answer({ kind: 'answered', applied });
      },
      (error: unknown) => answer({ kind: 'failed', error }),
    );
  }

  #makesKnown(call: StoreCall): boolean {
    if (call.operation !== 'read') return false;
    const known = this.#log.flatMap((one) => (one.call.operation === 'read' ? one.call.args[0] : []));
    return call.args[0].some(({ merchant }) => known.every((one) => one.merchant !== merchant));
  }

  setClock(byMs: number): void {
    this.#clockOffsetMs += byMs;
  }

  empty(): void {
    this.#log = [];
    this.#restart();
  }

  /** Another server takes over with what it was sent in time: the last writes are lost. */
  failOver(losesWrites: number): void {
    this.#log = this.#log.slice(0, Math.max(0, this.#log.length - losesWrites));
    this.#restart();
  }

  /** `session`: no key opens it. `everything`: what is there is not a record at all. */
  damage(merchant: string, part: 'session' | 'everything'): void {
    this.#damaged.set(merchant, part);
  }

  async #apply(call: StoreCall): Promise<AppliedCall> {
    const applied = await perform(this.#tested, call);
    // The tested store knows none of the replicas, only this server.
    if (applied.operation === 'announce') return { ...applied, result: this.#listeners.size };
    return this.#withDamage(applied);
  }

  /** Something that is not a record has no known generation: no claim is told that there is a newer one. */
  #seenByDamage(call: StoreCall): StoreCall {
    if (call.operation !== 'claim' || this.#damaged.get(call.args[0].merchant) !== 'everything') return call;
    return { operation: 'claim', args: [{ ...call.args[0], newerThan: Number.MAX_SAFE_INTEGER }] };
  }

  #withDamage(applied: AppliedCall): AppliedCall {
    if (applied.operation === 'publish' && applied.result === 'published') {
      this.#damaged.delete(applied.args[0].session.merchant);
    }
    if (applied.operation !== 'read' || this.#damaged.size === 0) return applied;
    const states = applied.result.states.map((state) => this.#damagedState(state));
    return { ...applied, result: { ...applied.result, states } };
  }

  #damagedState(state: StoredState): StoredState {
    const part = this.#damaged.get(state.merchant);
    if (part === 'everything') {
      return { ...state, stored: { kind: 'unopenable', generation: 0 } };
    }
    if (part === 'session' && state.stored.kind === 'session') {
      return { ...state, stored: { kind: 'unopenable', generation: state.stored.session.generation } };
    }
    return state;
  }

  #timeMs(): number {
    return this.#replayingAtMs ?? WORLD_EPOCH_MS + this.#parts.world.nowMs + this.#clockOffsetMs;
  }

  #restart(): void {
    this.#damaged.clear();
    this.#tested = this.#rebuilt();
  }

  #rebuilt(): SessionStore {
    const tested = this.#replayed();
    tested.onAnnouncement((announcement) => {
      if (tested !== this.#tested) return;
      for (const listener of [...this.#listeners]) listener(announcement);
    });
    return tested;
  }

  /** Stores take each step before they yield, so a replay is complete as soon as it has been requested. */
  #replayed(): SessionStore {
    const store = this.#parts.makeStore(new StoreClock(() => this.#timeMs()));
    for (const { call, atMs } of this.#log) {
      this.#replayingAtMs = atMs;
      void perform(store, call);
    }
    this.#replayingAtMs = undefined;
    return store;
  }
}
