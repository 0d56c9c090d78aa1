import { type Clock, Deadline } from '#libs/clock';
import type { RedisKeys } from './redis-keys.js';
import type { RedisLinks } from './redis-links.js';

const PROBE_KEY_LIFETIME_MS = 60_000;

export interface RedisProbeOptions {
  readonly links: RedisLinks;
  readonly keys: RedisKeys;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/**
 * Asks of Redis what the store will ask of it: a write in every shard, since a replica or a full server still reads,
 * and the subscription, which is asked for anew each time because that also brings it back after a reconnect.
 */
export async function probeRedis({ links, keys, clock, timeoutMs }: RedisProbeOptions): Promise<void> {
  const writes = keys.shards().map((shard) => links.commands.set(keys.probe(shard), '1', 'PX', PROBE_KEY_LIFETIME_MS));
  const deadline = new Deadline(clock, timeoutMs);
  try {
    const subscribed = Promise.race([links.subscriber.subscribe(keys.channel), failedBy(deadline.signal)]);
    // Both are waited for: a failure of one must not leave the other's unheard.
    const outcomes = await Promise.allSettled([...writes, subscribed]);
    if (deadline.expired) links.reconnectSubscriber();
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  } finally {
    deadline.close();
  }
}

function failedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('Command timed out')), { once: true });
  });
}
