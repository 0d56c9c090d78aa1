import type { Lease, LeaseRelease, SessionReplica } from '#libs/session';
import type { FakeClock } from '#libs/testing';
import type { Judge } from './judge.js';
import { concerns, type Fault, type FaultKind, isOfStore, MERCHANTS, type Scenario } from './scenario.js';
import type { Call, SimulatedGateway } from './simulated-gateway.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { LeaseLedger, Question, StoreLink } from './simulated-store.js';

/** One life of a replica, from its start to its stop or crash: the real one, in a process that can be stopped. */
export interface Life {
  readonly number: number;
  readonly process: SimulatedProcess;
  readonly link: StoreLink;
  readonly replica: SessionReplica;
}

export interface CheckParts {
  readonly world: FakeClock;
  readonly judge: Judge;
  readonly scenario: Scenario;
  readonly gateway: SimulatedGateway;
  readonly leases: LeaseLedger;
  readonly isGoing: (merchant: string) => boolean;
  readonly lives: () => readonly Life[];
}

/** Between the claim, which the budget counts, and the call, which is counted here: at most a lease. */
const CLAIM_TO_CALL_MS = 8_000;
/** A renewal this far ahead of its moment is early, but not needless: a store's clock may be a little ahead. */
const EARLY_MS = 2_000;
/** A failover may lose a lease that was freed this long ago, together with the write that freed it. */
const JUST_NOW_MS = 1_000;

/** What a lease has left after the longest call. */
const LEASE_SLACK_MS = 5_000;

const forgetsLeases: readonly FaultKind[] = ['store_emptied', 'store_failover', 'store_clock'];
const miscounts: readonly FaultKind[] = [...forgetsLeases, 'record_damaged'];

/** Checks how many calls are made: always within the budget, and needless ones as rarely as promised. */
export class CallCheck {
  readonly calls: Call[] = [];
  needless = 0;
  readonly #parts: CheckParts;
  readonly #needless = new Map<string, number>();
  readonly #begun: { readonly fault: Fault; readonly leased: readonly string[] }[] = [];

  constructor(parts: CheckParts) {
    this.#parts = parts;
  }

  begins(fault: Fault): void {
    const { leases, world } = this.#parts;
    const wasLeased = (merchant: string): boolean => leases.endsAtMs(merchant) > world.monotonicMs() - JUST_NOW_MS;
    this.#begun.push({ fault, leased: MERCHANTS.filter(wasLeased) });
  }

  called(call: Call): void {
    this.#countNeedless(call);
    this.calls.push(call);
    this.#keepsBudget('the ceiling of a replica is kept', call, ({ owner }) => owner === call.owner);
    if (this.#begun.some(({ fault }) => miscounts.includes(fault.kind))) return;
    this.#keepsBudget('the budget of a merchant is kept', call, () => true);
  }

  #keepsBudget(
    invariant: 'the ceiling of a replica is kept' | 'the budget of a merchant is kept',
    { merchant, owner, atMs: now }: Call,
    counts: (call: Call) => boolean,
  ): void {
    for (const { calls, perMs } of this.#parts.scenario.budget) {
      const since = now - perMs + CLAIM_TO_CALL_MS;
      const count = this.calls.filter((one) => one.merchant === merchant && one.atMs > since && counts(one)).length;
      if (count > calls) {
        this.#parts.judge.violated(invariant, `${count} calls for ${merchant}, the last by ${owner}, in ${perMs} ms`);
      }
    }
  }

  #countNeedless({ merchant, owner }: Call): void {
    const why = this.#whyNeedless(merchant, owner);
    if (why === undefined) return;
    this.needless += 1;
    const count = (this.#needless.get(merchant) ?? 0) + 1;
    this.#needless.set(merchant, count);
    const allowed = this.#allowed(merchant);
    this.#parts.judge.note(`needless call ${count} of ${allowed} for ${merchant}: ${why}`);
    if (count <= allowed) return;
    const detail = `${count} for ${merchant}, ${allowed} at most; this one by ${owner} although ${why}`;
    this.#parts.judge.violated('no more create calls than expected', detail);
  }

  #whyNeedless(merchant: string, owner: string): string | undefined {
    const { world, gateway, lives } = this.#parts;
    const running = lives().filter(({ process }) => process.isRunning);
    const isOther = (call: Call): boolean => call.inFlight && call.merchant === merchant && call.owner !== owner;
    const other = this.calls.find(
      (call) => isOther(call) && running.some(({ process }) => process.owner === call.owner),
    );
    if (other !== undefined) return `a call by ${other.owner} is in flight`;
    const live = gateway.live(merchant);
    const dueAtMs = running.flatMap(({ replica }) => {
      const held = replica.held.get(merchant);
      if (live?.deliveredAtMs === undefined || held?.authToken !== live.token) return [];
      return live.deliveredAtMs + (held.renewAt - held.createdAt);
    });
    const leftMs = Math.min(...dueAtMs) - world.monotonicMs();
    if (!Number.isFinite(leftMs) || leftMs <= EARLY_MS) return undefined;
    return `the session lives and need not be renewed for ${Math.round(leftMs)} ms`;
  }

  /**
   * A store that forgets a claim while a call is made under it, or whose clock is set meanwhile, cannot keep the next
   * claimant from calling; then the session that was made last may be the one that nobody takes for the newest, and a
   * consumer's report leads to one more. A replica that reaches nobody for what is left of its lease cannot tell of the
   * session that it made. No other fault of the store costs anything; any other fault at most one.
   */
  #allowed(merchant: string): number {
    const wrongClocks = this.#parts.scenario.wallOffsetsMs.filter((offsetMs) => offsetMs !== 0).length;
    return this.#begun.reduce((sum, { fault, leased }) => {
      if (!concerns(fault, merchant)) return sum;
      if (forgetsLeases.includes(fault.kind)) return sum + (leased.includes(merchant) ? 2 : 0);
      const isCutOff = fault.kind === 'network' && fault.lastsMs >= LEASE_SLACK_MS;
      return isOfStore(fault) && !isCutOff ? sum : sum + 1;
    }, wrongClocks);
  }
}

/** How long a follower may serve something dead once nothing fails any more. */
const FOLLOWERS_REACH_MS = 1_000;
/** A replica that comes to the store, at its start or after an outage, first lets others say what they hold. */
export const TIME_OF_OTHERS_MS = 1_500;
/** A record that does not open, or whose maker's clock was wrong, is replaced when someone wants it: so often do readers. */
const MAX_UNREAD_MS = 4_000;
/** However often a merchant's sessions are rejected, only one is created for that in this time, … */
const COOL_DOWN_MS = 10_000;
/** … and of this share of the budget. */
const SHARE_OF_REJECTIONS = 0.75;
/** From the end of a fault to a session at every replica, one after another: read, due, claim, publish, told, read. */
const MESSAGES_OF_A_RENEWAL = 11;

const leavesLeases: readonly FaultKind[] = [
  'pause',
  'network',
  'store_silent',
  'store_refuses',
  'store_clock',
  'gateway_fails',
  'wall_clock',
];

/** Compares what replicas serve with the gateway, which knows which session lives. */
export class ServingCheck {
  longestDeadMs = 0;
  readonly #parts: CheckParts;
  /** Until when nothing can be demanded for a merchant, by true time. */
  readonly #excused = new Map<string, number>();
  readonly #firstRejected = new Map<string, number>();
  readonly #lastServed = new Map<string, number>();
  readonly #newest = new Map<string, number>();
  /** When its record was damaged last. */
  readonly #damagedAtMs = new Map<string, number>();
  #areClocksOff: boolean;
  #setBackMs = 0;

  constructor(parts: CheckParts) {
    this.#parts = parts;
    this.#areClocksOff = parts.scenario.wallOffsetsMs.some((offsetMs) => offsetMs !== 0);
  }

  /** A fault that is over may have left a lease behind, which nobody takes before its end. */
  ends(fault: Fault): void {
    const { world, leases } = this.#parts;
    const now = world.monotonicMs();
    if (fault.kind === 'record_damaged') this.#damagedAtMs.set(fault.merchant, now);
    if (fault.kind === 'wall_clock') this.#areClocksOff = true;
    const backMs = fault.kind === 'store_clock' ? Math.max(0, -fault.byMs) : 0;
    this.#setBackMs += backMs;
    for (const merchant of MERCHANTS.filter((one) => concerns(fault, one))) {
      const excusedUntilMs = this.#excused.get(merchant) ?? 0;
      // What was sent during the fault may arrive this much later.
      this.#excuse(merchant, now + 2 * fault.lateMs);
      if (leavesLeases.includes(fault.kind)) this.#excuse(merchant, leases.endsAtMs(merchant));
      // A claim on its way may be granted beside the forgotten lease, and fences its session; its owner hears the others.
      if (forgetsLeases.includes(fault.kind) && leases.endsAtMs(merchant) > now) {
        this.#excuse(merchant, now + TIME_OF_OTHERS_MS + this.#parts.scenario.gatewayTimeoutMs);
      }
      // What is waited for lasts longer by as much as the clock was set back.
      if (excusedUntilMs > now) this.#excuse(merchant, excusedUntilMs + backMs);
    }
  }

  /** A failed attempt backs off, whether or not the store is told of it. */
  asked({ operation, args }: Question): void {
    if (operation !== 'release') return;
    const [{ merchant }, { failure, nextDueInMs }] = args as [Lease, LeaseRelease];
    if (failure !== undefined) this.#excuse(merchant, this.#parts.world.monotonicMs() + nextDueInMs);
  }

  /** A consumer reported that the gateway refused this token. */
  rejected(token: string): void {
    if (!this.#firstRejected.has(token)) this.#firstRejected.set(token, this.#parts.world.monotonicMs());
  }

  look(life: Life): void {
    for (const merchant of MERCHANTS) {
      const key = `${life.process.owner}/${merchant}`;
      this.#neverBack(key, life.replica.held.generationOf(merchant));
      const token = life.replica.wishes.peek(merchant)?.session.authToken;
      if (token === undefined) this.#nothingServed(life, merchant);
      else {
        this.#lastServed.set(key, this.#parts.world.monotonicMs());
        this.handedOut(life, token);
        this.#deadServed(life, merchant, token);
      }
    }
  }

  #neverBack(key: string, generation: number): void {
    const before = this.#newest.get(key) ?? 0;
    this.#newest.set(key, generation);
    if (generation >= before) return;
    this.#parts.judge.violated('no generation that is held goes back', `${key}: ${generation} after ${before}`);
  }

  /** A replica whose own clock is wrong may be wrong about the end; any other may not. */
  handedOut({ process }: Life, token: string): void {
    const { world, gateway, judge } = this.#parts;
    const issued = gateway.issued(token);
    if (issued?.hasUnknowableEnd !== false || process.wallOffsetMs !== 0) return;
    const lateMs = world.monotonicMs() - issued.expiresAtMs;
    if (lateMs < 0) return;
    judge.violated('no expired session is handed out', `${process.owner} served ${token} ${lateMs} ms past its end`);
  }

  #deadServed(life: Life, merchant: string, token: string): void {
    const { world, gateway, judge } = this.#parts;
    const live = gateway.live(merchant);
    if (live === undefined || live.token === token) return;
    // A record that is damaged before a replica has read it harms its merchant until the next renewal.
    const toldAtMs = live.deliveredAtMs ?? -Infinity;
    const isTold = toldAtMs > (this.#damagedAtMs.get(merchant) ?? -Infinity);
    const knownSinceMs = isTold ? toldAtMs : this.#revealedAtMs(merchant, token);
    const deadForMs = world.monotonicMs() - Math.max(knownSinceMs, this.#calmSinceMs(life, merchant));
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
  #revealedAtMs(merchant: string, token: string): number {
    const rejectedAtMs = this.#firstRejected.get(token);
    if (rejectedAtMs === undefined) return Infinity;
    const freeAtMs = Math.max(rejectedAtMs + COOL_DOWN_MS, this.#budgetFreeAtMs(merchant, SHARE_OF_REJECTIONS));
    return freeAtMs + this.#parts.scenario.gatewayTimeoutMs;
  }

  #nothingServed(life: Life, merchant: string): void {
    const { world, scenario, judge } = this.#parts;
    if (life.process.wallOffsetMs !== 0) return;
    const servedMs = this.#lastServed.get(`${life.process.owner}/${merchant}`) ?? 0;
    const calmMs = world.monotonicMs() - Math.max(servedMs, this.#calmSinceMs(life, merchant));
    const unreadMs = this.#damagedAtMs.has(merchant) || this.#areClocksOff ? MAX_UNREAD_MS : 0;
    const onWayMs = MESSAGES_OF_A_RENEWAL * scenario.tripMs;
    if (calmMs <= TIME_OF_OTHERS_MS + FOLLOWERS_REACH_MS + scenario.gatewayTimeoutMs + onWayMs + unreadMs) return;
    const detail = `${life.process.owner} has had nothing to serve of ${merchant} for ${Math.round(calmMs)} ms`;
    judge.violated('there is a session to serve soon after the last fault', detail);
  }

  #calmSinceMs(life: Life, merchant: string): number {
    if (this.#parts.isGoing(merchant)) return Infinity;
    const excusedUntilMs = Math.max(this.#excused.get(merchant) ?? 0, this.#leftBehindUntilMs(merchant));
    return Math.max(excusedUntilMs, life.process.awakeSinceMs, this.#budgetFreeAtMs(merchant));
  }

  /** The end of a lease whose owner is gone; its claim may have been on its way when it went. */
  #leftBehindUntilMs(merchant: string): number {
    const { leases, lives } = this.#parts;
    const isAlive = lives().some(({ process }) => process.owner === leases.ownerOf(merchant));
    return isAlive ? 0 : leases.endsAtMs(merchant);
  }

  /** When the budget allows another call. A window that is counted by a clock which was set back lasts longer. */
  #budgetFreeAtMs(merchant: string, share = 1): number {
    const { scenario, leases } = this.#parts;
    const freeAtMs = scenario.budget.map(({ calls, perMs }) => {
      const firstAtMs = leases.takenAtMs(merchant, Math.max(1, Math.floor(share * calls)));
      return firstAtMs === undefined ? 0 : firstAtMs + perMs + this.#setBackMs;
    });
    return Math.max(...freeAtMs);
  }

  #excuse(merchant: string, untilMs: number): void {
    this.#excused.set(merchant, Math.max(untilMs, this.#excused.get(merchant) ?? 0));
  }
}
