import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { generateClientKey } from '#libs/jwe';
import type { BenchLine } from './bench-line.js';
import { BenchProcess, freePort, untilOk } from './bench-process.js';
import { LatencyProbe } from './latency-probe.js';

const TOKEN = 'token-of-the-bench';
const SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120002';
const CONNECTIONS = 32;
const ROUNDS = 5;
const ROUND_S = 3;
/** The servers share one processor, in turns; the load comes from the other. */
const SERVER_CPU = 0;
const SANDBOX_CPU = 1;

interface Round {
  readonly perSecond: number;
  readonly perCpuSecond: number;
  readonly p99Ms: number;
}

interface Contender {
  readonly server: BenchProcess;
  readonly url: string;
  readonly rounds: Round[];
}

/** Authenticated session reads against a bare node:http server that answers the same bytes. */
export async function benchHttp(): Promise<readonly BenchLine[]> {
  const folder = await mkdtemp(join(tmpdir(), 'session-broker-bench-'));
  const started: BenchProcess[] = [];
  try {
    const broker = await startBroker(folder, started);
    const bare = await startBare(folder, started, broker.url);
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const contender of [broker, bare]) {
        const measured = await load(contender);
        if (round > 0) contender.rounds.push(measured);
      }
    }
    return linesOf(broker.rounds, bare.rounds);
  } finally {
    for (const process of started.reverse()) await process.stop();
    await rm(folder, { recursive: true });
  }
}

function linesOf(broker: readonly Round[], bare: readonly Round[]): readonly BenchLine[] {
  const medianOf = (rounds: readonly Round[], pick: (round: Round) => number): number =>
    rounds.map(pick).sort((a, b) => a - b)[rounds.length >> 1] ?? Number.NaN;
  const line = (
    name: string,
    pick: (round: Round) => number,
    rest: Pick<BenchLine, 'unit' | 'baseline' | 'goal' | 'atMost'>,
  ): BenchLine => {
    const value = medianOf(broker, pick);
    return { name, value, ratio: value / medianOf(bare, pick), ...rest };
  };
  const baseline = 'bare node:http, same bytes, same load';
  return [
    line('session read, requests per second', (round) => round.perSecond, { unit: '1/s', baseline, goal: 0.75 }),
    line('session read, requests per processor second', (round) => round.perCpuSecond, {
      unit: '1/s',
      baseline,
      goal: 0.75,
    }),
    line('session read, p99 latency', (round) => round.p99Ms, { unit: 'ms', baseline, atMost: 2 }),
  ];
}

async function load({ server, url }: Contender): Promise<Round> {
  const before = server.cpuSeconds();
  const headers = { authorization: `Bearer ${TOKEN}` };
  const probe = new LatencyProbe(url, headers);
  const result = await autocannon({ url, connections: CONNECTIONS, duration: ROUND_S, headers });
  const p99Ms = await probe.stop();
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx + result.errors} requests failed`);
  const total = result.requests.total;
  const perCpuSecond = total / (server.cpuSeconds() - before);
  return { perSecond: total / result.duration, perCpuSecond, p99Ms };
}

async function startBroker(folder: string, started: BenchProcess[]): Promise<Contender> {
  const [port, managementPort, sandboxPort] = [await freePort(), await freePort(), await freePort()];
  const key = await generateClientKey();
  const merchant = { id: 'shop', serviceCode: SERVICE_CODE, publicJwk: key.publicJwk, lifetimeMs: 3_600_000 };
  const files = {
    key: join(folder, 'key.json'),
    merchants: join(folder, 'merchants.json'),
    yaml: join(folder, 'b.yaml'),
  };
  await writeFile(files.key, JSON.stringify(key.privateJwk), { mode: 0o600 });
  await writeFile(files.merchants, JSON.stringify([merchant]));
  await writeFile(files.yaml, configuration({ port, managementPort, sandboxPort }));
  const sandboxEnv = { SANDBOX_PORT: String(sandboxPort), SANDBOX_MERCHANTS: files.merchants };
  const dist = join(import.meta.dirname, '..', '..', 'apps');
  started.push(new BenchProcess(nodeOf(dist, 'sandbox'), { cpu: SANDBOX_CPU, env: sandboxEnv }));
  const server = new BenchProcess(nodeOf(dist, 'broker'), { cpu: SERVER_CPU, env: { BROKER_CONFIG: files.yaml } });
  started.push(server);
  const url = `http://127.0.0.1:${port}/v1/merchants/shop/session`;
  await untilOk(url, { authorization: `Bearer ${TOKEN}` });
  return { server, url, rounds: [] };
}

async function startBare(folder: string, started: BenchProcess[], brokerUrl: string): Promise<Contender> {
  const answer = await untilOk(brokerUrl, { authorization: `Bearer ${TOKEN}` });
  const {
    date: _date,
    connection: _connection,
    'keep-alive': _keepAlive,
    ...headers
  } = Object.fromEntries(answer.headers);
  const file = join(folder, 'answer.json');
  await writeFile(file, JSON.stringify({ headers, body: await answer.text() }));
  const port = await freePort();
  const program = join(import.meta.dirname, 'bare-server.js');
  const server = new BenchProcess([process.execPath, program, String(port), file], { cpu: SERVER_CPU });
  started.push(server);
  const url = `http://127.0.0.1:${port}/`;
  await untilOk(url);
  return { server, url, rounds: [] };
}

function nodeOf(dist: string, app: string): readonly string[] {
  return [process.execPath, join(dist, app, 'src', 'main.js')];
}

function configuration(ports: { port: number; managementPort: number; sandboxPort: number }): string {
  const sha256 = createHash('sha256').update(TOKEN).digest('hex');
  return `
http: { host: 127.0.0.1, port: ${ports.port} }
management: { host: 127.0.0.1, port: ${ports.managementPort} }
store: { type: memory }
auth:
  tokens: [{ caller: bench, sha256: "${sha256}" }]
  policies: [{ caller: bench, merchants: [shop], allow: [session:read] }]
log: { level: error }
merchants:
  - id: shop
    serviceCode: ${SERVICE_CODE}
    clientKeyFiles: [key.json]
    gateway: { baseUrl: 'http://127.0.0.1:${ports.sandboxPort}', environment: test }
`;
}
