import { type Clock, plusMs } from '#libs/clock';
import {
  type CreateSessionRequest,
  GatewayFailure,
  type GatewayFailureFacts,
  type IssuedSession,
  type SessionGateway,
} from '#libs/session';
import { anIssuedSession } from './builders.js';

interface GatewayCall {
  readonly merchant: string;
  readonly atMs: number;
}

export type GatewayAnswer = Partial<IssuedSession> | GatewayFailureFacts;

interface FakeGatewayOptions {
  readonly clock: Clock;
  readonly lifetimeMs?: number;
  /** How long each call takes. */
  readonly latencyMs?: number;
}

/** Issues sessions in virtual time, keeps a log of its calls, and fails when told to. */
export class FakeGateway implements SessionGateway {
  readonly calls: GatewayCall[] = [];
  readonly #lifetimeMs: number;
  latencyMs: number;
  /** The most calls that were ever in flight at once for one merchant. */
  mostInFlight = 0;
  /** The same for all merchants together. */
  mostInFlightInAll = 0;
  readonly #clock: Clock;
  readonly #inFlight = new Map<string, number>();
  readonly #live = new Map<string, string>();
  readonly #next: GatewayAnswer[] = [];
  #always: GatewayAnswer | undefined;
  #issued = 0;

  constructor(options: FakeGatewayOptions) {
    this.#clock = options.clock;
    this.#lifetimeMs = options.lifetimeMs ?? 900_000;
    this.latencyMs = options.latencyMs ?? 0;
  }

  /** Answers the next calls like this, one each; then as usual. */
  answerNext(...answers: GatewayAnswer[]): void {
    this.#next.push(...answers);
  }

  /** Answers every call like this, until `undefined` is given. */
  answerAlways(answer: GatewayAnswer | undefined): void {
    this.#always = answer;
  }

  /** The token of the session that was created last, which ended the one before it. */
  liveToken(merchant: string): string | undefined {
    return this.#live.get(merchant);
  }

  /** The bank ends the session of the merchant. */
  revoke(merchant: string): void {
    this.#live.delete(merchant);
  }

  async createSession(request: CreateSessionRequest): Promise<IssuedSession> {
    const { merchant } = request;
    this.calls.push({ merchant, atMs: this.#clock.monotonicMs() });
    this.#count(merchant, 1);
    const sentAt = this.#clock.now();
    try {
      await this.#passTime(request.signal);
      const issued = this.#issue(sentAt, this.#next.shift() ?? this.#always ?? {});
      this.#live.set(merchant, issued.authToken);
      return issued;
    } finally {
      this.#count(merchant, -1);
    }
  }

  #count(merchant: string, change: number): void {
    const inFlight = (this.#inFlight.get(merchant) ?? 0) + change;
    this.#inFlight.set(merchant, inFlight);
    this.mostInFlight = Math.max(this.mostInFlight, inFlight);
    const inAll = [...this.#inFlight.values()].reduce((sum, count) => sum + count, 0);
    this.mostInFlightInAll = Math.max(this.mostInFlightInAll, inAll);
  }

  #issue(sentAt: IssuedSession['sentAt'], answer: GatewayAnswer): IssuedSession {
    if ('kind' in answer) throw new GatewayFailure(answer);
    this.#issued += 1;
    const now = this.#clock.now();
    return anIssuedSession({
      authToken: `00000000-0000-4000-8000-${String(this.#issued).padStart(12, '0')}`,
      expiresAt: plusMs(now, this.#lifetimeMs),
      sentAt,
      receivedAt: now,
      ...answer,
    });
  }

  #passTime(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const aborted = (): void => {
        timer.cancel();
        reject(new GatewayFailure({ kind: 'aborted', detail: 'the call was aborted' }));
      };
      const timer = this.#clock.schedule(this.latencyMs, () => {
        signal.removeEventListener('abort', aborted);
        resolve();
      });
      if (signal.aborted) aborted();
      else signal.addEventListener('abort', aborted, { once: true });
    });
  }
}
