import { SystemClock } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { GatewayConnections, type MerchantGateway, UndiciSessionGateway } from '#libs/gateway';
import { type Session, type SessionEvent, SessionReplica, type SessionSettings } from '#libs/session';
import { RedisSessionStore } from '#libs/store';
import { someSettings } from '#libs/testing';
import { graceMsFor } from '../../apps/broker/src/renewal/store.js';
import type { Fleet, FleetOptions } from './fleet.js';
import type { MatrixMerchant } from './matrix-merchant.js';
import type { Served } from './serving-record.js';
import { wallMs } from './wall-clock.js';

const TICK_MS = 1_000;
const REPORT_WITHIN_MS = 5_000;

interface Member {
  readonly replica: SessionReplica;
  readonly store: RedisSessionStore;
  readonly ticking: NodeJS.Timeout;
}

/** Replicas in this process, assembled as the app does it: they start at once, and can have their own clocks. */
export class LocalFleet implements Fleet {
  readonly readEveryMs = 2;
  readonly #options: FleetOptions;
  readonly #members = new Map<number, Member>();
  readonly #connections = new GatewayConnections(new SystemClock());
  readonly #trace: string[] = [];
  /** Called when a replica takes a session over. */
  onAdopted: (session: Session) => void = () => undefined;
  #next = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  trace(): readonly string[] {
    return this.#trace;
  }

  get inService(): readonly number[] {
    return [...this.#members.keys()];
  }

  async served(replica: number): Promise<Served | undefined> {
    return this.#members.get(replica)?.replica.wishes.peek('shop')?.session;
  }

  async renewAtMs(replica: number): Promise<number | undefined> {
    return this.#members.get(replica)?.replica.wishes.peek('shop')?.session.renewAt;
  }

  async report(replica: number, generation: number): Promise<boolean> {
    const { signal } = new AbortController();
    const rejection = { merchant: 'shop', generation, reason: 'b_used_token', waitMs: REPORT_WITHIN_MS, signal };
    try {
      const answer = await this.#members.get(replica)?.replica.wishes.reject(rejection);
      return answer !== undefined && 'session' in answer;
    } catch (error) {
      // That no session is available is an answer, too; anything else is a mistake of ours.
      if (error instanceof BrokerError) return false;
      throw error;
    }
  }

  async add(): Promise<number> {
    const index = this.#next;
    this.#next += 1;
    this.#members.set(index, await this.#member(index));
    return index;
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.#members.values()].map(async ({ replica, store, ticking }) => {
        clearInterval(ticking);
        await replica.stop(0);
        await store.close();
      }),
    );
    this.#members.clear();
    await this.#connections.close();
  }

  async #member(index: number): Promise<Member> {
    const { merchants, redis } = this.#options;
    const clock = new SystemClock();
    const events = { emit: (event: SessionEvent): void => this.#note(index, event) };
    const started: { replica?: SessionReplica } = {};
    const store = await RedisSessionStore.open({
      connection: await redis(index),
      keyPrefix: 'test',
      keysOf: (merchant) => [this.#merchant(merchant).key],
      clock,
      onStateChange: (state) => void (state === 'answers' && started.replica?.resync()),
    });
    const replica = new SessionReplica({
      owner: `replica-${index}-${process.hrtime.bigint()}`,
      merchants: {
        ids: () => merchants.map(({ id }) => id),
        settingsOf: () => this.#settings(),
        gatewayIdOf: () => this.#options.gatewayUrl,
      },
      store,
      gateway: new UndiciSessionGateway({
        merchants: (id) => this.#gatewaySettingsOf(this.#merchant(id)),
        connections: this.#connections,
        clock,
      }),
      events,
      clock,
      random: Math.random,
      graceMs: graceMsFor({ type: 'redis' }),
    });
    started.replica = replica;
    replica.held.onAnyNewer((session) => this.onAdopted(session));
    void replica.tick();
    return { replica, store, ticking: setInterval(() => void replica.tick(), TICK_MS) };
  }

  #gatewaySettingsOf({ id, serviceCode, key }: MatrixMerchant): MerchantGateway {
    return {
      merchant: id,
      serviceCode,
      clientKeys: [key],
      baseUrl: new URL(this.#options.gatewayUrl),
      environment: 'test',
      timeoutMs: this.#options.settings().gatewayTimeoutMs,
      requestData: { attach: 'none' },
      tls: { pins: [] },
    };
  }

  #settings(): SessionSettings {
    const renewBefore = { kind: 'share', share: 0.5 } as const;
    return someSettings({ renewBefore, supersedes: true, ...this.#options.settings() });
  }

  #note(replica: number, { event, ...facts }: SessionEvent): void {
    const at = (wallMs() % 100_000).toFixed(0).padStart(5);
    this.#trace.push(`${at} replica ${replica} ${event} ${JSON.stringify(facts)}`);
  }

  #merchant(id: string): MatrixMerchant {
    const merchant = this.#options.merchants.find((one) => one.id === id);
    if (merchant === undefined) throw new Error(`there is no merchant ${id}`);
    return merchant;
  }
}
