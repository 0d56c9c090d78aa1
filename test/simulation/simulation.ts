import { CallCheck } from './call-check.js';
import { Consumers } from './consumers.js';
import { IdentityCheck } from './identity-check.js';
import { Judge, type Violation } from './judge.js';
import { LeaseLedger } from './lease-ledger.js';
import { type AlterReplica, Life } from './life.js';
import { RandomStream } from './random-streams.js';
import type { Fault, ForgedGeneration, Scenario } from './scenario.js';
import { ServingCheck } from './serving-check.js';
import { Settlements } from './settlements.js';
import { type IssuedToken, SimulatedGateway } from './simulated-gateway.js';
import type { AppliedCall } from './store-calls.js';
import { memoryStore, type MakeStore, StoreServer } from './store-server.js';
import { EndlessMoment, VirtualWorld } from './virtual-world.js';
import { befalls, Weather } from './weather.js';

const LOOK_EVERY_MS = 50;
const STOPPING_MS = 8_000;
/** A place in the program that a replica never reaches is given up after this. */
const MAX_AMBUSH_MS = 10_000;

export interface SimulationOptions {
  /** By default, the one in memory. */
  readonly makeStore?: MakeStore;
  readonly alter?: AlterReplica;
  readonly keepsTrace?: boolean;
}

export interface Outcome {
  readonly violation: Violation | undefined;
  readonly trace: readonly string[];
  readonly digest: number;
  readonly figures: Figures;
}

export interface Figures {
  readonly createCalls: number;
  readonly needlessCalls: number;
  readonly presented: number;
  readonly refused: number;
  readonly longestDeadMs: number;
  readonly storeSteps: number;
}

/** Plays a scenario to its end, or to the first violation. */
export async function simulate(scenario: Scenario, options: SimulationOptions = {}): Promise<Outcome> {
  const run = new SimulationRun(scenario, options);
  const unhandled = (error: unknown): void => run.unhandled(error);
  process.on('unhandledRejection', unhandled);
  try {
    return await run.play();
  } finally {
    process.off('unhandledRejection', unhandled);
  }
}

class SimulationRun {
  readonly #scenario: Scenario;
  readonly #options: SimulationOptions;
  readonly #world = new VirtualWorld();
  readonly #weather = new Weather();
  readonly #judge: Judge;
  readonly #identities: IdentityCheck;
  readonly #leases: LeaseLedger;
  readonly #settlements: Settlements;
  readonly #gateway: SimulatedGateway;
  readonly #server: StoreServer;
  readonly #calls: CallCheck;
  readonly #serving: ServingCheck;
  readonly #consumers: Consumers;
  readonly #lives = new Map<number, Life>();
  readonly #wallOffsets: number[];
  #storeSteps = 0;

  constructor(scenario: Scenario, options: SimulationOptions) {
    this.#scenario = scenario;
    this.#options = options;
    const [world, weather] = [this.#world, this.#weather];
    const judge = new Judge(world, options.keepsTrace ?? false);
    this.#judge = judge;
    this.#wallOffsets = [...scenario.wallOffsetsMs];
    this.#identities = new IdentityCheck(judge);
    this.#leases = new LeaseLedger(world);
    this.#settlements = new Settlements(world, judge);
    const random = new RandomStream(scenario.seed, 'gateway');
    this.#gateway = new SimulatedGateway({ world, weather, scenario, random, witness: this.#gatewayWitness() });
    this.#calls = new CallCheck({
      world,
      judge,
      scenario,
      leases: this.#leases,
      live: (merchant) => this.#gateway.live(merchant),
      renewalDueAtMs: (issued) => this.#renewalDueAtMs(issued),
      isRunning: (owner) => [...this.#lives.values()].some((life) => life.process.owner === owner && life.isRunning),
    });
    this.#server = new StoreServer({
      world,
      weather,
      makeStore: options.makeStore ?? memoryStore,
      witness: this.#storeWitness(),
    });
    const [gateway, leases, calls] = [this.#gateway, this.#leases, this.#calls];
    this.#serving = new ServingCheck({ world, judge, weather, scenario, gateway, leases, calls });
    this.#consumers = new Consumers({
      world,
      judge,
      scenario,
      gateway,
      random: new RandomStream(scenario.seed, 'consumers'),
      serving: this.#serving,
      settlements: this.#settlements,
      lives: () => [...this.#lives.values()],
    });
  }

  async play(): Promise<Outcome> {
    const { replicas, faults, forMs } = this.#scenario;
    for (let number = 0; number < replicas; number += 1) this.#start(number);
    for (const fault of faults) this.#world.after(fault.atMs, () => this.#begin(fault));
    this.#consumers.start();
    this.#look();
    await this.#run(forMs);
    const stopped = [...this.#lives.values()];
    for (const life of stopped) life.stop();
    this.#lives.clear();
    await this.#run(forMs + STOPPING_MS);
    for (const life of stopped) life.lookAtTimers();
    // Unhandled rejections are reported once the event loop turns.
    await new Promise((resolve) => setImmediate(resolve));
    return {
      violation: this.#judge.violation,
      trace: this.#judge.trace,
      digest: this.#judge.digest,
      figures: {
        createCalls: this.#calls.total,
        needlessCalls: this.#calls.needless,
        presented: this.#consumers.presented,
        refused: this.#consumers.refused,
        longestDeadMs: this.#serving.longestDeadMs,
        storeSteps: this.#storeSteps,
      },
    };
  }

  async #run(untilMs: number): Promise<void> {
    try {
      await this.#world.run(untilMs);
    } catch (error) {
      if (!(error instanceof EndlessMoment)) throw error;
      this.#judge.violated('every loop has a pace', error.message);
    }
  }

  unhandled(error: unknown): void {
    const detail = error instanceof Error ? error.stack : String(error);
    this.#judge.violated('no rejection is unhandled', detail ?? 'an error without a stack');
  }

  #start(number: number): void {
    const life = new Life(
      {
        world: this.#world,
        weather: this.#weather,
        scenario: this.#scenario,
        server: this.#server,
        gateway: this.#gateway,
        judge: this.#judge,
        identities: this.#identities,
        settlements: this.#settlements,
        asked: (call) => this.#serving.asked(call),
        ...(this.#options.alter === undefined ? {} : { alter: this.#options.alter }),
      },
      number,
      this.#wallOffsets[number] ?? 0,
    );
    this.#lives.set(number, life);
  }

  #look(): void {
    for (const life of this.#lives.values()) {
      if (!life.isRunning) continue;
      life.lookAtHeld();
      this.#serving.look(life);
    }
    this.#settlements.look();
    this.#world.after(LOOK_EVERY_MS, () => this.#look());
  }

  #begin(fault: Fault): void {
    this.#judge.note(() => `fault ${JSON.stringify(fault)}`);
    this.#calls.faultBegins(fault);
    this.#weather.begin(fault);
    switch (fault.kind) {
      case 'pause':
      case 'crash':
        this.#ambush(fault);
        return;
      case 'store_clock':
        this.#server.setClock(fault.byMs);
        break;
      case 'store_emptied':
        this.#server.empty();
        break;
      case 'store_failover':
        this.#server.failOver(fault.losesWrites);
        break;
      case 'record_damaged':
        this.#server.damage(fault.merchant, fault.part);
        break;
      case 'wall_clock':
        this.#jumpWall(fault.whom, fault.byMs);
        break;
      case 'forged_hint':
        this.#forge(fault);
        break;
      default:
        break;
    }
    this.#endLater(fault);
  }

  #endLater(fault: Fault): void {
    this.#world.after(fault.lastsMs, () => this.#end(fault));
  }

  #end(fault: Fault): void {
    this.#weather.end(fault);
    this.#serving.faultEnds(fault);
    this.#judge.note(() => `end of ${fault.kind}`);
    if (losesHints(fault)) {
      for (const life of this.#lives.values()) {
        if (!('whom' in fault) || befalls(fault.whom, life.number)) life.link.hear({ kind: 'gap' });
      }
    }
  }

  /** Stops the replica at once, or the next time that it reaches the given place. */
  #ambush(fault: Extract<Fault, { kind: 'pause' | 'crash' }>): void {
    const life = this.#lives.get(fault.whom);
    let isDue = true;
    const strike = (): void => {
      if (!isDue || life === undefined || !life.isRunning) return;
      isDue = false;
      this.#judge.note(() => `${life.process.owner} is stopped: ${fault.kind}`);
      if (fault.kind === 'pause') life.process.freeze();
      else this.#kill(life);
      this.#world.after(fault.lastsMs, () => {
        if (fault.kind === 'pause') life.thaw();
        else this.#start(fault.whom);
        this.#end(fault);
      });
    };
    if (fault.at === undefined) strike();
    else life?.process.arm(fault.at, strike);
    this.#world.after(fault.at === undefined ? 0 : MAX_AMBUSH_MS, () => {
      if (isDue) this.#end(fault);
      isDue = false;
    });
  }

  #kill(life: Life): void {
    life.process.kill();
    this.#lives.delete(life.number);
    void life.link.close();
  }

  #jumpWall(number: number, byMs: number): void {
    this.#wallOffsets[number] = (this.#wallOffsets[number] ?? 0) + byMs;
    this.#lives.get(number)?.jumpWall(byMs);
  }

  #forge(fault: Extract<Fault, { kind: 'forged_hint' }>): void {
    for (const life of this.#lives.values()) {
      if (!befalls(fault.whom, life.number)) continue;
      const held = life.replica.held.get(fault.merchant)?.generation ?? 0;
      const { merchant } = fault;
      if (fault.hint === 'none') life.link.hear({ kind: 'changed', merchant });
      else life.link.hear({ kind: 'changed', merchant, generation: forgedGeneration(fault.hint, held) });
    }
  }

  #renewalDueAtMs({ merchant, token }: IssuedToken): number | undefined {
    const moments = [...this.#lives.values()]
      .filter((life) => life.isRunning)
      .flatMap((life) => life.renewalDueAtMs(merchant, token) ?? []);
    return moments.length === 0 ? undefined : Math.min(...moments);
  }

  #gatewayWitness(): ConstructorParameters<typeof SimulatedGateway>[0]['witness'] {
    return {
      called: (merchant, owner) => {
        this.#judge.note(() => `${owner} calls the gateway for ${merchant}`);
        this.#calls.called(merchant, owner);
      },
      ended: (merchant, owner) => this.#calls.ended(merchant, owner),
      carriedOut: ({ merchant, token }, replaced) => {
        this.#judge.note(
          () => `the gateway makes ${token.slice(-4)} for ${merchant} after ${replaced?.token.slice(-4)}`,
        );
      },
      delivered: ({ token }) => this.#judge.note(() => `the gateway's answer with ${token.slice(-4)} has arrived`),
    };
  }

  #storeWitness(): ConstructorParameters<typeof StoreServer>[0]['witness'] {
    return {
      applied: (call) => this.#applied(call),
    };
  }

  #applied(call: AppliedCall): void {
    this.#storeSteps += 1;
    this.#leases.applied(call);
    if (call.operation === 'publish') this.#identities.seen(call.args[0].session, 'published');
    if (call.operation === 'read') {
      for (const { stored } of call.result.states) {
        if (stored.kind === 'session') this.#identities.seen(stored.session, 'at rest');
      }
    }
    if (call.operation !== 'due' && call.operation !== 'read') {
      this.#judge.note(() => `store ${call.operation} ${JSON.stringify(abridged(call))}`);
    }
  }
}

/** Whether hints may be lost: the connection says so when it comes back. */
function losesHints(fault: Fault): boolean {
  if (fault.kind === 'network' || fault.kind === 'announcements') return fault.loss > 0;
  return ['store_silent', 'store_emptied', 'store_failover'].includes(fault.kind);
}

function forgedGeneration(hint: Exclude<ForgedGeneration, 'none'>, held: number): number {
  switch (hint) {
    case 'largest':
      return Number.MAX_SAFE_INTEGER;
    case 'nonsense':
      return Number.NaN;
    case 'negative':
      return -1.5;
    case 'a_little_ahead':
      return held + 1;
  }
}

function abridged(call: AppliedCall): unknown {
  if (call.operation === 'publish') {
    const [{ session }, lease] = call.args;
    const { merchant, generation, authToken } = session;
    return { merchant, owner: lease?.owner, generation, token: authToken.slice(-4), result: call.result };
  }
  return { args: call.args, result: call.result };
}
