import type { RedisKeys } from '../redis-layout.js';

/** One right that the store needs, and a way to check for it without changing anything. */
export interface CommandRight {
  readonly command: string;
  readonly args: readonly string[];
  /** What it is needed on: a key or channel of the store; undefined for commands without one. */
  readonly target?: string;
}

const NOBODY = 'session-broker-doctor';
const NO_NUMBER = 'not-a-number';

/**
 * Every command that the store's scripts and its probe run, on the very keys that they run it on. Redis checks rights
 * before it reads operands and before it redirects a client to another node of a cluster, so write commands get
 * operands that they refuse, or members or keys that do not exist: the answer reveals the right, and nothing is
 * changed.
 */
export function rightsOn(keys: RedisKeys, merchant: string): readonly CommandRight[] {
  const { merchant: record, calls, due } = keys.of(merchant);
  const probe = keys.probe(keys.shardOf(merchant));
  const on = (target: string, command: string, ...args: string[]): CommandRight => ({
    command,
    args: [target, ...args],
    target,
  });
  return [
    { command: 'TIME', args: [] },
    { command: 'EVAL', args: ['return 1', '1', record], target: record },
    { command: 'EVALSHA', args: ['0'.repeat(40), '1', record], target: record },
    on(record, 'TYPE'),
    on(record, 'HSTRLEN', 'fence'),
    on(record, 'HMGET', 'fence'),
    on(record, 'HSET', NOBODY, '1', NOBODY),
    on(record, 'HDEL', NOBODY),
    on(calls, 'TYPE'),
    on(calls, 'ZADD', NO_NUMBER, NOBODY),
    on(calls, 'ZREM', NOBODY),
    on(calls, 'ZCARD'),
    on(calls, 'ZRANGE', '0', '0'),
    on(calls, 'ZREMRANGEBYSCORE', NO_NUMBER, NO_NUMBER),
    on(calls, 'PEXPIRE', NO_NUMBER),
    on(due, 'TYPE'),
    on(due, 'ZADD', NO_NUMBER, NOBODY),
    on(due, 'ZREM', NOBODY),
    on(due, 'ZSCORE', NOBODY),
    on(due, 'ZRANGE', '0', '0'),
    on(due, 'ZREMRANGEBYSCORE', NO_NUMBER, NO_NUMBER),
    // Outside a script, the probe's keys never exist.
    on(probe.merchant, 'UNLINK'),
    on(probe.calls, 'UNLINK'),
    // Not an announcement: replicas ignore what they do not know.
    on(keys.channel, 'PUBLISH', '{}'),
  ];
}

/** Needed by the connections to a cluster. */
export const CLUSTER_RIGHTS: readonly CommandRight[] = [
  { command: 'CLUSTER', args: ['SLOTS'] },
  { command: 'READONLY', args: [] },
  { command: 'ASKING', args: [] },
];

/** Comes last: a connection that is subscribed can do nothing else. */
export const subscription = (keys: RedisKeys): CommandRight => ({
  command: 'SUBSCRIBE',
  args: [keys.channel],
  target: keys.channel,
});
