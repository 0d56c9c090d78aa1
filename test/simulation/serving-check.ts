import type { CallCheck } from './call-check.js';
import type { Judge } from './judge.js';
import type { LeaseLedger } from './lease-ledger.js';
import { type Life, TIME_OF_OTHERS_MS } from './life.js';
import { concerns, type Fault, type Scenario } from './scenario.js';
import type { SimulatedGateway } from './simulated-gateway.js';
import type { StoreCall } from './store-calls.js';
import type { VirtualWorld } from './virtual-world.js';
import type { Weather } from './weather.js';

/** How long a follower may serve something dead once nothing fails any more. */
const FOLLOWERS_REACH_MS = 1_000;
/** A record that does not open is replaced when someone wants it: readers come this often. */
const MAX_UNREAD_MS = 4_000;
/** However often a merchant's sessions are rejected, only one is created for that in this time. */
const COOL_DOWN_MS = 10_000;

const leavesLeases: ReadonlySet<string> = new Set<Fault['kind']>([
  'pause',
  'crash',
  'network',
  'store_silent',
  'store_refuses',
  'store_clock',
  'gateway_fails',
  'wall_clock',
]);

export interface ServingCheckParts {
  readonly world: VirtualWorld;
  readonly judge: Judge;
  readonly weather: Weather;
  readonly scenario: Scenario;
  readonly gateway: SimulatedGateway;
  readonly leases: LeaseLedger;
  readonly calls: CallCheck;
}

/** Compares what replicas serve with the gateway, which knows which session lives. */
export class ServingCheck {
  readonly #parts: ServingCheckParts;
  /** Until when nothing can be demanded for a merchant, by true time. */
  readonly #excused = new Map<string, number>();
  readonly #firstRejected = new Map<string, number>();
  readonly #lastServed = new Map<string, number>();
  readonly #damaged = new Set<string>();
  longestDeadMs = 0;

  constructor(parts: ServingCheckParts) {
    this.#parts = parts;
  }

  /** A fault that is over may have left a lease behind, which nobody takes before its end. */
  faultEnds(fault: Fault): void {
    const { scenario, world, leases } = this.#parts;
    if (fault.kind === 'record_damaged') this.#damaged.add(fault.merchant);
    for (const merchant of scenario.merchants) {
      if (!concerns(fault, merchant)) continue;
      // What was sent during the fault may arrive this much later.
      this.#excuse(merchant, world.nowMs + ('lateMs' in fault ? 2 * fault.lateMs : 0));
      if (leavesLeases.has(fault.kind)) this.#excuse(merchant, leases.endsAtMs(merchant));
      if (fault.kind === 'store_clock') this.#excuse(merchant, this.#lastedOn(merchant, -fault.byMs));
    }
  }

  /** A failed attempt backs off, whether or not the store is told of it. */
  asked(call: StoreCall): void {
    if (call.operation !== 'release') return;
    const [{ merchant }, { failure, nextDueInMs }] = call.args;
    if (failure !== undefined) this.#excuse(merchant, this.#parts.world.nowMs + nextDueInMs);
  }

  /** What is waited for lasts longer by as much as the clock was set back. */
  #lastedOn(merchant: string, byMs: number): number {
    const excusedUntilMs = this.#excused.get(merchant) ?? 0;
    return excusedUntilMs > this.#parts.world.nowMs ? excusedUntilMs + Math.max(0, byMs) : 0;
  }

  /** A consumer reported that the gateway refused this token. */
  rejected(token: string): void {
    if (!this.#firstRejected.has(token)) this.#firstRejected.set(token, this.#parts.world.nowMs);
  }

  look(life: Life): void {
    for (const merchant of this.#parts.scenario.merchants) {
      const token = life.replica.wishes.peek(merchant)?.session.authToken;
      if (token === undefined) this.#nothingServed(life, merchant);
      else {
        this.#lastServed.set(`${life.process.owner}/${merchant}`, this.#parts.world.nowMs);
        this.handedOut(life, token);
        this.#deadServed(life, merchant, token);
      }
    }
  }

  /** A replica whose own clock is wrong may be wrong about the end; any other may not. */
  handedOut(life: Life, token: string): void {
    const { world, gateway, judge } = this.#parts;
    const issued = gateway.issued(token);
    if (issued?.hasUnknowableEnd !== false || life.process.clock.wallOffsetMs !== 0 || world.nowMs < issued.expiresAtMs)
      return;
    const lateMs = world.nowMs - issued.expiresAtMs;
    judge.violated(
      'no expired session is handed out',
      `${life.process.owner} served ${token} ${lateMs} ms past its end`,
    );
  }

  #deadServed(life: Life, merchant: string, token: string): void {
    const { world, gateway, judge } = this.#parts;
    const live = gateway.live(merchant);
    if (live === undefined || live.token === token) return;
    const knownSinceMs = live.deliveredAtMs ?? this.#revealedAtMs(token);
    const deadForMs = world.nowMs - Math.max(knownSinceMs, this.#calmSinceMs(life, merchant));
    if (!Number.isFinite(deadForMs)) return;
    this.longestDeadMs = Math.max(this.longestDeadMs, deadForMs);
    if (deadForMs <= FOLLOWERS_REACH_MS) return;
    const detail = `${life.process.owner} serves ${token} of ${merchant}, which ${live.token} has ended`;
    judge.violated('a dead session is not served for long after the last fault', detail);
  }

  /**
   * A call carried out after its caller gave up shows when a consumer is refused; the session is then replaced once the
   * cool-down allows it.
   */
  #revealedAtMs(token: string): number {
    const rejectedAtMs = this.#firstRejected.get(token);
    if (rejectedAtMs === undefined) return Infinity;
    return rejectedAtMs + COOL_DOWN_MS + this.#parts.scenario.gatewayTimeoutMs;
  }

  #nothingServed(life: Life, merchant: string): void {
    const { world, scenario, judge } = this.#parts;
    if (life.process.clock.wallOffsetMs !== 0) return;
    const servedMs = this.#lastServed.get(`${life.process.owner}/${merchant}`) ?? 0;
    const calmMs = world.nowMs - Math.max(servedMs, this.#calmSinceMs(life, merchant));
    const unreadMs = this.#damaged.has(merchant) ? MAX_UNREAD_MS : 0;
    // A replica that comes to the store, at its start or after an outage, first lets others say what they hold.
    if (calmMs <= TIME_OF_OTHERS_MS + FOLLOWERS_REACH_MS + scenario.gatewayTimeoutMs + unreadMs) return;
    const detail = `${life.process.owner} has had nothing to serve of ${merchant} for ${Math.round(calmMs)} ms`;
    judge.violated('there is a session to serve soon after the last fault', detail);
  }

  #calmSinceMs(life: Life, merchant: string): number {
    const { weather, calls } = this.#parts;
    if (weather.concerning(merchant)) return Infinity;
    return Math.max(this.#excused.get(merchant) ?? 0, life.awakeSinceMs, calls.budgetFreeAtMs(merchant));
  }

  #excuse(merchant: string, untilMs: number): void {
    this.#excused.set(merchant, Math.max(untilMs, this.#excused.get(merchant) ?? 0));
  }
}
