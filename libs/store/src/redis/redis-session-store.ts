import { type Clock, type Instant, instantFromEpochMs } from '#libs/clock';
import type {
  Announcement,
  ClaimRequest,
  ClaimResult,
  DeathReport,
  DueMerchants,
  Lease,
  LeaseRelease,
  Offer,
  OfferResult,
  Publication,
  ReplicaSignal,
  SessionStore,
  StoredState,
  StoredStates,
  WantedState,
} from '#libs/session';
import { Announcer, type ListenerErrorHandler } from '../announcer.js';
import { assertOfferable, assertPublishable } from '../publication.js';
import {
  decodeAnnouncement,
  encodeCondemned,
  encodeFailed,
  encodeFailure,
  encodeReportedDead,
  encodeSignal,
  encodePublished,
} from './announcement-codec.js';
import { batchesBy, inTurn } from './batch.js';
import { readClaimReply } from './claim-reply.js';
import { DEFAULT_REDIS_TIMEOUTS, type RedisTimeouts } from './connection-profile.js';
import { DueIndex } from './due-index.js';
import type { RedisConnection } from './redis-connection.js';
import type { RedisVerdict } from './redis-failure.js';
import { RedisHealth, type StateChangeHandler } from './redis-health.js';
import { RedisKeys, shardsOf } from './redis-keys.js';
import { RedisLinks } from './redis-links.js';
import { RedisProbe } from './redis-probe.js';
import { ScriptRunner } from './script-runner.js';
import { ServerClocks } from './server-clocks.js';
import { claimScript } from './scripts/claim.lua.js';
import { condemnScript } from './scripts/condemn.lua.js';
import { offerScript } from './scripts/offer.lua.js';
import { publishScript } from './scripts/publish.lua.js';
import { readScript } from './scripts/read.lua.js';
import { releaseScript } from './scripts/release.lua.js';
import { reportScript } from './scripts/report.lua.js';
import { seatScript } from './scripts/seat.lua.js';
import { type KeysOf, sealSession } from './session-record.js';
import { NOTHING_STORED, type ReadReply, storedState } from './stored-state.js';

export interface RedisSessionStoreOptions {
  readonly connection: RedisConnection;
  /**
   * Begins the name of every key and of the channel: brokers with different prefixes can share a server without seeing
   * each other.
   */
  readonly keyPrefix: string;
  readonly keysOf: KeysOf;
  readonly clock: Clock;
  readonly onStateChange: StateChangeHandler;
  /** By default, what a listener throws surfaces as an uncaught exception. */
  readonly onListenerError?: ListenerErrorHandler;
  readonly timeouts?: Partial<RedisTimeouts>;
}

const whole = (durationMs: number): number => Math.ceil(durationMs);

/** The store that replicas share. Each operation is one Lua script per shard; all time is the server's. */
export class RedisSessionStore implements SessionStore {
  readonly #keysOf: KeysOf;
  readonly #keys: RedisKeys;
  readonly #announcer: Announcer;
  readonly #links: RedisLinks;
  readonly #health: RedisHealth;
  readonly #serverClocks: ServerClocks;
  readonly #scripts: ScriptRunner;
  readonly #index: DueIndex;

  /**
   * Connects, and resolves once it is known whether Redis answers, even if it does not. Lost connections are restored.
   */
  static async open(options: RedisSessionStoreOptions): Promise<RedisSessionStore> {
    const store = new RedisSessionStore(options);
    await store.#health.settled();
    return store;
  }

  private constructor(options: RedisSessionStoreOptions) {
    const { connection, clock, keysOf, onStateChange } = options;
    const timeouts = { ...DEFAULT_REDIS_TIMEOUTS, ...options.timeouts };
    const keys = new RedisKeys(options.keyPrefix, shardsOf(connection));
    const links = new RedisLinks({
      connection,
      timeouts,
      clock,
      onChanged: () => this.#health.probeNow(),
      onLost: () => this.#health.failed(),
    });
    const judge = (error: unknown): RedisVerdict => links.judge(error);
    const timeoutMs = 2 * timeouts.commandMs;
    const onGap = (): void => this.#announcer.announce({ kind: 'gap' });
    const serverClocks = new ServerClocks(clock);
    const probe = new RedisProbe({ links, keys, clock, serverClocks, timeoutMs, onGap });
    this.#keysOf = keysOf;
    this.#keys = keys;
    this.#serverClocks = serverClocks;
    this.#links = links;
    this.#announcer = new Announcer(options.onListenerError);
    this.#health = new RedisHealth({
      clock,
      onStateChange,
      probe: () => probe.run(),
      stalledAfterMs: 2 * timeoutMs,
    });
    this.#scripts = new ScriptRunner({ client: links.commands, judge, onFailure: () => this.#health.failed() });
    this.#index = new DueIndex({ keys, clock, scripts: this.#scripts });
    links.subscriber.on('message', (channel: string, message: string) => this.#hear(channel, message));
    this.#health.start(timeouts.connectMs);
  }

  enrol(merchants: readonly string[]): Promise<void> {
    return this.#index.enrol(merchants);
  }

  due(limit: number): Promise<DueMerchants> {
    return this.#index.due(limit);
  }

  async seat(owner: string): Promise<number> {
    const args = [owner, this.#keys.preferredSeatOf(owner)];
    return (await this.#scripts.run(seatScript, { keys: [this.#keys.seats], args })) as number;
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    const { merchant, owner, leaseMs, mode, newerThan, floor, budget, coolDownMs, watched = '' } = request;
    const keys = this.#keys.of(merchant);
    const reply = await this.#scripts.run(claimScript, {
      keys: [keys.merchant, keys.calls, keys.due],
      args: [
        ...[merchant, owner, whole(leaseMs), mode, newerThan, floor],
        ...[whole(coolDownMs), watched, request.ignoresBackOff === true ? 1 : 0],
        ...budget.flatMap(({ calls, perMs }) => [calls, Math.max(1, whole(perMs))]),
      ],
    });
    return readClaimReply(reply, request);
  }

  async publish(lease: Lease, { session, ageMs, nextDueInMs }: Publication): Promise<'published' | 'fenced'> {
    assertPublishable(lease, session);
    const { merchant, owner, fence } = lease;
    const keys = this.#keys.of(merchant);
    // Before it is sealed: the age is true now, and sealing takes its time.
    const askedAt = this.#sentAt(merchant);
    const sealed = await sealSession(session, this.#keysOf);
    const outcome = await this.#scripts.run(publishScript, {
      keys: [keys.merchant, keys.due],
      args: [
        ...[merchant, owner, fence, sealed, whole(ageMs), whole(nextDueInMs)],
        ...[this.#keys.channel, encodePublished(merchant, fence), askedAt],
      ],
    });
    return outcome as 'published' | 'fenced';
  }

  async offer({ session, ageMs, nextDueInMs, known }: Offer): Promise<OfferResult> {
    assertOfferable(session);
    const { merchant, generation } = session;
    const keys = this.#keys.of(merchant);
    const askedAt = this.#sentAt(merchant);
    const sealed = await sealSession(session, this.#keysOf);
    const reply = await this.#scripts.run(offerScript, {
      keys: [keys.merchant, keys.due],
      args: [
        ...[merchant, generation, sealed, whole(ageMs), whole(nextDueInMs), known],
        ...[this.#keys.channel, encodePublished(merchant, generation), askedAt],
      ],
    });
    const [kind, counts, contested] = reply as [OfferResult['kind'], string, number];
    return { kind, generation: Number(counts), isContested: contested === 1 };
  }

  async release(lease: Lease, { called, nextDueInMs, failure }: LeaseRelease): Promise<boolean> {
    const { merchant, owner, fence } = lease;
    const keys = this.#keys.of(merchant);
    const record = failure === undefined ? '' : encodeFailure(failure);
    const announcement = failure === undefined ? '' : encodeFailed(merchant, failure, nextDueInMs);
    const released = await this.#scripts.run(releaseScript, {
      keys: [keys.merchant, keys.calls, keys.due],
      args: [
        ...[merchant, owner, fence, whole(nextDueInMs), called ? 1 : 0],
        ...[record, this.#keys.channel, announcement],
      ],
    });
    return released === 1;
  }

  async condemn(merchant: string, generation: number): Promise<boolean> {
    const args = [generation, this.#keys.channel, encodeCondemned(merchant)];
    return (await this.#scripts.run(condemnScript, { keys: [this.#keys.of(merchant).merchant], args })) === 1;
  }

  async reportDead(merchant: string, { generation, ageMs, heldUp }: DeathReport): Promise<boolean> {
    const held = [heldUp?.by ?? '-', whole(heldUp?.forMs ?? 0)];
    const announcement = [this.#keys.channel, encodeReportedDead(merchant)];
    const args = [generation, whole(ageMs), ...held, ...announcement, this.#sentAt(merchant)];
    return (await this.#scripts.run(reportScript, { keys: [this.#keys.of(merchant).merchant], args })) === 1;
  }

  async read(wanted: readonly WantedState[]): Promise<StoredStates> {
    const states = new Map<WantedState, StoredState>();
    // Shards are read at different moments, but the result has one clock reading: the earliest holds for all of them.
    let nowMs = Infinity;
    const batches = batchesBy(wanted, ({ merchant }) => this.#keys.shardOf(merchant));
    await inTurn(batches, async ([shard, batch]) => {
      const answer = await this.#readBatch(shard, batch);
      nowMs = Math.min(nowMs, answer.nowMs);
      for (const [index, one] of batch.entries()) states.set(one, answer.states[index] ?? absent(one));
    });
    return { states: wanted.map((one) => states.get(one) ?? absent(one)), now: await this.#instant(nowMs) };
  }

  announce(signal: ReplicaSignal): Promise<number | undefined> {
    return this.#scripts.publish(this.#keys.channel, encodeSignal(signal));
  }

  onAnnouncement(listener: (announcement: Announcement) => void): () => void {
    return this.#announcer.subscribe(listener);
  }

  /** Ends at once: operations still under way fail with `store_unavailable`. */
  close(): Promise<void> {
    this.#health.close();
    this.#links.close();
    this.#announcer.close();
    return Promise.resolve();
  }

  async #readBatch(
    shard: number,
    batch: readonly WantedState[],
  ): Promise<{ readonly states: readonly StoredState[]; readonly nowMs: number }> {
    const keys = [this.#keys.due(shard), ...batch.map(({ merchant }) => this.#keys.of(merchant).merchant)];
    const args = batch.flatMap(({ merchant, known }) => [merchant, known]);
    const [now, ...replies] = (await this.#scripts.run(readScript, { keys, args })) as [string, ...ReadReply[]];
    const nowMs = Number(now);
    const states = batch.map(({ merchant }, index) =>
      storedState(replies[index] ?? NOTHING_STORED, { merchant, keysOf: this.#keysOf, nowMs }),
    );
    return { states: await Promise.all(states), nowMs };
  }

  /** The clock is needed even if no merchant was asked for. */
  async #instant(nowMs: number): Promise<Instant> {
    if (nowMs !== Infinity) return instantFromEpochMs(nowMs);
    return instantFromEpochMs((await this.#readBatch(0, [])).nowMs);
  }

  /** What a script that is told an age is told as well, in case that it waits before it is run. */
  #sentAt(merchant: string): string {
    const nowMs = this.#serverClocks.nowMs(this.#keys.shardOf(merchant));
    return nowMs === undefined ? '' : String(Math.floor(nowMs));
  }

  #hear(channel: string, message: string): void {
    const announcement = channel === this.#keys.channel ? decodeAnnouncement(message) : undefined;
    if (announcement !== undefined) this.#announcer.announce(announcement);
  }
}

const absent = ({ merchant }: Pick<WantedState, 'merchant'>): StoredState => ({ merchant, stored: { kind: 'absent' } });
