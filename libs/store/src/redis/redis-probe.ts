import { type Clock, Deadline } from '#libs/clock';
import type { RedisVerdict } from './redis-failure.js';
import { PROBE_MERCHANT, type RedisKeys } from './redis-layout.js';
import type { RedisLinks } from './redis-links.js';
import { type RedisClient, runScript } from './redis-script.js';
import { PROBE_ANSWER, probeScript } from './scripts/probe.lua.js';

/** Not an announcement: replicas of every version ignore what they do not know. */
const PROBE_MESSAGE = '{}';

/** What the probe needs of the connections. */
export type ProbedLinks = Pick<RedisLinks, 'commands' | 'judge' | 'reconnectSubscriber' | 'subscribe'>;

interface RedisProbeOptions {
  readonly links: ProbedLinks;
  readonly keys: RedisKeys;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Hints were lost: the subscription is on another connection than before. */
  readonly onGap: () => void;
}

/**
 * Runs every operation in a shard, for a merchant that is gone again at the end.
 * @returns the server's clock, Unix milliseconds
 * @throws what the client library throws; an answer that is not as it must be counts as a refusal
 */
export async function probeShard(
  client: RedisClient,
  keys: RedisKeys,
  { shard, announces }: { readonly shard: number; readonly announces: boolean },
): Promise<number> {
  const { merchant, calls, due } = keys.of(PROBE_MERCHANT, shard);
  const [answer, now] = (await runScript(client, probeScript, {
    keys: [merchant, calls, due],
    args: [PROBE_MERCHANT, keys.channel, announces ? PROBE_MESSAGE : ''],
  })) as [string, string];
  if (answer === PROBE_ANSWER) return Number(now);
  throw Object.assign(new Error('UNEXPECTED reply of an operation'), { name: 'ReplyError' });
}

/**
 * Asks of Redis everything that the store asks of it: every operation in every shard, and the subscription, which is
 * requested again each time because that also restores it after a reconnect.
 */
export class RedisProbe {
  readonly clocks: ServerClocks;
  readonly #options: RedisProbeOptions;
  #round = 0;

  constructor(options: RedisProbeOptions) {
    this.#options = options;
    this.clocks = new ServerClocks(options.clock);
  }

  /** @returns what the first part that failed means; undefined if the store can do all that it needs */
  async run(): Promise<RedisVerdict | undefined> {
    const { links, keys, clock, timeoutMs } = this.#options;
    this.#round += 1;
    const deadline = new Deadline(clock, timeoutMs);
    const parts = [
      ...keys.shards().map((shard) => this.#operate(shard)),
      Promise.race([this.#subscribe(), failedBy(deadline.signal)]),
    ];
    try {
      // Each is judged as soon as it fails: why there was no connection is forgotten once there is one again.
      const verdicts = await Promise.all(parts.map((part) => part.catch((error: unknown) => links.judge(error))));
      if (deadline.expired) links.reconnectSubscriber();
      return verdicts.find((verdict) => verdict !== undefined);
    } finally {
      deadline.close();
    }
  }

  async #operate(shard: number): Promise<undefined> {
    const { links, keys, clock } = this.#options;
    // Every node of a cluster forwards announcements to all others: one shard at a time is enough.
    const announces = this.#round % keys.shards().length === shard;
    const askedAtMs = clock.monotonicMs();
    this.clocks.note(shard, await probeShard(links.commands, keys, { shard, announces }), askedAtMs);
  }

  async #subscribe(): Promise<undefined> {
    const { links, keys, onGap } = this.#options;
    if (await links.subscribe(keys.channel)) onGap();
  }
}

function failedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('Command timed out')), { once: true });
  });
}

/**
 * What time it is at the server of each shard, by its own clock: at the latest what is said here, and earlier by at
 * most as long as the quickest answer took. So what is sent now cannot have been sent later than that, however long it
 * waits before the server runs it.
 */
export class ServerClocks {
  readonly #clock: Clock;
  /** How far each clock is ahead of our monotonic one, at least. */
  readonly #aheadMs = new Map<number, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param serverNowMs in Unix milliseconds, when it ran what was asked; `askedAtMs` is by our monotonic clock */
  note(shard: number, serverNowMs: number, askedAtMs: number): void {
    const leastMs = serverNowMs - this.#clock.monotonicMs();
    const mostMs = serverNowMs - askedAtMs;
    const knownMs = this.#aheadMs.get(shard);
    // Below what is known: the clock was set back, or another server has taken over.
    if (knownMs === undefined || leastMs > knownMs || mostMs < knownMs) this.#aheadMs.set(shard, leastMs);
  }

  /** Unix milliseconds; undefined before the first answer of that shard. */
  nowMs(shard: number): number | undefined {
    const aheadMs = this.#aheadMs.get(shard);
    return aheadMs === undefined ? undefined : this.#clock.monotonicMs() + aheadMs;
  }
}
