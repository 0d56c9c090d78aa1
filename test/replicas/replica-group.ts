import { SystemClock } from '#libs/clock';
import { GatewayConnections, type MerchantGateway, UndiciSessionGateway } from '#libs/gateway';
import { type ClientKey, generateClientKey, importClientKey } from '#libs/jwe';
import { type Session, SessionReplica, type SessionSettings } from '#libs/session';
import { type RedisConnection, RedisSessionStore } from '#libs/store';
import { createLogger } from '#libs/telemetry';
import { eventually, RecordedEvents, someSettings, startedWhole } from '#libs/testing';
import { graceMsFor } from '../../apps/broker/src/renewal/store.js';
import { startSandbox } from '../../apps/sandbox/src/sandbox.js';
import type { Observation } from './history-checker.js';
import { sandboxControl } from '../sandbox/sandbox-control.js';

const TICK_MS = 1_000;
const READ_EVERY_MS = 10;

export interface GroupOptions {
  readonly replicas: number;
  readonly merchants?: readonly string[];
  readonly lifetimeMs?: number;
  readonly settings?: Partial<SessionSettings>;
  /** Where each replica finds Redis. */
  readonly redis: (replica: number) => RedisConnection;
}

interface Member {
  readonly replica: SessionReplica;
  readonly store: RedisSessionStore;
  readonly events: RecordedEvents;
  readonly ticking: NodeJS.Timeout;
}

interface LoggedCall {
  readonly at: string;
  readonly merchant: string;
  readonly inFlight: number;
  readonly durationMs?: number;
}

/**
 * Replicas of the broker in this process, each with its own connection to a real Redis and to the simulated gateway,
 * assembled as in the app; and a record of everything that they serve, on one clock.
 */
export class ReplicaGroup {
  readonly clock = new SystemClock();
  readonly members: Member[] = [];
  readonly history: Observation[] = [];
  readonly merchants: readonly string[];
  readonly #options: GroupOptions;
  readonly #connections = new GatewayConnections(this.clock);
  readonly #keys = new Map<string, ClientKey>();
  #sandbox: { url: string; close(): Promise<void> } | undefined;
  #reading: NodeJS.Timeout | undefined;
  /** Replicas start in parallel: each has its number before it exists. */
  #next = 0;

  private constructor(options: GroupOptions) {
    this.#options = options;
    this.merchants = options.merchants ?? ['shop'];
  }

  static async start(options: GroupOptions): Promise<ReplicaGroup> {
    const group = new ReplicaGroup(options);
    const start = async (): Promise<void> => {
      await group.#startGateway();
      await Promise.all(Array.from({ length: options.replicas }, () => group.add()));
    };
    return startedWhole(group, { start, end: () => group.close() });
  }

  /** Starts one more replica. */
  async add(): Promise<number> {
    const index = this.#next;
    this.#next += 1;
    this.members[index] = await this.#member(index);
    return index;
  }

  /** Starts to read every replica every few milliseconds, as consumers would. */
  startReading(): void {
    this.#reading = setInterval(() => this.#readAll(), READ_EVERY_MS);
  }

  served(merchant = 'shop'): readonly (Session | undefined)[] {
    return this.members.map(({ replica }) => replica.wishes.peek(merchant)?.session);
  }

  /** Whether every replica serves the same session of the merchant. */
  agrees(merchant = 'shop'): boolean {
    const generations = new Set(this.served(merchant).map((session) => session?.generation));
    return generations.size === 1 && !generations.has(undefined);
  }

  /** Every generation that any replica has ever adopted. */
  adoptedGenerations(): ReadonlySet<number> {
    return new Set(this.history.flatMap((seen) => (seen.kind === 'adoption' ? [seen.generation] : [])));
  }

  control(method: string, path: string, body?: object): Promise<unknown> {
    return sandboxControl(this.#sandbox?.url ?? '', { method, path, body });
  }

  /** The create calls that the gateway has received: the witness. */
  async createCalls(): Promise<readonly LoggedCall[]> {
    const { calls } = (await this.control('GET', '/calls?operation=authorize&limit=10000')) as { calls: LoggedCall[] };
    return calls;
  }

  /** Everything that was seen, including the gateway's calls of one merchant, on this machine's wall clock. */
  async observations(merchant = 'shop'): Promise<readonly Observation[]> {
    const calls = (await this.createCalls()).filter((call) => call.merchant === merchant);
    const asObserved = calls.map(({ at, durationMs = 0 }): Observation => {
      const startedAtMs = Date.parse(at);
      return { kind: 'call', startedAtMs, endedAtMs: startedAtMs + durationMs };
    });
    return [...this.history, ...asObserved];
  }

  /**
   * For this many renewals: the time from being due until the last replica had the new session, less the gateway's own
   * time. The gateway's time is taken from its log, which has whole milliseconds for the moment and fractions for the
   * duration.
   */
  async overheadsOf(renewals: number): Promise<number[]> {
    const overheads: number[] = [];
    for (let count = 0; count < renewals; count += 1) {
      const before = this.served()[0];
      const generation = before?.generation ?? 0;
      await eventually(() => this.agrees() && (this.served()[0]?.generation ?? 0) > generation);
      const adopted = this.history.filter((seen) => seen.kind === 'adoption' && seen.generation > generation);
      const last = Math.max(...adopted.map((seen) => (seen.kind === 'adoption' ? seen.atMs : 0)));
      const gatewayMs = (await this.createCalls()).at(-1)?.durationMs ?? 0;
      overheads.push(last - (before?.renewAt ?? 0) - gatewayMs);
    }
    return overheads;
  }

  async stop(index: number): Promise<void> {
    const member = this.members[index];
    if (member === undefined) return;
    clearInterval(member.ticking);
    await member.replica.stop(0);
    await member.store.close();
  }

  async close(): Promise<void> {
    clearInterval(this.#reading);
    await Promise.all(this.members.map((_member, index) => this.stop(index)));
    await this.#connections.close();
    await this.#sandbox?.close();
  }

  async #startGateway(): Promise<void> {
    const merchants: object[] = [];
    for (const [index, id] of this.merchants.entries()) {
      const { privateJwk, publicJwk } = await generateClientKey();
      this.#keys.set(id, await importClientKey(privateJwk));
      merchants.push({
        id,
        serviceCode: serviceCodeOf(index),
        publicJwk,
        lifetimeMs: this.#options.lifetimeMs ?? 60_000,
      });
    }
    const logger = createLogger({ name: 'sandbox', level: 'error' });
    this.#sandbox = await startSandbox({ host: '127.0.0.1', port: 0, clock: this.clock, logger, merchants });
  }

  async #member(index: number): Promise<Member> {
    const events = new RecordedEvents();
    const started: { replica?: SessionReplica } = {};
    const store = await RedisSessionStore.open({
      connection: this.#options.redis(index),
      keyPrefix: 'test',
      keysOf: (merchant) => [this.#keyOf(merchant)],
      clock: this.clock,
      onStateChange: (state) => void (state === 'answers' && started.replica?.resync()),
    });
    const replica = new SessionReplica({
      owner: `replica-${index}-${process.hrtime.bigint()}`,
      merchants: { ids: () => this.merchants, settingsOf: (id) => this.#settingsOf(id), gatewayIdOf: () => 'sandbox' },
      store,
      gateway: this.#gateway(),
      events,
      clock: this.clock,
      random: Math.random,
      graceMs: graceMsFor({ type: 'redis' }),
    });
    started.replica = replica;
    replica.held.onAnyNewer(({ merchant, generation, authToken }) => {
      if (merchant !== 'shop') return;
      this.history.push({ kind: 'adoption', replica: index, atMs: wallMs(), generation, token: authToken });
    });
    void replica.tick();
    return { replica, store, events, ticking: setInterval(() => void replica.tick(), TICK_MS) };
  }

  #gateway(): UndiciSessionGateway {
    const merchants = (id: string): MerchantGateway => ({
      merchant: id,
      serviceCode: serviceCodeOf(this.merchants.indexOf(id)),
      clientKeys: [this.#keyOf(id)],
      baseUrl: new URL(this.#sandbox?.url ?? ''),
      environment: 'test',
      timeoutMs: this.#settingsOf(id)?.gatewayTimeoutMs ?? 0,
      requestData: { attach: 'none' },
      tls: { pins: [] },
    });
    return new UndiciSessionGateway({ merchants, connections: this.#connections, clock: this.clock });
  }

  #settingsOf(id: string): SessionSettings | undefined {
    if (!this.merchants.includes(id)) return undefined;
    return someSettings({ gatewayTimeoutMs: 1_000, ...this.#options.settings });
  }

  #keyOf(merchant: string): ClientKey {
    const key = this.#keys.get(merchant);
    if (key === undefined) throw new Error(`there is no merchant ${merchant}`);
    return key;
  }

  #readAll(): void {
    for (const [replica, session] of this.served().entries()) {
      if (session === undefined) continue;
      const { generation, authToken: token, expiresAt: expiresAtMs } = session;
      this.history.push({ kind: 'read', replica, atMs: wallMs(), generation, token, expiresAtMs });
    }
  }
}

/** Finer than Date.now(), on the same scale. */
function wallMs(): number {
  return performance.timeOrigin + performance.now();
}

function serviceCodeOf(index: number): string {
  return `137d9304-0368-11ed-b939-${String(index).padStart(12, '0')}`;
}
