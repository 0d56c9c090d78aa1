import { BrokerError } from '#libs/errors';
import type { Session } from '#libs/session';
import type { Judge } from './judge.js';
import type { Life } from './life.js';
import type { RandomStream } from './random-streams.js';
import type { Scenario } from './scenario.js';
import type { ServingCheck } from './serving-check.js';
import type { Settlements } from './settlements.js';
import type { SimulatedGateway } from './simulated-gateway.js';
import type { VirtualWorld } from './virtual-world.js';

const CONSUMERS = 2;
const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 600;
const MAX_WAIT_MS = 3_000;
/** On top of the requested wait: a question to a store that is silent, and its timeout. */
const ANSWER_ALLOWANCE_MS = 3_000;
const NEVER = new AbortController().signal;

export interface ConsumersParts {
  readonly world: VirtualWorld;
  readonly random: RandomStream;
  readonly scenario: Scenario;
  readonly gateway: SimulatedGateway;
  readonly serving: ServingCheck;
  readonly settlements: Settlements;
  readonly judge: Judge;
  /** The lives that a balancer would choose from. */
  readonly lives: () => readonly Life[];
}

/** Services that read sessions, present them at the gateway, and report what was refused there, and nothing else. */
export class Consumers {
  readonly #parts: ConsumersParts;
  presented = 0;
  refused = 0;

  constructor(parts: ConsumersParts) {
    this.#parts = parts;
  }

  start(): void {
    for (let consumer = 0; consumer < CONSUMERS; consumer += 1) this.#plan(consumer);
  }

  #plan(consumer: number): void {
    const { world, random } = this.#parts;
    world.after(random.between(MIN_PAUSE_MS, MAX_PAUSE_MS), () => {
      this.#read(consumer);
      this.#plan(consumer);
    });
  }

  #read(consumer: number): void {
    const { random, scenario, settlements } = this.#parts;
    const merchant = random.oneOf(scenario.merchants);
    const waitsThroughFailure = random.chance(0.5);
    const life = this.#anyLife();
    life?.process.arrive(() => {
      const waitMs = MAX_WAIT_MS;
      const reading = life.replica.wishes
        .read({ merchant, minRemainingMs: 0, waitMs, waitsThroughFailure, signal: NEVER })
        .then(({ session }) => this.#present(life, session, consumer), expectBrokerError);
      settlements.track(`read of ${merchant} from ${life.process.owner}`, reading, {
        life,
        withinMs: waitMs + ANSWER_ALLOWANCE_MS,
      });
    });
  }

  #present(life: Life, session: Session, consumer: number): void {
    const { gateway, serving, judge, random } = this.#parts;
    // What a frozen process resolves is handed out only when it runs again.
    if (!life.isRunning) return;
    serving.handedOut(life, session.authToken);
    this.presented += 1;
    if (gateway.accepts(session.authToken)) return;
    this.refused += 1;
    judge.note(() => `${session.merchant}/${session.generation} from ${life.process.owner} is refused at the gateway`);
    if (random.chance(0.5)) this.#reject(session, consumer);
  }

  #reject({ merchant, generation, authToken }: Session, consumer: number): void {
    const { serving, settlements } = this.#parts;
    const life = this.#anyLife();
    life?.process.arrive(() => {
      serving.rejected(authToken);
      const rejecting = life.replica.wishes
        .reject({
          merchant,
          generation,
          waitMs: MAX_WAIT_MS,
          signal: NEVER,
          reason: 'b_expired_token',
          consumer: `consumer-${consumer}`,
        })
        .then(() => undefined, expectBrokerError);
      settlements.track(`rejection of ${merchant}/${generation} by ${life.process.owner}`, rejecting, {
        life,
        withinMs: MAX_WAIT_MS + ANSWER_ALLOWANCE_MS,
      });
    });
  }

  #anyLife(): Life | undefined {
    const lives = this.#parts.lives();
    return lives.length === 0 ? undefined : this.#parts.random.oneOf(lives);
  }
}

/** What a consumer may get as an answer; anything else is a bug. */
function expectBrokerError(error: unknown): void {
  if (!(error instanceof BrokerError)) throw error;
}
