import { type Clock, Deadline, type Instant, plusMs } from '#libs/clock';
import {
  type CreateSessionRequest,
  GatewayFailure,
  type IssuedSession,
  type SessionGateway,
  type SessionSettings,
} from '#libs/session';

/** How a gateway is supposed to behave. Durations in milliseconds. */
export interface GatewayBehaviour {
  readonly lifetimeMs: number;
  /** Of a call, on average. */
  readonly latencyMs: number;
  /** The share of calls, in [0, 1], that fail in a way that passes. */
  readonly failureShare: number;
  /** Once, from the first call after half of the run: every call fails for this long. 0 for none. */
  readonly outageMs: number;
  /** How far its clock is ahead of ours; negative if behind. If 0, its answers have no date and our clock counts. */
  readonly skewMs?: number;
}

export interface SimulationSetup {
  /** Decides its place in the quiet hours. */
  readonly merchant: string;
  readonly startsAt: Instant;
  readonly settings: SessionSettings;
  readonly behaviour: GatewayBehaviour;
  readonly replicas: number;
  readonly durationMs: number;
  readonly seed: number;
}

interface PlayedGatewayParts {
  readonly setup: SimulationSetup;
  readonly clock: Clock;
  readonly random: () => number;
}

/** A call takes at least half of the average, and at most this many times it. */
export const SLOWEST_CALL = 1.5;
/** A `Date` header has whole seconds. */
const DATE_RESOLUTION_MS = 1_000;
/** The key in a simulated session: nothing is opened or sealed with it. */
const NO_KEY = { kty: 'EC', crv: 'P-384', x: 'A'.repeat(64), y: 'A'.repeat(64) } as const;
const NO_TOKEN = '00000000-0000-4000-8000-000000000000';

/** A gateway in virtual time: it issues sessions or fails as it is supposed to, and remembers when it was called. */
export class PlayedGateway implements SessionGateway {
  readonly callsAtMs: number[] = [];
  readonly #parts: PlayedGatewayParts;
  #outageEndsAtMs: number | undefined;

  constructor(parts: PlayedGatewayParts) {
    this.#parts = parts;
  }

  /** Undefined if no outage has begun. */
  get outageEndsAtMs(): number | undefined {
    return this.#outageEndsAtMs;
  }

  async createSession({ signal }: CreateSessionRequest): Promise<IssuedSession> {
    const { setup, clock, random } = this.#parts;
    const { behaviour, settings } = setup;
    this.callsAtMs.push(clock.monotonicMs());
    const sentAt = clock.now();
    const isDown = this.#isDown();
    const tookMs = behaviour.latencyMs * (SLOWEST_CALL - 1 + random());
    await this.#pass(Math.min(tookMs, settings.gatewayTimeoutMs), signal);
    if (tookMs > settings.gatewayTimeoutMs) throw new GatewayFailure({ kind: 'timeout', detail: 'simulated' });
    if (isDown || random() < behaviour.failureShare)
      throw new GatewayFailure({ kind: 'transient', detail: 'simulated' });
    const receivedAt = clock.now();
    return {
      ...{ authToken: NO_TOKEN, deviceId: NO_TOKEN, serverPublic: NO_KEY, clientKeyThumbprint: 'simulated' },
      ...{ sentAt, receivedAt, ...this.#timesOf(receivedAt) },
    };
  }

  /** By the gateway's own clock, as in its answers. */
  #timesOf(receivedAt: Instant): Pick<IssuedSession, 'expiresAt' | 'gatewayDate'> {
    const { lifetimeMs, skewMs = 0 } = this.#parts.setup.behaviour;
    const now = plusMs(receivedAt, skewMs);
    const expiresAt = plusMs(now, lifetimeMs);
    return skewMs === 0 ? { expiresAt } : { expiresAt, gatewayDate: plusMs(now, -(now % DATE_RESOLUTION_MS)) };
  }

  /** The outage begins with a renewal, which is when it hurts most: the whole lead time falls within it. */
  #isDown(): boolean {
    const { setup, clock } = this.#parts;
    const { outageMs } = setup.behaviour;
    const nowMs = clock.monotonicMs();
    if (outageMs > 0 && nowMs >= setup.durationMs / 2) this.#outageEndsAtMs ??= nowMs + outageMs;
    return this.#outageEndsAtMs !== undefined && nowMs < this.#outageEndsAtMs;
  }

  async #pass(durationMs: number, signal: AbortSignal): Promise<void> {
    const deadline = new Deadline(this.#parts.clock, durationMs, signal);
    if (!deadline.signal.aborted) {
      await new Promise((resolve) => deadline.signal.addEventListener('abort', resolve, { once: true }));
    }
    deadline.close();
    if (!deadline.expired) throw new GatewayFailure({ kind: 'aborted', detail: 'simulated' });
  }
}
