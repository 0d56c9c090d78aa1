import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import type { RedisConnection } from '#libs/store';
import { RedisProcess, startRedisCluster, startRedisSentinel, toolPath } from '#libs/testing';

export type Topology = 'one server' | 'Sentinel' | 'Cluster';

type SentinelFixture = Awaited<ReturnType<typeof startRedisSentinel>>;
type ClusterFixture = Awaited<ReturnType<typeof startRedisCluster>>;

interface StoreParts {
  readonly connection: RedisConnection;
  readonly servers: readonly RedisProcess[];
  readonly stop: () => Promise<void>;
  readonly sentinel?: SentinelFixture;
}

/** A real Redis in one of its forms, and what can be done to it. */
export class StoreUnderFault {
  readonly #parts: StoreParts;

  private constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  static async start(topology: Topology): Promise<StoreUnderFault> {
    if (topology === 'Sentinel') return new StoreUnderFault(ofSentinel(await startRedisSentinel()));
    if (topology === 'Cluster') return new StoreUnderFault(ofCluster(await startRedisCluster()));
    const redis = await RedisProcess.start();
    const connection = { kind: 'single', address: redis.address, database: 0 } as const;
    return new StoreUnderFault({ connection, servers: [redis], stop: () => redis.stop() });
  }

  get connection(): RedisConnection {
    return this.#parts.connection;
  }

  /** The one server; in a cluster, the node with the merchant `shop`; with sentinels, the first primary. */
  get redis(): RedisProcess {
    const { servers, connection } = this.#parts;
    const [first] = servers;
    if (first === undefined) throw new Error('there is no server');
    if (connection.kind !== 'cluster') return first;
    return servers.find((node) => keysOf(node).some((key) => key.endsWith(':merchant:shop'))) ?? first;
  }

  get sentinels(): SentinelFixture {
    const { sentinel } = this.#parts;
    if (sentinel === undefined) throw new Error('this case has no sentinels');
    return sentinel;
  }

  /** Sends one command to the server that matters to the merchant `shop`. */
  tell(...command: readonly string[]): Promise<string> {
    return tell(this.redis, ...command);
  }

  merchantKey(merchant: string): string {
    const key = keysOf(this.redis).find((name) => name.endsWith(`:merchant:${merchant}`));
    if (key === undefined) throw new Error(`Redis has no key of ${merchant}`);
    return key;
  }

  /** A small program in Redis itself, for what would take long over a connection. */
  run(script: string, ...args: readonly string[]): Promise<string> {
    return this.tell('EVAL', script, '0', ...args);
  }

  stop(): Promise<void> {
    return this.#parts.stop();
  }
}

const run = promisify(execFile);

/** One command by redis-cli. Replicas live in this process, so it must not block meanwhile. */
export async function tell(server: RedisProcess, ...command: readonly string[]): Promise<string> {
  return (await run(toolPath('redis-server', 'redis-cli'), ['-h', '127.0.0.1', '-p', String(server.port), ...command]))
    .stdout;
}

function keysOf(server: RedisProcess): readonly string[] {
  return execFileSync(
    toolPath('redis-server', 'redis-cli'),
    ['-h', '127.0.0.1', '-p', String(server.port), 'KEYS', '*'],
    { encoding: 'utf8' },
  )
    .split('\n')
    .filter(Boolean);
}

function ofSentinel(fixture: SentinelFixture): StoreParts {
  const sentinels = fixture.sentinels.map(({ address }) => address);
  return {
    connection: { kind: 'sentinel', sentinels, name: fixture.name },
    servers: [fixture.primary],
    stop: fixture.stop,
    sentinel: fixture,
  };
}

function ofCluster({ nodes, stop }: ClusterFixture): StoreParts {
  return { connection: { kind: 'cluster', nodes: nodes.map(({ address }) => address) }, servers: nodes, stop };
}
