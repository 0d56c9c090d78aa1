import { type Clock, type Instant, plusMs, type ScheduledTask } from '#libs/clock';
import {
  type Cause,
  type CreateSessionRequest,
  type IssuedSession,
  type MerchantCondition,
  type RejectionAnswer,
  type ServedSession,
  type Session,
  SessionReplica,
  type SessionSettings,
  type SessionStore,
  type WantedRenewalAnswer,
  type Wishes,
} from '#libs/session';
import { MemorySessionStore } from '#libs/store';
import { FakeClock, FakeGateway, RecordedEvents, someSettings } from '#libs/testing';
import { FaultyStore } from './faulty-store.js';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

const waiting = { merchant: 'shop', waitMs: 900, signal: new AbortController().signal };

/** The pace at which the app ticks a replica. */
const APP_TICK_MS = SECOND;

export interface ClusterOptions {
  readonly replicas?: number;
  readonly merchants?: readonly string[];
  readonly lifetimeMs?: number;
  readonly latencyMs?: number;
  readonly settings?: Partial<SessionSettings>;
  /** A pace slower than the app's makes weeks affordable, and shows that replicas wake up by themselves. */
  readonly tickMs?: number;
  readonly random?: () => number;
  /** How long a replica that is new to the store lets others speak first; not at all if left out. */
  readonly graceMs?: number;
  /** The gateway that each merchant's calls go to; the same for all if left out. */
  readonly gatewayIdOf?: (merchant: string) => string;
  /** The thumbprint of the key that each replica asks with; the same for all if left out. */
  readonly newestKeys?: readonly string[];
}

export interface ReplicaUnderTest {
  readonly replica: SessionReplica;
  readonly events: RecordedEvents;
  readonly stop: (graceMs?: number) => Promise<void>;
}

/** A clock that can be set: that of one replica, or that of the store. Time itself passes as `truth` does. */
class SetClock implements Clock {
  /** How far its wall clock is ahead of the truth. */
  aheadMs = 0;
  /** Whether its moments are counted by the wall clock, as those of a store are. */
  readonly #isStore: boolean;
  readonly #truth: Clock;

  constructor(truth: Clock, isStore = false) {
    this.#truth = truth;
    this.#isStore = isStore;
  }

  now(): Instant {
    return plusMs(this.#truth.now(), this.aheadMs);
  }

  monotonicMs(): number {
    return this.#truth.monotonicMs() + (this.#isStore ? this.aheadMs : 0);
  }

  schedule(delayMs: number, task: () => void): ScheduledTask {
    return this.#truth.schedule(delayMs, task);
  }
}

/** Several domain replicas on one memory store and one gateway, all in virtual time. */
export class Cluster {
  readonly clock = new FakeClock();
  readonly gateway: FakeGateway;
  readonly storeClock = new SetClock(this.clock, true);
  readonly #clocks: SetClock[] = [];
  store: MemorySessionStore;
  readonly replicas: ReplicaUnderTest[] = [];
  readonly #options: ClusterOptions;
  /** For every merchant; a change applies from the next session on. */
  settings: SessionSettings;
  /** Between each replica and the store. */
  readonly stores: FaultyStore[] = [];
  /** The configured merchants of every replica. */
  merchants: readonly string[];

  constructor(options: ClusterOptions = {}) {
    this.#options = options;
    this.merchants = options.merchants ?? ['shop'];
    this.settings = someSettings(options.settings);
    this.gateway = new FakeGateway({
      clock: this.clock,
      lifetimeMs: options.lifetimeMs ?? 900_000,
      latencyMs: options.latencyMs ?? 50,
    });
    this.store = new MemorySessionStore({ clock: this.storeClock });
    for (let index = 0; index < (options.replicas ?? 1); index += 1) this.addReplica();
  }

  /** One that has run for a while: unless the gateway is in trouble, there is a session. */
  static async running(options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster(options);
    await cluster.clock.advance(MINUTE);
    return cluster;
  }

  get first(): ReplicaUnderTest {
    return this.at(0);
  }

  at(index: number): ReplicaUnderTest {
    const found = this.replicas[index];
    if (found === undefined) throw new Error(`there is no replica ${index}`);
    return found;
  }

  addReplica(): ReplicaUnderTest {
    const index = this.replicas.length;
    const events = new RecordedEvents();
    const replica = new SessionReplica({
      owner: `replica-${index}`,
      merchants: {
        ids: () => this.merchants,
        settingsOf: (id) => (this.merchants.includes(id) ? this.settings : undefined),
        gatewayIdOf: this.#options.gatewayIdOf ?? (() => 'gateway'),
        newestKeyOf: () => this.#options.newestKeys?.[index],
      },
      store: this.#reach(index),
      gateway: { createSession: (request) => this.#createSession(request, this.clockOf(index)) },
      events,
      clock: this.clockOf(index),
      random: this.#options.random ?? (() => 0.5),
      ...(this.#options.graceMs === undefined ? {} : { graceMs: this.#options.graceMs }),
    });
    let ticking = true;
    const tick = (): void => {
      if (!ticking) return;
      void replica.tick();
      nextTick = this.clock.schedule(this.#options.tickMs ?? APP_TICK_MS, tick);
    };
    let nextTick = this.clock.schedule(0, tick);
    const stop = async (graceMs = 0): Promise<void> => {
      ticking = false;
      nextTick.cancel();
      await replica.stop(graceMs);
    };
    const underTest = { replica, events, stop };
    this.replicas.push(underTest);
    return underTest;
  }

  /** The clock of one replica, to be set before or while it runs. */
  clockOf(index: number): SetClock {
    return (this.#clocks[index] ??= new SetClock(this.clock));
  }

  // ---- What is asked of a replica

  /** The answer that it has within this time, or the error that it is refused with. */
  async ask<Answer>(ask: (wishes: Wishes) => Promise<Answer>, ms = SECOND, replica = 0): Promise<Answer | Error> {
    const answer = ask(this.at(replica).replica.wishes).catch((error: unknown) => error as Error);
    await this.clock.advance(ms);
    return await answer;
  }

  read(
    wish: Partial<Parameters<Wishes['read']>[0]> = {},
    ms?: number,
    replica?: number,
  ): Promise<ServedSession | Error> {
    const any = { ...waiting, minRemainingMs: 0, waitsThroughFailure: false };
    return this.ask((wishes) => wishes.read({ ...any, ...wish }), ms, replica);
  }

  /** A consumer reports the session of this replica, unless it says which. */
  report(
    dead: Partial<Parameters<Wishes['reject']>[0]> = {},
    ms?: number,
    replica = 0,
  ): Promise<RejectionAnswer | Error> {
    const generation = this.at(replica).replica.held.generationOf('shop');
    const ours = { ...waiting, generation, reason: 'b_used_token' };
    return this.ask((wishes) => wishes.reject({ ...ours, ...dead }), ms, replica);
  }

  /** A person wants a newer one. */
  renew(waitMs?: number, ms?: number, replica?: number): Promise<WantedRenewalAnswer | Error> {
    const wish = waitMs === undefined ? waiting : { ...waiting, waitMs };
    return this.ask((wishes) => wishes.renew(wish), ms, replica);
  }

  /** On request, at this replica. */
  async renewedBy(replica: number): Promise<void> {
    await this.clock.advance(MINUTE);
    const before = this.session(replica).generation;
    await this.renew(SECOND, 5 * SECOND, replica);
    if (this.session(replica).generation === before) throw new Error('there is no newer session');
  }

  // ---- What happens to the store

  storeOf(index: number): FaultyStore {
    const found = this.stores[index];
    if (found === undefined) throw new Error(`there is no replica ${index}`);
    return found;
  }

  /** For every replica. */
  set storeIs(state: FaultyStore['state']) {
    for (const store of this.stores) store.state = state;
  }

  /** Everything that the store knew is lost. */
  emptyStore(): void {
    this.store = new MemorySessionStore({ clock: this.storeClock });
    for (const store of this.stores) store.attach(this.store);
  }

  /** What each replica tells of the merchant `shop`. */
  get conditions(): readonly MerchantCondition[] {
    return this.replicas.map(({ replica }) => replica.conditionOf('shop'));
  }

  get causes(): readonly (Cause | undefined)[] {
    return this.replicas.map(({ replica }) => replica.causeFor('shop'));
  }

  /** The exchange is timed by the clock of the replica that makes it; what the gateway says is by its own clock. */
  async #createSession(request: CreateSessionRequest, clock: SetClock): Promise<IssuedSession> {
    const issued = await this.gateway.createSession(request);
    const { sentAt, receivedAt } = issued;
    return { ...issued, sentAt: plusMs(sentAt, clock.aheadMs), receivedAt: plusMs(receivedAt, clock.aheadMs) };
  }

  #reach(index: number): SessionStore {
    const faulty = new FaultyStore(this.store);
    this.stores[index] = faulty;
    return faulty.view;
  }

  /** Of those of the merchant `shop`. */
  generations(merchant = 'shop'): readonly (number | undefined)[] {
    return this.served(merchant).map((served) => served?.session.generation);
  }

  /** What each replica would serve now. */
  served(merchant = 'shop'): readonly (ServedSession | undefined)[] {
    return this.replicas.map(({ replica }) => replica.wishes.peek(merchant));
  }

  session(replica = 0, merchant = 'shop'): Session {
    const served = this.served(merchant)[replica];
    if (served === undefined) throw new Error('there is no session to serve');
    return served.session;
  }

  now(): Instant {
    return this.clock.now();
  }
}

/** A signal for wishes that are never aborted. */
export const neverAborted = waiting.signal;
