import { type Instant, instantFromEpochMs } from '#libs/clock';
import {
  type CreateSessionRequest,
  GatewayFailure,
  type GatewayFailureFacts,
  type IssuedSession,
  type SessionGateway,
} from '#libs/session';
import { anIssuedSession, type FakeClock } from '#libs/testing';
import type { Random } from './random.js';
import type { Fault, FaultKind, Scenario } from './scenario.js';
import type { SimulatedProcess } from './simulated-process.js';

/** How long after its timeout, at most, a call is carried out that the gateway has kept. */
const MAX_DELAY_MS = 4_000;
const REFUSED_AFTER_MS = 5;
const YEAR_MS = 8_760 * 3_600_000;
/** A clock that is off, but not so far that nobody believes it, is off by the seconds of the fault's jump. */
const NEAR_MS = 20_000;

/** A session as the gateway knows it. Moments are true milliseconds. */
export interface IssuedToken {
  readonly merchant: string;
  readonly token: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** When its answer reached a running replica; never if its caller had given up. */
  deliveredAtMs?: number;
  /** Its maker's clock and the gateway's were wrong at the same time: nobody could tell when it ends. */
  hasUnknowableEnd: boolean;
}

export interface Call {
  readonly merchant: string;
  readonly owner: string;
  readonly atMs: number;
  /** The caller has no answer, and has not given up. */
  inFlight: boolean;
}

interface GatewayParts {
  readonly world: FakeClock;
  readonly going: (kind: FaultKind) => readonly Fault[];
  readonly scenario: Scenario;
  readonly random: Random;
  readonly called: (call: Call) => void;
}

const failureOf = {
  overloaded: { kind: 'transient', detail: 'the gateway answered 503', msgCode: 'b_server_is_overloaded' },
  refused: { kind: 'refused', detail: 'the gateway refused the merchant', msgCode: 'b_access_denied' },
} as const satisfies Record<string, GatewayFailureFacts>;

/** A gateway at which a new session ends the previous one, and which knows best which one lives. */
export class SimulatedGateway {
  readonly #parts: GatewayParts;
  readonly #last = new Map<string, IssuedToken>();
  readonly #tokens = new Map<string, IssuedToken>();

  constructor(parts: GatewayParts) {
    this.#parts = parts;
  }

  /** The merchant's session, as long as it has not expired. */
  live(merchant: string): IssuedToken | undefined {
    const last = this.#last.get(merchant);
    return last !== undefined && last.expiresAtMs > this.#parts.world.monotonicMs() ? last : undefined;
  }

  issued(token: string): IssuedToken | undefined {
    return this.#tokens.get(token);
  }

  /** The gateway as one process reaches it. */
  reachedFrom(process: SimulatedProcess): SessionGateway {
    return { createSession: (request) => this.#createSession(request, process) };
  }

  #faults(kind: FaultKind, merchant: string): readonly Fault[] {
    return this.#parts.going(kind).filter((fault) => fault.merchant === merchant);
  }

  #createSession({ merchant, signal }: CreateSessionRequest, process: SimulatedProcess): Promise<IssuedSession> {
    const { world, scenario, called } = this.#parts;
    const call: Call = { merchant, owner: process.owner, atMs: world.monotonicMs(), inFlight: true };
    return new Promise((resolve, reject) => {
      const end = (): void => {
        call.inFlight = false;
        timer.cancel();
        signal.removeEventListener('abort', aborted);
      };
      const fail = (facts: GatewayFailureFacts): void => {
        end();
        reject(new GatewayFailure(facts));
      };
      const aborted = (): void => fail({ kind: 'aborted', detail: 'the call was aborted' });
      const timer = world.schedule(scenario.gatewayTimeoutMs, () => {
        process.arrive(() => call.inFlight && fail({ kind: 'timeout', detail: 'no answer within the timeout' }));
      });
      if (signal.aborted) return aborted();
      signal.addEventListener('abort', aborted, { once: true });
      const sentAt = process.now();
      called(call);
      this.#work(merchant, (answer) => {
        process.arrive(() => {
          if (!call.inFlight) return;
          if ('kind' in answer) return fail(answer);
          end();
          answer.deliveredAtMs = world.monotonicMs();
          const isFar = this.#faults('gateway_clock', merchant).some(({ how }) => how === 'far');
          answer.hasUnknowableEnd = process.wallOffsetMs !== 0 && isFar;
          resolve(this.#told(answer, { sentAt, receivedAt: process.now() }));
        });
      });
    });
  }

  #work(merchant: string, answer: (answer: GatewayFailureFacts | IssuedToken) => void): void {
    const { world, random, scenario } = this.#parts;
    const [fault] = this.#faults('gateway_fails', merchant);
    if (fault?.how === 'lost') return;
    if (fault?.how === 'overloaded' || fault?.how === 'refused') {
      const isAsked = fault.how === 'overloaded' && random.chance(0.3);
      const facts = { ...failureOf[fault.how], ...(isAsked ? { retryAfterMs: random.whole(1, 4_000) } : {}) };
      world.schedule(REFUSED_AFTER_MS, () => answer(facts));
      return;
    }
    const slowMs = random.whole(100, 900) * this.#faults('gateway_slow', merchant).length;
    const usualMs = scenario.gatewayLatencyMs * random.between(0.5, 1) + slowMs;
    const isLate = fault?.how === 'carried out late';
    const delayMs = isLate ? scenario.gatewayTimeoutMs + random.between(1, MAX_DELAY_MS) : usualMs;
    world.schedule(delayMs / 2, () => {
      const issued = this.#carryOut(merchant);
      if (fault?.how !== 'answer lost') world.schedule(delayMs / 2, () => answer(issued));
    });
  }

  #carryOut(merchant: string): IssuedToken {
    const createdAtMs = this.#parts.world.monotonicMs();
    const issued: IssuedToken = {
      merchant,
      token: `00000000-0000-4000-8000-${String(this.#tokens.size + 1).padStart(12, '0')}`,
      createdAtMs,
      expiresAtMs: createdAtMs + this.#parts.scenario.lifetimeMs,
      hasUnknowableEnd: false,
    };
    this.#last.set(merchant, issued);
    this.#tokens.set(issued.token, issued);
    return issued;
  }

  #told(issued: IssuedToken, exchange: Pick<IssuedSession, 'sentAt' | 'receivedAt'>): IssuedSession {
    const { world } = this.#parts;
    const [clock] = this.#faults('gateway_clock', issued.merchant);
    const namesNone = clock?.how === 'names no expiry';
    const offMs = clock === undefined || namesNone ? 0 : clock.byMs;
    const wrongMs = clock?.how === 'far' ? Math.sign(offMs) * YEAR_MS : offMs % NEAR_MS;
    const beganAtMs = world.now() - world.monotonicMs();
    const told = (trueMs: number, byMs: number): Instant => instantFromEpochMs(Math.floor(beganAtMs + trueMs + byMs));
    return anIssuedSession({
      authToken: issued.token,
      ...(namesNone ? {} : { expiresAt: told(issued.expiresAtMs, clock?.how === 'far' ? 0 : wrongMs) }),
      gatewayDate: told(issued.createdAtMs, wrongMs),
      ...exchange,
    });
  }
}
