import { type HandoverAudience, type SessionEvent, SessionReplica, type SessionSettings } from '#libs/session';
import { someSettings } from '#libs/testing';
import type { IdentityCheck } from './identity-check.js';
import type { Judge } from './judge.js';
import { RandomStream } from './random-streams.js';
import { ReplicaProcess } from './replica-process.js';
import type { Scenario } from './scenario.js';
import type { Settlements } from './settlements.js';
import type { SimulatedGateway } from './simulated-gateway.js';
import { StoreLink } from './store-link.js';
import type { StoreCall } from './store-calls.js';
import type { StoreServer } from './store-server.js';
import type { VirtualWorld } from './virtual-world.js';
import type { Weather } from './weather.js';

/** The pace at which the app ticks a replica. */
const APP_TICK_MS = 1_000;
/** Enough for however many questions a tick asks of a silent store, one after another. */
const MAX_TICK_MS = 30_000;
const GRACE_MS = 1_000;
/** The time that the app gives others, if the store is shared. */
export const TIME_OF_OTHERS_MS = 1_500;
const MAX_STOP_MS = GRACE_MS + 5_000;
const PARTICIPANTS = 2;
/** For a participant; longer than the shorter hand-over that can be drawn. */
const MAX_CALL_MS = 400;

/** Puts something between a replica and its ports: this is how mistakes are planted. */
export type AlterReplica = (ports: ReplicaPortsOf) => ReplicaPortsOf;
export type ReplicaPortsOf = ConstructorParameters<typeof SessionReplica>[0];

export interface LifeParts {
  readonly world: VirtualWorld;
  readonly weather: Weather;
  readonly scenario: Scenario;
  readonly server: StoreServer;
  readonly gateway: SimulatedGateway;
  readonly judge: Judge;
  readonly identities: IdentityCheck;
  readonly settlements: Settlements;
  readonly asked: (call: StoreCall) => void;
  readonly alter?: AlterReplica;
}

/**
 * One life of a replica, from its start to its stop or crash: the real replica, in a process that can be stopped
 * anywhere.
 */
export class Life {
  readonly number: number;
  readonly process: ReplicaProcess;
  readonly replica: SessionReplica;
  readonly link: StoreLink;
  readonly #parts: LifeParts;
  /** When each session that was taken over here is to be renewed, by its token. */
  readonly #renewAtMs = new Map<string, number>();
  readonly #newest = new Map<string, number>();
  #awakeSinceMs: number;
  #isTicking = true;

  constructor(parts: LifeParts, number: number, wallOffsetMs: number) {
    const { world, weather, scenario, server, gateway } = parts;
    this.#parts = parts;
    this.number = number;
    this.#awakeSinceMs = world.nowMs;
    const owner = `replica-${number}@${Math.round(world.nowMs)}`;
    this.process = new ReplicaProcess(owner, world, wallOffsetMs);
    const random = new RandomStream(scenario.seed, owner);
    const network = new RandomStream(scenario.seed, `network of ${owner}`);
    this.link = new StoreLink({
      world,
      weather,
      server,
      process: this.process,
      replica: number,
      random: network,
      asked: parts.asked,
    });
    const ports = {
      owner,
      merchants: merchantsOf(scenario),
      store: this.link,
      gateway: gateway.reachedFrom(this.process),
      events: { emit: (event: SessionEvent) => this.#heard(event) },
      clock: this.process.clock,
      random: random.unit,
      graceMs: TIME_OF_OTHERS_MS,
    };
    this.replica = new SessionReplica(parts.alter?.(ports) ?? ports);
    this.replica.held.onAnyNewer((session) => {
      const { merchant, generation, authToken, createdAt, renewAt } = session;
      parts.identities.seen(session, `held by ${owner}`);
      parts.judge.note(() => `${owner} holds ${merchant}/${generation} ${authToken.slice(-4)}`);
      const deliveredAtMs = gateway.issued(authToken)?.deliveredAtMs ?? world.nowMs;
      this.#renewAtMs.set(authToken, deliveredAtMs + (renewAt - createdAt));
    });
    this.replica.handovers.attach(this.#audience(new RandomStream(scenario.seed, `participants of ${owner}`)));
    this.#tick();
  }

  get awakeSinceMs(): number {
    return this.#awakeSinceMs;
  }

  get isRunning(): boolean {
    return this.process.isRunning;
  }

  /** From when on a session held here is to be renewed, by true time; undefined if it is not held. */
  renewalDueAtMs(merchant: string, token: string): number | undefined {
    return this.replica.held.get(merchant)?.authToken === token ? this.#renewAtMs.get(token) : undefined;
  }

  /** What is held must never go back to an older generation. */
  lookAtHeld(): void {
    for (const merchant of this.#parts.scenario.merchants) {
      const generation = this.replica.held.get(merchant)?.generation ?? 0;
      const before = this.#newest.get(merchant) ?? 0;
      if (generation < before) {
        const detail = `${this.process.owner} holds ${merchant}/${generation} after ${before}`;
        this.#parts.judge.violated('no generation that is held goes back', detail);
      }
      this.#newest.set(merchant, generation);
    }
  }

  thaw(): void {
    this.#awakeSinceMs = this.#parts.world.nowMs;
    this.process.thaw();
  }

  jumpWall(byMs: number): void {
    this.process.clock.jump(byMs);
    this.#awakeSinceMs = this.#parts.world.nowMs;
  }

  /** Ends as an orderly shutdown does. */
  stop(): void {
    const { settlements } = this.#parts;
    this.#isTicking = false;
    this.process.arrive(() => {
      const stopped = this.replica.stop(GRACE_MS).then(() => this.link.close());
      settlements.track(`stop of ${this.process.owner}`, stopped, { life: this, withinMs: MAX_STOP_MS });
    });
  }

  /** To be called once it has stopped and every reader has been answered. */
  lookAtTimers(): void {
    const { pendingTasks } = this.process.clock;
    const detail = `${this.process.owner} left ${pendingTasks}`;
    if (pendingTasks > 0) this.#parts.judge.violated('no timer is left after the stop', detail);
  }

  /** Participants that end their calls after a while, or not in time. */
  #audience(random: RandomStream): HandoverAudience {
    const { world } = this.#parts;
    return {
      hold: ({ merchant, generation }) => {
        for (let number = 0; number < PARTICIPANTS; number += 1) {
          const participant = `${this.process.owner}-${number}`;
          world.after(random.between(0, MAX_CALL_MS), () => {
            this.process.arrive(() => void this.replica.handovers.ready({ merchant, generation, participant }));
          });
        }
        return PARTICIPANTS;
      },
      resume: () => undefined,
    };
  }

  #tick(): void {
    if (!this.#isTicking || this.process.isDead) return;
    const { world, settlements } = this.#parts;
    this.process.arrive(() => {
      if (!this.#isTicking) return;
      const ticked = this.replica.tick();
      settlements.track(`tick of ${this.process.owner}`, ticked, { life: this, withinMs: MAX_TICK_MS });
      world.after(APP_TICK_MS, () => this.#tick());
    });
  }

  #heard(event: SessionEvent): void {
    const { judge } = this.#parts;
    if (event.event === 'broken') {
      const { activity, error } = event;
      judge.violated('nothing is broken', `${activity}: ${error instanceof Error ? error.stack : String(error)}`);
    }
    judge.note(() => `${this.process.owner} ${described(event)}`);
  }
}

function described(event: SessionEvent): string {
  const { event: name, ...rest } = event;
  const told = Object.entries(rest).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  return [name, ...told.map(([key, value]) => `${key}=${String(value)}`)].join(' ');
}

function merchantsOf(scenario: Scenario): ReplicaPortsOf['merchants'] {
  const settings: SessionSettings = someSettings({
    gatewayTimeoutMs: scenario.gatewayTimeoutMs,
    fallbackLifetimeMs: scenario.lifetimeMs,
    budget: scenario.budget,
    supersedes: true,
    handoverMs: scenario.handoverMs ?? 0,
  });
  return {
    ids: () => scenario.merchants,
    settingsOf: (merchant) => (scenario.merchants.includes(merchant) ? settings : undefined),
    gatewayIdOf: (merchant) => `https://${merchant}.gateway.example`,
  };
}
