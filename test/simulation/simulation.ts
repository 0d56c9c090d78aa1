import { BrokerError } from '#libs/errors';
import {
  type HandoverAudience,
  type Publication,
  type Session,
  type SessionEvent,
  SessionReplica,
  type SessionStore,
  type StoredStates,
} from '#libs/session';
import { FakeClock, someSettings } from '#libs/testing';
import { CallCheck, type CheckParts, type Life, ServingCheck, TIME_OF_OTHERS_MS } from './checks.js';
import { Judge, type Violation } from './judge.js';
import { Random } from './random.js';
import { concerns, type Fault, type FaultKind, MERCHANTS, type Scenario, strikes, type Way } from './scenario.js';
import { SimulatedGateway } from './simulated-gateway.js';
import { SimulatedProcess } from './simulated-process.js';
import { LeaseLedger, type Question, StoreLink, StoreServer } from './simulated-store.js';

const LOOK_EVERY_MS = 50;
/** The pace at which the app ticks a replica. */
const APP_TICK_MS = 1_000;
/** Enough for however many questions a tick asks of a silent store, one after another. */
const MAX_TICK_MS = 30_000;
const STOP_GRACE_MS = 1_000;
const MAX_STOP_MS = STOP_GRACE_MS + 5_000;
const PARTICIPANTS = 2;
/** For a participant; longer than the shorter hand-over that can be drawn. */
const MAX_CALL_MS = 400;
const CONSUMERS = 2;
const MAX_WAIT_MS = 3_000;
/** On top of the requested wait: a question to a store that is silent, and its timeout. */
const ANSWER_ALLOWANCE_MS = 3_000;

const never = (): AbortSignal => new AbortController().signal;

export type ReplicaPortsOf = ConstructorParameters<typeof SessionReplica>[0];

/** Puts mistakes into the store, or between a replica and its ports. */
export interface SimulationOptions {
  readonly alterStore?: (store: SessionStore) => SessionStore;
  readonly alter?: (ports: ReplicaPortsOf) => ReplicaPortsOf;
}

export interface Outcome {
  readonly violation: Violation | undefined;
  readonly trace: readonly string[];
  readonly figures: Readonly<
    Record<'createCalls' | 'needlessCalls' | 'presented' | 'refused' | 'longestDeadMs', number>
  >;
}

/** Plays a scenario to its end, or to the first violation. */
export async function simulate(scenario: Scenario, options: SimulationOptions = {}): Promise<Outcome> {
  const run = new Simulation(scenario, options);
  const unhandled = (error: unknown): void => run.unhandled(error);
  process.on('unhandledRejection', unhandled);
  try {
    return await run.play();
  } finally {
    process.off('unhandledRejection', unhandled);
  }
}

class Simulation {
  readonly #world = new FakeClock();
  readonly #judge = new Judge(this.#world);
  readonly #going = new Set<Fault>();
  readonly #lives = new Map<number, Life>();
  readonly #leases = new LeaseLedger();
  readonly #scenario: Scenario;
  readonly #options: SimulationOptions;
  readonly #random: Random;
  readonly #wallOffsets: number[];
  readonly #gateway: SimulatedGateway;
  readonly #server: StoreServer;
  readonly #calls: CallCheck;
  readonly #serving: ServingCheck;
  #presented = 0;
  #refused = 0;

  constructor(scenario: Scenario, options: SimulationOptions) {
    this.#scenario = scenario;
    this.#options = options;
    this.#random = new Random(scenario.seed, 'consumers');
    this.#wallOffsets = [...scenario.wallOffsetsMs];
    const [world, going] = [this.#world, this.#faults];
    this.#gateway = new SimulatedGateway({
      ...{ world, going, scenario },
      random: new Random(scenario.seed, 'gateway'),
      called: (call) => {
        this.#judge.note(`${call.owner} calls the gateway for ${call.merchant}`);
        this.#calls.called(call);
      },
    });
    this.#server = new StoreServer({
      ...{ world, going, alter: options.alterStore },
      applied: (question, answer) => this.#applied(question, answer),
    });
    const checks: CheckParts = {
      ...{ world, scenario, judge: this.#judge, gateway: this.#gateway, leases: this.#leases },
      isGoing: (merchant) => [...this.#going].some((fault) => concerns(fault, merchant)),
      lives: () => [...this.#lives.values()],
    };
    this.#calls = new CallCheck(checks);
    this.#serving = new ServingCheck(checks);
  }

  async play(): Promise<Outcome> {
    const { replicas, faults, forMs } = this.#scenario;
    for (let number = 0; number < replicas; number += 1) this.#start(number);
    for (const fault of faults) this.#world.schedule(fault.atMs, () => this.#begin(fault));
    for (let consumer = 0; consumer < CONSUMERS; consumer += 1) this.#planRead(consumer);
    await this.#pass(forMs);
    const stopped = [...this.#lives.values()];
    this.#lives.clear();
    for (const life of stopped) this.#stop(life);
    await this.#pass(MAX_STOP_MS + LOOK_EVERY_MS);
    for (const { process } of stopped) {
      if (process.timers === 0) continue;
      this.#judge.violated('no timer is left after the stop', `${process.owner} left ${process.timers}`);
    }
    const { violation, trace } = this.#judge;
    const figures = {
      createCalls: this.#calls.calls.length,
      needlessCalls: this.#calls.needless,
      presented: this.#presented,
      refused: this.#refused,
      longestDeadMs: this.#serving.longestDeadMs,
    };
    return { violation, trace, figures };
  }

  unhandled(error: unknown): void {
    const detail = error instanceof Error ? error.stack : String(error);
    this.#judge.violated('no rejection is unhandled', detail ?? 'an error without a stack');
  }

  /** Lets time pass, and looks at what is served; ends with the first violation. */
  async #pass(forMs: number): Promise<void> {
    for (let passedMs = 0; passedMs < forMs && this.#judge.violation === undefined; passedMs += LOOK_EVERY_MS) {
      await this.#world.advance(LOOK_EVERY_MS);
      for (const life of this.#lives.values()) if (life.process.isRunning) this.#serving.look(life);
      this.#judge.look();
    }
  }

  readonly #faults = (kind: FaultKind): readonly Fault[] => [...this.#going].filter((fault) => fault.kind === kind);

  #applied(question: Question, answer: unknown): void {
    const { operation, args } = question;
    this.#leases.applied(question, answer, this.#world.monotonicMs());
    if (operation === 'publish') this.#judge.seen((args[0] as Publication).session, 'published');
    if (operation === 'read') {
      for (const { stored } of (answer as StoredStates).states) {
        if (stored.kind === 'session') this.#judge.seen(stored.session, 'at rest');
      }
    } else if (operation !== 'due') this.#judge.note(`store ${operation} ${JSON.stringify({ args, answer })}`);
  }

  // ---- Replicas

  #start(number: number): void {
    const { seed, tripMs } = this.#scenario;
    const [world, going, server] = [this.#world, this.#faults, this.#server];
    const owner = `replica-${number}@${Math.round(world.monotonicMs())}`;
    const process = new SimulatedProcess(owner, world, {
      wallOffsetMs: this.#wallOffsets[number] ?? 0,
      noPace: () => this.#judge.violated('every loop has a pace', `${owner} plans without end`),
    });
    const link = new StoreLink({
      ...{ world, going, server, process, tripMs },
      replica: number,
      random: new Random(seed, `network of ${owner}`),
      asked: (question) => this.#serving.asked(question),
    });
    const ports = this.#portsOf(process, link);
    const replica = new SessionReplica(this.#options.alter?.(ports) ?? ports);
    const life: Life = { number, process, link, replica };
    replica.held.onAnyNewer((session) => {
      this.#judge.seen(session, `held by ${owner}`);
      this.#judge.note(`${owner} holds ${session.merchant}/${session.generation} ${session.authToken.slice(-4)}`);
    });
    replica.handovers.attach(this.#audience(life));
    this.#lives.set(number, life);
    this.#tick(life);
  }

  #portsOf(process: SimulatedProcess, link: StoreLink): ReplicaPortsOf {
    const { seed, gatewayTimeoutMs, lifetimeMs, budget, handoverMs } = this.#scenario;
    const settings = someSettings({
      ...{ gatewayTimeoutMs, budget, handoverMs },
      fallbackLifetimeMs: lifetimeMs,
      supersedes: true,
    });
    return {
      owner: process.owner,
      merchants: {
        ids: () => MERCHANTS,
        settingsOf: (merchant) => (MERCHANTS.some((one) => one === merchant) ? settings : undefined),
        gatewayIdOf: (merchant) => `https://${merchant}.gateway.example`,
      },
      store: link.store,
      gateway: this.#gateway.reachedFrom(process),
      events: { emit: (event) => this.#heard(process.owner, event) },
      clock: process,
      random: new Random(seed, process.owner).unit,
      graceMs: TIME_OF_OTHERS_MS,
    };
  }

  #heard(owner: string, { event, ...facts }: SessionEvent): void {
    if ('activity' in facts) this.#judge.broken(facts.activity, facts.error);
    const told = Object.entries(facts).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
    this.#judge.note([owner, event, ...told.map(([name, value]) => `${name}=${String(value)}`)].join(' '));
  }

  #tick(life: Life): void {
    const { process, replica } = life;
    process.arrive(() => {
      if (this.#lives.get(life.number) !== life) return;
      this.#judge.track(`tick of ${process.owner}`, replica.tick(), { process, withinMs: MAX_TICK_MS });
      this.#world.schedule(APP_TICK_MS, () => this.#tick(life));
    });
  }

  /** Participants that end their calls after a while, or not in time. */
  #audience({ process, ...life }: Omit<Life, 'replica'>): HandoverAudience {
    const random = new Random(this.#scenario.seed, `participants of ${process.owner}`);
    return {
      hold: ({ merchant, generation }) => {
        for (let number = 0; number < PARTICIPANTS; number += 1) {
          const participant = `${process.owner}-${number}`;
          this.#world.schedule(random.between(0, MAX_CALL_MS), () => {
            process.arrive(() =>
              this.#lives.get(life.number)?.replica.handovers.ready({ merchant, generation, participant }),
            );
          });
        }
        return PARTICIPANTS;
      },
      resume: () => undefined,
    };
  }

  /** As an orderly shutdown does. */
  #stop({ process, replica, link }: Life): void {
    process.arrive(() => {
      const stopped = replica.stop(STOP_GRACE_MS).then(() => link.cut());
      this.#judge.track(`stop of ${process.owner}`, stopped, { process, withinMs: MAX_STOP_MS });
    });
  }

  // ---- Consumers: they read, present at the gateway what they got, and report what was refused there

  #planRead(consumer: number): void {
    this.#world.schedule(this.#random.between(100, 600), () => {
      this.#read(consumer);
      this.#planRead(consumer);
    });
  }

  #read(consumer: number): void {
    const merchant = this.#random.oneOf(MERCHANTS);
    const waitsThroughFailure = this.#random.chance(0.5);
    this.#asks(`read of ${merchant}`, async (life) => {
      const wish = { merchant, minRemainingMs: 0, waitMs: MAX_WAIT_MS, waitsThroughFailure, signal: never() };
      this.#present(life, (await life.replica.wishes.read(wish)).session, consumer);
    });
  }

  #present(life: Life, session: Session, consumer: number): void {
    // What a frozen process resolves is handed out only when it runs again.
    if (!life.process.isRunning) return;
    this.#serving.handedOut(life, session.authToken);
    this.#presented += 1;
    const { merchant, generation, authToken } = session;
    if (this.#gateway.live(merchant)?.token === authToken) return;
    this.#refused += 1;
    this.#judge.note(`${merchant}/${generation} from ${life.process.owner} is refused at the gateway`);
    if (this.#random.chance(0.5)) return;
    this.#asks(`rejection of ${merchant}/${generation}`, async ({ replica }) => {
      this.#serving.rejected(authToken);
      const about = { merchant, generation, reason: 'b_expired_token', consumer: `consumer-${consumer}` };
      await replica.wishes.reject({ ...about, waitMs: MAX_WAIT_MS, signal: never() });
    });
  }

  /** Of any replica, as a balancer would choose it. A refusal is an answer; anything else is a bug. */
  #asks(name: string, ask: (life: Life) => Promise<void>): void {
    const lives = [...this.#lives.values()];
    if (lives.length === 0) return;
    const life = this.#random.oneOf(lives);
    const { process } = life;
    process.arrive(() => {
      const answered = ask(life).catch((error: unknown) => {
        if (!(error instanceof BrokerError)) throw error;
      });
      const withinMs = MAX_WAIT_MS + ANSWER_ALLOWANCE_MS;
      this.#judge.track(`${name} from ${process.owner}`, answered, { process, withinMs });
    });
  }

  // ---- Faults

  #begin(fault: Fault): void {
    this.#judge.note(`fault ${JSON.stringify(fault)}`);
    this.#calls.begins(fault);
    this.#going.add(fault);
    this.#strikers[fault.kind]?.(fault);
    this.#world.schedule(fault.lastsMs, () => this.#end(fault));
  }

  readonly #strikers: { readonly [Kind in FaultKind]?: (fault: Fault) => void } = {
    store_clock: ({ byMs }) => this.#server.setClock(byMs),
    store_emptied: () => this.#server.empty(),
    store_failover: ({ writes }) => this.#server.failOver(writes),
    record_damaged: ({ merchant, how }) => this.#server.damage(merchant, how === 'session' ? how : 'everything'),
    pause: ({ replica }) => this.#lives.get(replica)?.process.freeze(),
    crash: ({ replica }) => {
      const life = this.#lives.get(replica);
      life?.process.kill();
      life?.link.cut();
      this.#lives.delete(replica);
    },
    wall_clock: ({ replica, byMs }) => {
      this.#wallOffsets[replica] = (this.#wallOffsets[replica] ?? 0) + byMs;
      const process = this.#lives.get(replica)?.process;
      if (process === undefined) return;
      process.wallOffsetMs += byMs;
      process.awakeSinceMs = this.#world.monotonicMs();
    },
    forged_hint: (fault) => {
      for (const { number, link, replica } of this.#lives.values()) {
        if (!strikes(fault, number)) continue;
        const generation = forgedGeneration(fault.how, replica.held.generationOf(fault.merchant));
        const forged = generation === undefined ? {} : { generation };
        link.hear({ kind: 'changed', merchant: fault.merchant, ...forged });
      }
    },
  };

  #end(fault: Fault): void {
    this.#going.delete(fault);
    this.#judge.note(`end of ${fault.kind}`);
    const { kind, replica } = fault;
    const isLast = this.#faults(kind).every((other) => other.replica !== replica);
    if (kind === 'pause' && isLast) this.#lives.get(replica)?.process.thaw();
    if (kind === 'crash' && isLast && !this.#lives.has(replica) && this.#lives.size > 0) this.#start(replica);
    this.#serving.ends(fault);
    if (!losesHints(fault)) return;
    for (const { number, link } of this.#lives.values()) {
      if (kind.startsWith('store_') || strikes(fault, number)) link.hear({ kind: 'gap' });
    }
  }
}

/** Whether hints may be lost: the connection says so when it comes back. */
function losesHints({ kind, loss }: Fault): boolean {
  if (kind === 'network' || kind === 'announcements') return loss > 0;
  return ['store_silent', 'store_emptied', 'store_failover'].includes(kind);
}

/** Values that no adapter should let through, and values that one might if a stranger talks to it. */
function forgedGeneration(how: Way, held: number): number | undefined {
  switch (how) {
    case 'largest':
      return Number.MAX_SAFE_INTEGER;
    case 'nonsense':
      return Number.NaN;
    case 'negative':
      return -1.5;
    case 'a little ahead':
      return held + 1;
    default:
      return undefined;
  }
}
