import { instantFromEpochMs, plusMs } from '#libs/clock';
import {
  type CreateSessionRequest,
  GatewayFailure,
  type GatewayFailureFacts,
  type IssuedSession,
  type SessionGateway,
} from '#libs/session';
import { aServerPublicKey } from '#libs/testing';
import type { RandomStream } from './random-streams.js';
import { type ReplicaProcess, WORLD_EPOCH_MS } from './replica-process.js';
import type { Fault, Scenario } from './scenario.js';
import type { VirtualWorld } from './virtual-world.js';
import type { Weather } from './weather.js';

/** How long after its timeout, at most, a call is carried out that the gateway has kept. */
const MAX_DELAY_MS = 4_000;
const REFUSED_AFTER_MS = 5;

/** A session as the gateway knows it. Moments are true milliseconds. */
export interface IssuedToken {
  readonly merchant: string;
  readonly token: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** When another session of the merchant ended it. */
  endedAtMs?: number;
  /** When its answer reached a running replica; never if its caller had given up. */
  deliveredAtMs?: number;
  /** Its maker's clock and the gateway's were wrong at the same time: nobody could tell when it ends. */
  hasUnknowableEnd?: boolean;
}

export interface GatewayWitness {
  called(merchant: string, owner: string): void;
  /** The caller has an answer, or has given up. */
  ended(merchant: string, owner: string): void;
  /** Called before `issued` takes the place of `replaced`. */
  carriedOut(issued: IssuedToken, replaced: IssuedToken | undefined): void;
  delivered(issued: IssuedToken): void;
}

export interface SimulatedGatewayParts {
  readonly world: VirtualWorld;
  readonly weather: Weather;
  readonly scenario: Scenario;
  readonly random: RandomStream;
  readonly witness: GatewayWitness;
}

type GatewayFault = Extract<Fault, { kind: 'gateway_fails' }>;

const failureOf = {
  overloaded: { kind: 'transient', detail: 'the gateway answered 503', msgCode: 'b_server_is_overloaded' },
  refused: { kind: 'refused', detail: 'the gateway refused the merchant', msgCode: 'b_access_denied' },
} as const satisfies Record<string, GatewayFailureFacts>;

/** A gateway at which a new session ends the previous one, and which knows best which one lives. */
export class SimulatedGateway {
  readonly #parts: SimulatedGatewayParts;
  readonly #live = new Map<string, IssuedToken>();
  readonly #tokens = new Map<string, IssuedToken>();
  #calls = 0;

  constructor(parts: SimulatedGatewayParts) {
    this.#parts = parts;
  }

  /** The merchant's session, as long as it has not expired. */
  live(merchant: string): IssuedToken | undefined {
    const live = this.#live.get(merchant);
    return live !== undefined && live.expiresAtMs > this.#parts.world.nowMs ? live : undefined;
  }

  issued(token: string): IssuedToken | undefined {
    return this.#tokens.get(token);
  }

  /** Whether a payment with this token is accepted. */
  accepts(token: string): boolean {
    const issued = this.#tokens.get(token);
    return issued !== undefined && this.live(issued.merchant) === issued;
  }

  /** The gateway as one process reaches it. */
  reachedFrom(process: ReplicaProcess): SessionGateway {
    return { createSession: (request) => this.#createSession(request, process) };
  }

  #createSession({ merchant, signal }: CreateSessionRequest, process: ReplicaProcess): Promise<IssuedSession> {
    const { world, scenario, weather, witness } = this.#parts;
    return new Promise((resolve, reject) => {
      let isOver = signal.aborted;
      const end = (): boolean => {
        const was = isOver;
        isOver = true;
        timer.cancel();
        signal.removeEventListener('abort', aborted);
        if (!was) witness.ended(merchant, process.owner);
        return was;
      };
      const fail = (facts: GatewayFailureFacts): void => {
        if (!end()) reject(new GatewayFailure(facts));
      };
      const aborted = (): void => fail({ kind: 'aborted', detail: 'the call was aborted' });
      const timer = world.after(scenario.gatewayTimeoutMs, () => {
        process.arrive(() => fail({ kind: 'timeout', detail: 'no answer within the timeout' }));
      });
      if (isOver) {
        timer.cancel();
        reject(new GatewayFailure({ kind: 'aborted', detail: 'the call was aborted before it was made' }));
        return;
      }
      signal.addEventListener('abort', aborted, { once: true });
      const sentAt = process.clock.now();
      process.leave('createSession', () => {
        witness.called(merchant, process.owner);
        const [fault] = weather.of('gateway_fails').filter((each) => each.merchant === merchant);
        if (fault?.how === 'lost') return;
        this.#work(merchant, fault, (facts, issued) => {
          process.answer('createSession', () => {
            if (facts !== undefined) return fail(facts);
            if (issued === undefined || end()) return;
            this.#delivered(issued);
            issued.hasUnknowableEnd = process.clock.wallOffsetMs !== 0 && this.#hasFarClock(merchant);
            resolve(this.#told(issued, { sentAt, receivedAt: process.clock.now() }));
          });
        });
      });
    });
  }

  #work(
    merchant: string,
    fault: GatewayFault | undefined,
    answer: (failure: GatewayFailureFacts | undefined, issued?: IssuedToken) => void,
  ): void {
    const { world, random, scenario } = this.#parts;
    if (fault?.how === 'overloaded' || fault?.how === 'refused') {
      const retryAfter =
        fault.how === 'overloaded' && random.chance(0.3) ? { retryAfterMs: random.whole(1, 4_000) } : {};
      const facts = { ...failureOf[fault.how], ...retryAfter };
      world.after(REFUSED_AFTER_MS, () => answer(facts));
      return;
    }
    const isLate = fault?.how === 'carried_out_late';
    const delayMs = isLate ? scenario.gatewayTimeoutMs + random.between(1, MAX_DELAY_MS) : this.#latencyMs(merchant);
    world.after(delayMs / 2, () => {
      const issued = this.#carryOut(merchant);
      if (fault?.how !== 'answer_lost') world.after(delayMs / 2, () => answer(undefined, issued));
    });
  }

  #latencyMs(merchant: string): number {
    const { weather, scenario, random } = this.#parts;
    const slow = weather.of('gateway_slow').filter((fault) => fault.merchant === merchant);
    const usualMs = scenario.gatewayLatencyMs * random.between(0.5, 1);
    return usualMs + slow.reduce((sum, { latencyMs }) => sum + latencyMs, 0);
  }

  #carryOut(merchant: string): IssuedToken {
    const { world, scenario, witness } = this.#parts;
    this.#calls += 1;
    const issued: IssuedToken = {
      merchant,
      token: `00000000-0000-4000-8000-${String(this.#calls).padStart(12, '0')}`,
      createdAtMs: world.nowMs,
      expiresAtMs: world.nowMs + scenario.lifetimeMs,
    };
    const replaced = this.live(merchant);
    witness.carriedOut(issued, replaced);
    const before = this.#live.get(merchant);
    if (before !== undefined) before.endedAtMs ??= world.nowMs;
    this.#live.set(merchant, issued);
    this.#tokens.set(issued.token, issued);
    return issued;
  }

  #delivered(issued: IssuedToken): void {
    if (issued.deliveredAtMs !== undefined) return;
    issued.deliveredAtMs = this.#parts.world.nowMs;
    this.#parts.witness.delivered(issued);
  }

  #hasFarClock(merchant: string): boolean {
    return this.#parts.weather.of('gateway_clock').some((fault) => fault.merchant === merchant && !fault.withExpiry);
  }

  #told(issued: IssuedToken, exchange: Pick<IssuedSession, 'sentAt' | 'receivedAt'>): IssuedSession {
    const { weather } = this.#parts;
    const { merchant } = issued;
    const [clock] = weather.of('gateway_clock').filter((fault) => fault.merchant === merchant);
    const isSilent = weather.of('gateway_names_no_expiry').some((fault) => fault.merchant === merchant);
    const expiresAtMs = WORLD_EPOCH_MS + issued.expiresAtMs + (clock?.withExpiry === true ? clock.byMs : 0);
    const dateMs = Math.floor((WORLD_EPOCH_MS + issued.createdAtMs + (clock?.byMs ?? 0)) / 1_000) * 1_000;
    return {
      authToken: issued.token,
      deviceId: '11111111-0000-4000-8000-000000000000',
      serverPublic: aServerPublicKey(),
      clientKeyThumbprint: 'LrSCJ6m3kJpUOrX0Yt0v8Zc2tXG5qJ0o3dY4mH1nZ7A',
      ...(isSilent ? {} : { expiresAt: plusMs(instantFromEpochMs(0), Math.floor(expiresAtMs)) }),
      gatewayDate: instantFromEpochMs(dateMs),
      ...exchange,
    };
  }
}
