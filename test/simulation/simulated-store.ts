import { type Clock, instantFromEpochMs } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import type { Announcement, ClaimResult, Lease, LeaseRelease, Publication, SessionStore } from '#libs/session';
import type { DeathReport, StoredState, StoredStates } from '#libs/session';
import { MemorySessionStore } from '#libs/store';
import type { FakeClock } from '#libs/testing';
import type { Random } from './random.js';
import { strikes, type Fault, type FaultKind } from './scenario.js';
import type { SimulatedProcess } from './simulated-process.js';

type Operation = Exclude<keyof SessionStore, 'onAnnouncement' | 'close'>;

/** A question to the store as it travels, and its answer. */
export interface Question {
  readonly operation: Operation;
  readonly args: readonly unknown[];
}

export interface StoreParts {
  readonly world: FakeClock;
  /** The faults of this kind that are going on. */
  readonly going: (kind: FaultKind) => readonly Fault[];
  /** Told of every step that the store takes. */
  readonly applied: (question: Question, answer: unknown) => void;
  /** Puts a mistake into the store. */
  readonly alter?: ((store: SessionStore) => SessionStore) | undefined;
}

const perform = (store: SessionStore, { operation, args }: Question): Promise<unknown> =>
  (store[operation] as (...all: readonly unknown[]) => Promise<unknown>).apply(store, [...args]);

/** The machine that the store runs on: it refuses, falls silent, loses what it was told, and has its clock set. */
export class StoreServer {
  readonly #parts: StoreParts;
  readonly #listeners = new Set<(announcement: Announcement) => void>();
  readonly #damaged = new Map<string, 'session' | 'everything'>();
  /** All that was asked: another server that was told of it is in the same state. */
  #log: { readonly question: Question; readonly atMs: number }[] = [];
  #replayingAtMs: number | undefined;
  #aheadMs = 0;
  #store: SessionStore;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#store = this.#rebuilt();
  }

  onAnnouncement(listener: (announcement: Announcement) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves once the question has been answered; undefined: never. */
  async handle(asked: Question): Promise<{ readonly answer: unknown } | undefined> {
    const { going, applied } = this.#parts;
    const [silence] = going('store_silent');
    if (silence !== undefined && silence.how !== 'unanswered') return undefined;
    if (going('store_refuses').length > 0) throw new BrokerError('store_refused', { detail: 'READONLY' });
    const question = this.#seenByDamage(asked);
    this.#log.push({ question, atMs: this.#nowMs() });
    // The tested store knows none of the replicas, only this server.
    const told = await perform(this.#store, question);
    const answer = question.operation === 'announce' ? this.#listeners.size : this.#withDamage(question, told);
    applied(question, answer);
    return silence === undefined ? { answer } : undefined;
  }

  setClock(byMs: number): void {
    this.#aheadMs += byMs;
  }

  empty(): void {
    this.#log = [];
    this.#restart();
  }

  /** Another server takes over with what it was sent in time: the last writes are lost. */
  failOver(losesWrites: number): void {
    const isWrite = ({ question: { operation } }: { readonly question: Question }): boolean =>
      !['due', 'read', 'announce'].includes(operation);
    for (let lost = 0; lost < losesWrites; lost += 1) this.#log.splice(Math.max(0, this.#log.findLastIndex(isWrite)));
    this.#restart();
  }

  /** `session`: no key opens it. `everything`: what is there is not a record at all. */
  damage(merchant: string, part: 'session' | 'everything'): void {
    this.#damaged.set(merchant, part);
  }

  /** Something that is not a record has no known generation: no claim is told that there is a newer one. */
  #seenByDamage(question: Question): Question {
    const [request] = question.args as [{ readonly merchant?: string } | undefined];
    if (question.operation !== 'claim' || this.#damaged.get(request?.merchant ?? '') !== 'everything') return question;
    return { ...question, args: [{ ...request, newerThan: Number.MAX_SAFE_INTEGER }] };
  }

  #withDamage({ operation, args }: Question, answer: unknown): unknown {
    if (operation === 'publish' && answer === 'published') {
      this.#damaged.delete((args[0] as Publication).session.merchant);
    }
    if (operation !== 'read') return answer;
    const read = answer as StoredStates;
    return { ...read, states: read.states.map((state) => this.#damagedState(state)) };
  }

  #damagedState(state: StoredState): StoredState {
    const part = this.#damaged.get(state.merchant);
    if (part === undefined || (part === 'session' && state.stored.kind !== 'session')) return state;
    const isRead = part === 'session' && state.stored.kind === 'session';
    return {
      ...state,
      stored: {
        kind: 'unopenable',
        generation: isRead && state.stored.kind === 'session' ? state.stored.session.generation : 0,
      },
    };
  }

  #nowMs(): number {
    return this.#replayingAtMs ?? Math.floor(this.#parts.world.now() + this.#aheadMs);
  }

  #restart(): void {
    this.#damaged.clear();
    this.#store = this.#rebuilt();
  }

  /** The memory store takes each step before it yields: a replay is complete as soon as it has been requested. */
  #rebuilt(): SessionStore {
    // A server counts by a single clock: when it is set, everything that it measures moves.
    const clock: Clock = {
      now: () => instantFromEpochMs(this.#nowMs()),
      monotonicMs: () => this.#nowMs(),
      schedule: () => {
        throw new Error('a store has no timers: what ends, ends by being asked about');
      },
    };
    const memory = new MemorySessionStore({ clock });
    const store = this.#parts.alter?.(memory) ?? memory;
    for (const { question, atMs } of this.#log) {
      this.#replayingAtMs = atMs;
      void perform(store, question);
    }
    this.#replayingAtMs = undefined;
    store.onAnnouncement((announcement) => {
      if (store !== this.#store) return;
      for (const listener of [...this.#listeners]) listener(announcement);
    });
    return store;
  }
}

/** An adapter gives up on a question after this. */
const COMMAND_TIMEOUT_MS = 500;
/** A refused connection is known at once. */
const UNREACHABLE_AFTER_MS = 1.5;
const MIN_TRIP_MS = 0.1;

interface LinkParts {
  readonly world: FakeClock;
  readonly going: (kind: FaultKind) => readonly Fault[];
  readonly server: StoreServer;
  readonly process: SimulatedProcess;
  /** The number of the replica that this process is a life of. */
  readonly replica: number;
  readonly random: Random;
  readonly tripMs: number;
  readonly asked: (question: Question) => void;
}

/** What a replica's adapter and the network make of the store: any request and any answer can be late or lost. */
export class StoreLink {
  readonly store: SessionStore;
  readonly #parts: LinkParts;
  readonly #listeners = new Set<(announcement: Announcement) => void>();
  readonly #endSubscription: () => void;

  constructor(parts: LinkParts) {
    this.#parts = parts;
    this.#endSubscription = parts.server.onAnnouncement((announcement) => this.#announced(announcement));
    this.store = {
      due: this.#asking('due'),
      claim: this.#asking('claim'),
      publish: this.#asking('publish'),
      release: this.#asking('release'),
      report: this.#asking('report'),
      read: this.#asking('read'),
      announce: this.#asking('announce'),
      onAnnouncement: (listener) => {
        this.#listeners.add(listener);
        return () => void this.#listeners.delete(listener);
      },
      close: () => Promise.resolve(this.cut()),
    };
  }

  /** The process is gone, or has closed its connections. */
  cut(): void {
    this.#endSubscription();
  }

  /** Tells the replica something that the store may never have said. */
  hear(announcement: Announcement): void {
    this.#parts.process.arrive(() => this.#listeners.forEach((listener) => listener(announcement)));
  }

  #asking<Of extends Operation>(operation: Of): SessionStore[Of] {
    return ((...args: readonly unknown[]) => this.#ask({ operation, args })) as SessionStore[Of];
  }

  #ask(question: Question): Promise<unknown> {
    const { process, server, asked, world, going } = this.#parts;
    asked(question);
    const askedAtMs = world.monotonicMs();
    return new Promise((resolve, reject) => {
      const isUnreachable = going('store_silent').some(({ how }) => how === 'unreachable');
      const timer = process.schedule(isUnreachable ? UNREACHABLE_AFTER_MS : COMMAND_TIMEOUT_MS, () =>
        reject(new BrokerError('store_unavailable', { detail: 'no answer in time' })),
      );
      const back = (settle: () => void): void => {
        this.#travel(() => {
          process.arrive(() => {
            timer.cancel();
            settle();
          });
        });
      };
      this.#travel(() => {
        server.handle(late(question, world.monotonicMs() - askedAtMs)).then(
          (answered) => answered && back(() => resolve(answered.answer)),
          (error: Error) => back(() => reject(error)),
        );
      });
    });
  }

  #travel(arrive: () => void): void {
    const { world, going, replica, random, tripMs } = this.#parts;
    let onWayMs = random.between(MIN_TRIP_MS, tripMs);
    for (const fault of going('network')) {
      if (!strikes(fault, replica)) continue;
      if (random.chance(fault.loss)) return;
      onWayMs += random.between(0, fault.lateMs);
    }
    world.schedule(onWayMs, arrive);
  }

  #announced(announcement: Announcement): void {
    const { going, replica, random, world } = this.#parts;
    if (going('store_silent').length > 0) return;
    const faults = going('announcements').filter((fault) => strikes(fault, replica));
    if (faults.some(({ loss }) => random.chance(loss))) return;
    const copies = faults.some(({ how }) => how === 'three times') ? 3 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      const lateMs = faults.reduce((sum, fault) => sum + random.between(0, fault.lateMs), 0);
      this.#travel(() => world.schedule(lateMs, () => this.hear(announcement)));
    }
  }
}

/** As the adapter for Redis sees to it: the time on its way makes older what is published or reported. */
function late({ operation, args }: Question, waitedMs: number): Question {
  if (operation === 'report') {
    const [merchant, report] = args as [string, DeathReport];
    return { operation, args: [merchant, { ...report, ageMs: report.ageMs + waitedMs }] };
  }
  if (operation !== 'publish') return { operation, args };
  const [{ session, ageMs, nextDueInMs }, ...lease] = args as [Publication, Lease?];
  const publication = { session, ageMs: ageMs + waitedMs, nextDueInMs: Math.max(0, nextDueInMs - waitedMs) };
  return { operation, args: [publication, ...lease] };
}

/** Who really has a lease: by true time, not by what the store's clock makes of it. */
export class LeaseLedger {
  readonly #leases = new Map<string, Pick<Lease, 'owner' | 'fence'> & { readonly endsAtMs: number }>();
  /** When each lease that was not given back unused was granted: this is what the budget counts. */
  readonly #takenAtMs = new Map<string, number[]>();

  /** The end of the merchant's last lease; 0 if there was none. */
  endsAtMs(merchant: string): number {
    return this.#leases.get(merchant)?.endsAtMs ?? 0;
  }

  ownerOf(merchant: string): string | undefined {
    return this.#leases.get(merchant)?.owner;
  }

  /** When the lease `calls` places before the next one was charged to the budget; undefined if there are fewer. */
  takenAtMs(merchant: string, calls: number): number | undefined {
    return this.#takenAtMs.get(merchant)?.at(-calls);
  }

  applied({ operation, args }: Question, answer: unknown, nowMs: number): void {
    if (operation === 'claim') this.#claimed(answer as ClaimResult, nowMs);
    if (operation === 'publish') this.#freed(args[1] as Lease | undefined, nowMs);
    if (operation !== 'release') return;
    const [lease, { called }] = args as [Lease, LeaseRelease];
    this.#freed(lease, nowMs);
    if (!called && answer === true) this.#takenAtMs.get(lease.merchant)?.pop();
  }

  #claimed(result: ClaimResult, nowMs: number): void {
    if (result.kind !== 'claimed') return;
    const { merchant, owner, fence, remainingMs } = result.lease;
    const taken = this.#takenAtMs.get(merchant) ?? [];
    if (this.#leases.get(merchant)?.fence !== fence) this.#takenAtMs.set(merchant, [...taken, nowMs]);
    this.#leases.set(merchant, { owner, fence, endsAtMs: nowMs + remainingMs });
  }

  #freed(lease: Lease | undefined, nowMs: number): void {
    const known = this.#leases.get(lease?.merchant ?? '');
    if (lease === undefined || known?.fence !== lease.fence) return;
    this.#leases.set(lease.merchant, { ...known, endsAtMs: Math.min(known.endsAtMs, nowMs) });
  }
}
