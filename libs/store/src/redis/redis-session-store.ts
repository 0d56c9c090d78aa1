import type { Clock } from '#libs/clock';
import type {
  Announcement,
  ClaimRequest,
  ClaimResult,
  DueMerchants,
  Lease,
  LeaseRelease,
  Session,
  SessionStore,
  StoredState,
} from '#libs/session';
import { Announcer, type ListenerErrorHandler } from '../announcer.js';
import { assertPublishable } from '../publication.js';
import { decodeAnnouncement, encodeAnnouncement, encodeFailure } from './announcement-codec.js';
import { batchesBy, inTurn } from './batch.js';
import { readClaimReply } from './claim-reply.js';
import { DEFAULT_REDIS_TIMEOUTS, type RedisTimeouts } from './connection-profile.js';
import { mergeDue, readDueReply } from './due-merge.js';
import type { RedisConnection } from './redis-connection.js';
import { describeRedisError } from './redis-failure.js';
import { RedisHealth, type StateChangeHandler } from './redis-health.js';
import { RedisKeys, shardsOf } from './redis-keys.js';
import { RedisLinks } from './redis-links.js';
import { probeRedis } from './redis-probe.js';
import { ScriptRunner } from './script-runner.js';
import { claimScript } from './scripts/claim.lua.js';
import { dueScript } from './scripts/due.lua.js';
import { enrolScript } from './scripts/enrol.lua.js';
import { publishScript } from './scripts/publish.lua.js';
import { readScript } from './scripts/read.lua.js';
import { releaseScript } from './scripts/release.lua.js';
import { type KeysOf, sealSession } from './session-record.js';
import { type ReadReply, storedState } from './stored-state.js';

export interface RedisSessionStoreOptions {
  readonly connection: RedisConnection;
  /** Begins the name of every key and of the channel: brokers with different prefixes share a server unseen. */
  readonly keyPrefix: string;
  readonly keysOf: KeysOf;
  readonly clock: Clock;
  readonly onStateChange: StateChangeHandler;
  /** Default: what a listener threw surfaces as an uncaught exception. */
  readonly onListenerError?: ListenerErrorHandler;
  readonly timeouts?: Partial<RedisTimeouts>;
}

const whole = (durationMs: number): number => Math.ceil(durationMs);

/** The store that replicas share. Each operation is one Lua script; all time is the server's. */
export class RedisSessionStore implements SessionStore {
  readonly #keysOf: KeysOf;
  readonly #keys: RedisKeys;
  readonly #announcer: Announcer;
  readonly #links: RedisLinks;
  readonly #health: RedisHealth;
  readonly #scripts: ScriptRunner;

  /** Connects, and comes back when it is known whether Redis answers; it need not. What is down is reconnected. */
  static async open(options: RedisSessionStoreOptions): Promise<RedisSessionStore> {
    const store = new RedisSessionStore(options);
    await store.#health.settled();
    return store;
  }

  private constructor(options: RedisSessionStoreOptions) {
    const { connection, clock, keysOf, onStateChange } = options;
    const timeouts = { ...DEFAULT_REDIS_TIMEOUTS, ...options.timeouts };
    this.#keysOf = keysOf;
    this.#keys = new RedisKeys(options.keyPrefix, shardsOf(connection));
    this.#announcer = new Announcer(options.onListenerError);
    this.#links = new RedisLinks({
      connection,
      timeouts,
      clock,
      onChanged: () => this.#health.probeNow(),
      onLost: (detail) => this.#health.failed(detail),
    });
    const probe = { links: this.#links, keys: this.#keys, clock, timeoutMs: 2 * timeouts.commandMs };
    this.#health = new RedisHealth({ clock, onStateChange, probe: () => probeRedis(probe) });
    this.#scripts = new ScriptRunner(this.#links.commands, (error) => this.#health.failed(describeRedisError(error)));
    this.#links.subscriber.on('message', (channel: string, message: string) => this.#hear(channel, message));
    this.#health.start(timeouts.connectMs);
  }

  async enrol(merchants: readonly string[]): Promise<void> {
    const batches = batchesBy(merchants, (merchant) => this.#keys.shardOf(merchant));
    await inTurn(batches, async ([shard, args]) => {
      await this.#scripts.run(enrolScript, { keys: [this.#keys.due(shard)], args });
    });
  }

  async due(limit: number): Promise<DueMerchants> {
    const replies = this.#keys
      .shards()
      .map((shard) => this.#scripts.run(dueScript, { keys: [this.#keys.due(shard)], args: [limit + 1] }));
    return mergeDue((await Promise.all(replies)).map(readDueReply), limit);
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    const { merchant, owner, leaseMs, mode, newerThan, floor, budget, coolDownMs } = request;
    const keys = this.#keys.of(merchant);
    const reply = await this.#scripts.run(claimScript, {
      keys: [keys.merchant, keys.calls, keys.due],
      args: [
        ...[merchant, owner, whole(leaseMs), mode, newerThan, floor],
        ...[budget.calls, Math.max(1, whole(budget.windowMs)), whole(coolDownMs)],
      ],
    });
    return readClaimReply(reply, request);
  }

  async publish(lease: Lease, session: Session, nextDueInMs: number): Promise<'published' | 'fenced'> {
    assertPublishable(lease, session);
    const { merchant, fence } = lease;
    const keys = this.#keys.of(merchant);
    const sealed = await sealSession(session, this.#keysOf);
    const announcement = encodeAnnouncement({ kind: 'published', merchant, generation: fence });
    const outcome = await this.#scripts.run(publishScript, {
      keys: [keys.merchant, keys.due],
      args: [merchant, fence, sealed, whole(nextDueInMs), this.#keys.channel, announcement],
    });
    return outcome === 'fenced' ? 'fenced' : 'published';
  }

  async release(lease: Lease, { called, nextDueInMs, failure }: LeaseRelease): Promise<boolean> {
    const { merchant, owner, fence } = lease;
    const keys = this.#keys.of(merchant);
    const record = failure === undefined ? '' : encodeFailure(failure);
    const announcement =
      failure === undefined ? '' : encodeAnnouncement({ kind: 'failed', merchant, failure, retryInMs: nextDueInMs });
    const released = await this.#scripts.run(releaseScript, {
      keys: [keys.merchant, keys.calls, keys.due],
      args: [
        ...[merchant, owner, fence, whole(nextDueInMs), called ? 1 : 0],
        ...[record, this.#keys.channel, announcement],
      ],
    });
    return released === 1;
  }

  async read(merchants: readonly string[]): Promise<readonly StoredState[]> {
    const states = new Map<string, StoredState>();
    const batches = batchesBy([...new Set(merchants)], (merchant) => this.#keys.shardOf(merchant));
    await inTurn(batches, async ([shard, batch]) => {
      for (const state of await this.#readBatch(shard, batch)) states.set(state.merchant, state);
    });
    return merchants.map((merchant) => states.get(merchant) ?? { merchant, stored: { kind: 'absent' } });
  }

  onAnnouncement(listener: (announcement: Announcement) => void): () => void {
    return this.#announcer.subscribe(listener);
  }

  /** Ends at once: what is still under way fails as `store_unavailable`. */
  close(): Promise<void> {
    this.#health.close();
    this.#links.close();
    this.#announcer.close();
    return Promise.resolve();
  }

  async #readBatch(shard: number, batch: readonly string[]): Promise<readonly StoredState[]> {
    const keys = [this.#keys.due(shard), ...batch.map((merchant) => this.#keys.of(merchant).merchant)];
    const replies = (await this.#scripts.run(readScript, { keys, args: batch })) as readonly ReadReply[];
    return Promise.all(
      batch.map((merchant, index) => storedState(merchant, replies[index] ?? ['', '', '', '', ''], this.#keysOf)),
    );
  }

  #hear(channel: string, message: string): void {
    const announcement = channel === this.#keys.channel ? decodeAnnouncement(message) : undefined;
    if (announcement !== undefined) this.#announcer.announce(announcement);
  }
}
