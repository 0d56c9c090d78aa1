import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
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
  readonly connection: RedisConnection;
  readonly #servers: readonly RedisProcess[];
  readonly #stop: () => Promise<void>;
  readonly #sentinel: SentinelFixture | undefined;

  private constructor(parts: StoreParts) {
    this.connection = parts.connection;
    this.#servers = parts.servers;
    this.#stop = parts.stop;
    this.#sentinel = parts.sentinel;
  }

  static async start(topology: Topology): Promise<StoreUnderFault> {
    if (topology === 'Sentinel') return new StoreUnderFault(ofSentinel(await startRedisSentinel()));
    if (topology === 'Cluster') return new StoreUnderFault(ofCluster(await startRedisCluster()));
    const redis = await RedisProcess.start();
    const connection = { kind: 'single', address: redis.address, database: 0 } as const;
    return new StoreUnderFault({ connection, servers: [redis], stop: () => redis.stop() });
  }

  /** The one server; in a cluster, the node with the merchant `shop`; with sentinels, the first primary. */
  get redis(): RedisProcess {
    const [first] = this.#servers;
    if (first === undefined) throw new Error('there is no server');
    if (this.connection.kind !== 'cluster') return first;
    return this.#servers.find((node) => keysOf(node).some((key) => key.endsWith(':merchant:shop'))) ?? first;
  }

  get sentinels(): SentinelFixture {
    if (this.#sentinel === undefined) throw new Error('this case has no sentinels');
    return this.#sentinel;
  }

  /** Sends one command to every server. */
  async everywhere(...command: readonly string[]): Promise<void> {
    await Promise.all(this.#servers.map((server) => tell(server, ...command)));
  }

  /** Sends one command to the server that matters to the merchant `shop`. */
  tell(...command: readonly string[]): Promise<string> {
    return tell(this.redis, ...command);
  }

  merchantKey(merchant: string): string {
    return this.#key(`:merchant:${merchant}`);
  }

  dueKey(): string {
    return this.#key(':due');
  }

  /** A small program in Redis itself, for what would take long over a connection. */
  run(script: string, ...args: readonly string[]): Promise<string> {
    return this.tell('EVAL', script, '0', ...args);
  }

  /** A lasting connection, for when no new one is accepted. */
  async console(): Promise<RedisConsole> {
    return RedisConsole.to(this.redis.port);
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  #key(ending: string): string {
    const key = keysOf(this.redis).find((name) => name.endsWith(ending));
    if (key === undefined) throw new Error(`Redis has no key ${ending}`);
    return key;
  }
}

const run = promisify(execFile);

/** One command by redis-cli. Replicas live in this process, so it must not block meanwhile. */
export async function tell(server: RedisProcess, ...command: readonly string[]): Promise<string> {
  return (await run(toolPath('redis-server', 'redis-cli'), ['-h', '127.0.0.1', '-p', String(server.port), ...command]))
    .stdout;
}

/** A redis-cli that is given commands one by one. */
export class RedisConsole {
  readonly #cli: ChildProcess;

  private constructor(cli: ChildProcess) {
    this.#cli = cli;
  }

  static async to(port: number): Promise<RedisConsole> {
    const redisConsole = new RedisConsole(
      spawn(toolPath('redis-server', 'redis-cli'), ['-h', '127.0.0.1', '-p', String(port)], {
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    );
    await redisConsole.say('PING');
    return redisConsole;
  }

  /** Resolves once Redis has answered. */
  async say(command: string): Promise<void> {
    const answered = new Promise((resolve) => this.#cli.stdout?.once('data', resolve));
    this.#cli.stdin?.write(`${command}\n`);
    await answered;
  }

  close(): void {
    this.#cli.stdin?.end();
  }
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
    servers: [fixture.primary, fixture.replica],
    stop: fixture.stop,
    sentinel: fixture,
  };
}

function ofCluster({ nodes, stop }: ClusterFixture): StoreParts {
  return { connection: { kind: 'cluster', nodes: nodes.map(({ address }) => address) }, servers: nodes, stop };
}
