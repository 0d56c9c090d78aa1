import type { RedisConnection } from '../redis-connection.js';
import { PROBE_MERCHANT, RedisKeys, shardsOf } from '../redis-layout.js';

/** One right that the store needs, and a way to check for it without changing anything. */
export interface CommandRight {
  readonly command: string;
  readonly args: readonly string[];
  /** What it is needed on: a key or channel of the store; undefined for commands without one. */
  readonly target?: string;
}

const NOBODY = 'session-broker-doctor';
const NO_NUMBER = 'not-a-number';
const CONNECTING = ['HELLO', 'AUTH', 'SELECT', 'PING', 'INFO', 'SUBSCRIBE'];

const on = (target: string, command: string, ...args: string[]): CommandRight => ({
  command,
  args: [target, ...args],
  target,
});

/**
 * Every command that the store's scripts and its probe run, on the very keys that they run it on. Redis checks rights
 * before it reads operands and before it redirects a client to another node of a cluster, so write commands get
 * operands that they refuse, or members or keys that do not exist: the answer reveals the right, and nothing is
 * changed.
 */
export function rightsOn(keys: RedisKeys, merchant: string): readonly CommandRight[] {
  const { merchant: record, calls, due } = keys.of(merchant);
  const probe = keys.inShard(keys.shardOf(merchant), PROBE_MERCHANT);
  return [
    // Not an announcement: replicas ignore what they do not know.
    on(keys.channel, 'PUBLISH', '{}'),
    { command: 'EVAL', args: ['return 1', '1', record], target: record },
    { command: 'EVALSHA', args: ['0'.repeat(40), '1', record], target: record },
    { command: 'TIME', args: [] },
    ...[record, calls, due].map((key) => on(key, 'TYPE')),
    // Outside a script, the probe's keys never exist.
    ...[probe.merchant, probe.calls].map((key) => on(key, 'UNLINK')),
    on(record, 'HSTRLEN', 'fence'),
    on(record, 'HMGET', 'fence'),
    on(record, 'HSET', NOBODY, '1', NOBODY),
    on(record, 'HDEL', NOBODY),
    ...[calls, due].flatMap((key) => [
      on(key, 'ZADD', NO_NUMBER, NOBODY),
      on(key, 'ZRANGE', '0', '0'),
      on(key, 'ZCARD'),
      on(key, 'ZSCORE', NOBODY),
      on(key, 'ZREM', NOBODY),
      on(key, 'ZREMRANGEBYSCORE', NO_NUMBER, NO_NUMBER),
    ]),
    on(calls, 'PEXPIRE', NO_NUMBER),
  ];
}

/** Needed by the connections to a cluster. */
const ofCluster: readonly CommandRight[] = [
  { command: 'CLUSTER', args: ['SLOTS'] },
  { command: 'ASKING', args: [] },
  { command: 'READONLY', args: [] },
];

/**
 * Every right on the keys of these merchants: once per shard, since the keys of its merchants are alike. The
 * subscription comes last: after it, a connection can do nothing else.
 */
export function rightsFor(
  connection: RedisConnection,
  keyPrefix: string,
  merchants: readonly string[],
): readonly CommandRight[] {
  const keys = new RedisKeys(keyPrefix, shardsOf(connection));
  const perShard = new Map(merchants.map((merchant) => [keys.shardOf(merchant), merchant]));
  return [
    ...[...perShard.values()].flatMap((merchant) => rightsOn(keys, merchant)),
    ...(connection.kind === 'cluster' ? ofCluster : []),
    on(keys.channel, 'SUBSCRIBE'),
  ];
}

/** A line for redis-cli that grants all of them. It revokes nothing, and neither sets nor shows a password. */
export function grantingLine(connection: RedisConnection, keyPrefix: string): string {
  const commands = rightsFor(connection, keyPrefix, ['']).map(({ command }) =>
    command === 'CLUSTER' ? 'CLUSTER|SLOTS' : command,
  );
  const granted = [...new Set([...CONNECTING, ...commands])].map((command) => `+${command.toLowerCase()}`);
  const user = connection.credentials?.username ?? 'default';
  return `ACL SETUSER ${user} ~${keyPrefix}:* &${keyPrefix}:* ${granted.join(' ')}`;
}
