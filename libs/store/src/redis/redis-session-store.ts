import { type Clock, instantFromEpochMs } from '#libs/clock';
import type {
  Announcement,
  ClaimRequest,
  ClaimResult,
  DeathReport,
  DueMerchants,
  Lease,
  LeaseRelease,
  Publication,
  ReplicaSignal,
  ReportResult,
  SessionStore,
  StoredState,
  StoredStates,
  WantedState,
} from '#libs/session';
import { Redis } from 'ioredis';
import { Announcer } from '../announcer.js';
import { assertPublishable, firstDue } from '../memory/merchant-record.js';
import { DEFAULT_REDIS_TIMEOUTS, type RedisTimeouts } from './connection-profile.js';
import { decodeAnnouncement, type KeysOf, sealSession } from './redis-codec.js';
import type { RedisConnection } from './redis-connection.js';
import { storeFailure } from './redis-failure.js';
import { RedisHealth, type StateChangeHandler } from './redis-health.js';
import { RedisKeys } from './redis-layout.js';
import { RedisLinks } from './redis-links.js';
import { RedisProbe } from './redis-probe.js';
import { readClaimReply, type ReadReply, readState } from './redis-replies.js';
import { batchesBy, inTurn, type RedisScript, runScript, type ScriptCall } from './redis-script.js';
import { claimScript } from './scripts/claim.lua.js';
import { dueScript } from './scripts/due.lua.js';
import { publishScript } from './scripts/publish.lua.js';
import { readScript } from './scripts/read.lua.js';
import { releaseScript } from './scripts/release.lua.js';
import { reportScript } from './scripts/report.lua.js';

export interface RedisSessionStoreOptions {
  readonly connection: RedisConnection;
  /** Begins the name of every key and of the channel: brokers with different ones share a server unseen. */
  readonly keyPrefix: string;
  readonly keysOf: KeysOf;
  readonly clock: Clock;
  readonly onStateChange: StateChangeHandler;
  readonly timeouts?: Partial<RedisTimeouts>;
}

const whole = (durationMs: number): number => Math.ceil(durationMs);

/** The store that replicas share. Each operation is one Lua script per shard; all time is the server's. */
export class RedisSessionStore implements SessionStore {
  readonly #keysOf: KeysOf;
  readonly #keys: RedisKeys;
  readonly #announcer = new Announcer();
  readonly #links: RedisLinks;
  readonly #health: RedisHealth;
  readonly #probe: RedisProbe;

  /** Connects, and resolves once it is known whether Redis answers. Lost connections are restored. */
  static async open(options: RedisSessionStoreOptions): Promise<RedisSessionStore> {
    const store = new RedisSessionStore(options);
    await store.#health.settled();
    return store;
  }

  private constructor(options: RedisSessionStoreOptions) {
    const { connection, clock, keysOf, onStateChange } = options;
    const timeouts = { ...DEFAULT_REDIS_TIMEOUTS, ...options.timeouts };
    const timeoutMs = 2 * timeouts.commandMs;
    this.#keysOf = keysOf;
    this.#keys = new RedisKeys(options.keyPrefix, connection);
    this.#links = new RedisLinks({
      connection,
      timeouts,
      clock,
      onChanged: () => this.#health.probeIn(0),
      onLost: () => this.#health.failed(),
    });
    const onGap = (): void => this.#announcer.announce({ kind: 'gap' });
    const probe = new RedisProbe({ links: this.#links, keys: this.#keys, clock, timeoutMs, onGap });
    this.#probe = probe;
    this.#health = new RedisHealth({ clock, onStateChange, probe: () => probe.run(), stalledAfterMs: 2 * timeoutMs });
    this.#links.onMessage((channel, message) => this.#hear(channel, message));
    // Until then, silence is no answer: the connections are coming up.
    this.#health.probeIn(timeouts.connectMs);
  }

  async read(wanted: readonly WantedState[]): Promise<StoredStates> {
    const states = new Map<WantedState, StoredState>();
    // Shards are read at different moments, but the result has one clock reading: the earliest holds for all of them.
    let nowMs = Infinity;
    const batches = batchesBy(wanted, ({ merchant }) => this.#keys.shardOf(merchant));
    await inTurn(batches.length > 0 ? batches : [[0, []]], async ([shard, batch]) => {
      nowMs = Math.min(nowMs, await this.#readBatch(shard, batch, states));
    });
    return { states: wanted.flatMap((one) => states.get(one) ?? []), now: instantFromEpochMs(nowMs) };
  }

  async due(limit: number): Promise<DueMerchants> {
    const pages = this.#keys.shards().map(async (shard) => {
      const call = { keys: [this.#keys.due(shard)], args: [limit + 1] };
      return (await this.#run(dueScript, call)) as readonly (readonly [merchant: string, dueInMs: string])[];
    });
    const listed = (await Promise.all(pages)).flat();
    const waits = listed.map(([merchant, dueInMs]) => ({ merchant, dueInMs: Number(dueInMs) }));
    return firstDue(waits, limit);
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    const { merchant, owner, leaseMs, mode, newerThan, floor, budget, coolDownMs } = request;
    const keys = this.#keys.of(merchant);
    const reply = await this.#run(claimScript, {
      keys: [keys.merchant, keys.calls, keys.due],
      args: [
        ...[merchant, owner, whole(leaseMs), mode, newerThan, floor],
        ...[whole(coolDownMs), request.ignoresBackOff === true ? 1 : 0],
        ...budget.flatMap(({ calls, perMs }) => [calls, Math.max(1, whole(perMs))]),
      ],
    });
    return readClaimReply(reply, request);
  }

  async publish({ session, ageMs, nextDueInMs }: Publication, lease?: Lease): Promise<'published' | 'fenced'> {
    assertPublishable(session, lease);
    const { merchant, generation } = session;
    const keys = this.#keys.of(merchant);
    // Before it is sealed: the age is true now, and sealing takes its time.
    const askedAt = this.#sentAt(merchant);
    const sealed = await sealSession(session, this.#keysOf);
    const outcome = await this.#run(publishScript, {
      keys: [keys.merchant, keys.due],
      args: [
        ...[merchant, lease?.owner ?? '', generation, sealed, whole(ageMs), whole(nextDueInMs)],
        ...[...this.#announcing({ merchant, generation }), askedAt],
      ],
    });
    return outcome as 'published' | 'fenced';
  }

  async release(lease: Lease, { called, nextDueInMs, failure }: LeaseRelease): Promise<boolean> {
    const { merchant, owner, fence } = lease;
    const keys = this.#keys.of(merchant);
    const record = failure === undefined ? '' : JSON.stringify(failure);
    const released = await this.#run(releaseScript, {
      keys: [keys.merchant, keys.calls, keys.due],
      args: [
        ...[merchant, owner, fence, whole(nextDueInMs), called ? 1 : 0],
        ...[record, ...this.#announcing({ merchant })],
      ],
    });
    return released === 1;
  }

  async report(merchant: string, { generation, ageMs, mayProve }: DeathReport): Promise<ReportResult> {
    const reply = await this.#run(reportScript, {
      keys: [this.#keys.of(merchant).merchant],
      args: [generation, whole(ageMs), mayProve ? 1 : 0, ...this.#announcing({ merchant }), this.#sentAt(merchant)],
    });
    const [isKept, diedEarly] = reply as [number, number];
    return { isKept: isKept === 1, diedEarly: diedEarly === 1 };
  }

  /** @returns undefined on a cluster, whose nodes know only their own subscribers */
  async announce(signal: ReplicaSignal): Promise<number | undefined> {
    const client = this.#links.commands;
    const listeners = await this.#answered('announce', client.publish(this.#keys.channel, JSON.stringify(signal)));
    return client instanceof Redis ? listeners : undefined;
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

  #run(script: RedisScript, call: ScriptCall): Promise<unknown> {
    return this.#answered(script.name, runScript(this.#links.commands, script, call));
  }

  /** @throws BrokerError `store_refused` for an error reply; `store_unavailable` if there was none: it may be done */
  async #answered<Answer>(operation: string, answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      this.#health.failed();
      throw storeFailure(operation, this.#links.judge(error));
    }
  }

  /** @returns the server's clock when it answered, which is needed even if no merchant was asked for */
  async #readBatch(
    shard: number,
    batch: readonly WantedState[],
    states: Map<WantedState, StoredState>,
  ): Promise<number> {
    const keys = [this.#keys.due(shard), ...batch.map(({ merchant }) => this.#keys.of(merchant).merchant)];
    const args = batch.flatMap(({ merchant, known }) => [merchant, known]);
    const [now, ...replies] = (await this.#run(readScript, { keys, args })) as [string, ...ReadReply[]];
    const nowMs = Number(now);
    const read = batch.map(async (one, index) => {
      const { merchant } = one;
      states.set(one, await readState(replies[index] as ReadReply, { merchant, keysOf: this.#keysOf, nowMs }));
    });
    await Promise.all(read);
    return nowMs;
  }

  /** What a script that is told an age is told as well, in case that it waits before it is run. */
  #sentAt(merchant: string): string {
    const nowMs = this.#probe.clocks.nowMs(this.#keys.shardOf(merchant));
    return nowMs === undefined ? '' : String(Math.floor(nowMs));
  }

  #announcing(changed: { readonly merchant: string; readonly generation?: number }): readonly string[] {
    return [this.#keys.channel, JSON.stringify({ kind: 'changed', ...changed } satisfies Announcement)];
  }

  #hear(channel: string, message: string): void {
    const announcement = channel === this.#keys.channel ? decodeAnnouncement(message) : undefined;
    if (announcement !== undefined) this.#announcer.announce(announcement);
  }
}
