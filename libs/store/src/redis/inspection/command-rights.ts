import type { RedisConnection } from '../redis-connection.js';
import { PROBE_MERCHANT, RedisKeys, shardsOf } from '../redis-layout.js';

/** A command with operands that check for the right to it without changing anything. */
export type CommandRight = readonly [command: string, ...operands: string[]];

const NOBODY = 'session-broker-doctor';
const NO_NUMBER = 'not-a-number';
const CONNECTING = ['HELLO', 'AUTH', 'SELECT', 'PING', 'INFO', 'SUBSCRIBE'];

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
    ['PUBLISH', keys.channel, '{}'],
    ['EVAL', 'return 1', '1', record],
    ['EVALSHA', '0'.repeat(40), '1', record],
    ['TIME'],
    ...[record, calls, due].map((key): CommandRight => ['TYPE', key]),
    // Outside a script, the probe's keys never exist.
    ...[probe.merchant, probe.calls].map((key): CommandRight => ['UNLINK', key]),
    ['HSTRLEN', record, 'fence'],
    ['HMGET', record, 'fence'],
    ['HSET', record, NOBODY, '1', NOBODY],
    ['HDEL', record, NOBODY],
    ...[calls, due].flatMap((key): CommandRight[] => [
      ['ZADD', key, NO_NUMBER, NOBODY],
      ['ZRANGE', key, '0', '0'],
      ['ZCARD', key],
      ['ZSCORE', key, NOBODY],
      ['ZREM', key, NOBODY],
      ['ZREMRANGEBYSCORE', key, NO_NUMBER, NO_NUMBER],
    ]),
    ['PEXPIRE', calls, NO_NUMBER],
  ];
}

/** Needed by the connections to a cluster. */
const ofCluster: readonly CommandRight[] = [['CLUSTER', 'SLOTS'], ['ASKING'], ['READONLY']];

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
    ['SUBSCRIBE', keys.channel],
  ];
}

/** A line for redis-cli that grants all of them. It revokes nothing, and neither sets nor shows a password. */
export function grantingLine(connection: RedisConnection, keyPrefix: string): string {
  const commands = rightsFor(connection, keyPrefix, ['']).map(([command]) =>
    command === 'CLUSTER' ? 'CLUSTER|SLOTS' : command,
  );
  const granted = [...new Set([...CONNECTING, ...commands])].map((command) => `+${command.toLowerCase()}`);
  const user = connection.credentials?.username ?? 'default';
  return `ACL SETUSER ${user} ~${keyPrefix}:* &${keyPrefix}:* ${granted.join(' ')}`;
}
