import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { toolPath } from './needed-tools.js';
import { RedisProcess } from './redis-process.js';
import type { TestAuthority } from './test-certificates.js';

/** A node that a busy machine holds up for a second must not be considered dead by the others. */
const NODE_TIMEOUT_MS = '5000';

interface RedisClusterFixture {
  readonly nodes: readonly RedisProcess[];
  readonly stop: () => Promise<void>;
}

/** Three primaries that share the slots. */
export async function startRedisCluster(): Promise<RedisClusterFixture> {
  const nodes = await Promise.all([1, 2, 3].map(startClusterNode));
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  execFileSync(toolPath('redis-server', 'redis-cli'), ['--cluster', 'create', ...addresses, '--cluster-yes'], {
    encoding: 'utf8',
  });
  for (const node of nodes) await node.untilSays('cluster_state:ok', 'cluster', 'info');
  return { nodes, stop: () => stopAll(nodes) };
}

async function startClusterNode(): Promise<RedisProcess> {
  const busPort = String(await freePort());
  return RedisProcess.start({
    args: () => ['--cluster-enabled', 'yes', '--cluster-port', busPort, '--cluster-node-timeout', NODE_TIMEOUT_MS],
  });
}

interface RedisSentinelFixture {
  readonly name: string;
  readonly primary: RedisProcess;
  readonly replica: RedisProcess;
  readonly sentinels: readonly RedisProcess[];
  readonly stop: () => Promise<void>;
}

/**
 * A primary, its replica, and three sentinels.
 * @param downAfterMs of silence, they fail over; by default soon, as a busy machine may also bring about
 */
export async function startRedisSentinel(downAfterMs = 500): Promise<RedisSentinelFixture> {
  const name = 'primary';
  const primary = await RedisProcess.start({ args: () => ['--repl-diskless-sync-delay', '0'] });
  const replica = await RedisProcess.start({
    args: () => ['--replicaof', '127.0.0.1', String(primary.port), '--repl-diskless-sync-delay', '0'],
  });
  await replica.untilSays('master_link_status:up', 'info', 'replication');
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(name, primary.port, downAfterMs)));
  for (const sentinel of sentinels) {
    await eventually(() => {
      const facts = sentinel.cli('sentinel', 'master', name);
      return /num-slaves\n1\n/.test(facts) && /num-other-sentinels\n2\n/.test(facts);
    });
  }
  return { name, primary, replica, sentinels, stop: () => stopAll([...sentinels, replica, primary]) };
}

function startSentinel(name: string, primaryPort: number, downAfterMs: number): Promise<RedisProcess> {
  return RedisProcess.start({
    sentinel: [
      `sentinel monitor ${name} 127.0.0.1 ${primaryPort} 2`,
      `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
      `sentinel failover-timeout ${name} 2000`,
    ],
  });
}

/**
 * A Redis that only takes TLS, with a certificate of this authority.
 * @param choices of its command line, after the usual ones; and when its certificate has ended
 */
export function encryptedRedis(
  authority: TestAuthority,
  { args = [], ...ends }: { readonly args?: readonly string[]; readonly notAfter?: Date } = {},
): Promise<RedisProcess> {
  const { cert, key } = authority.issue({ names: ['127.0.0.1', 'localhost'], ...ends });
  return RedisProcess.start({
    tlsOnly: true,
    args: ({ port, dir }) => {
      const files = { 'tls.crt': cert, 'tls.key': key, 'ca.crt': authority.cert };
      for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content);
      return [
        ...['--tls-port', String(port), '--tls-auth-clients', 'no'],
        ...['--tls-cert-file', join(dir, 'tls.crt'), '--tls-key-file', join(dir, 'tls.key')],
        ...['--tls-ca-cert-file', join(dir, 'ca.crt'), ...args],
      ];
    },
  });
}

async function stopAll(processes: readonly RedisProcess[]): Promise<void> {
  await Promise.all(processes.map((process) => process.stop()));
}
