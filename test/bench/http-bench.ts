import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { freePort, TestIssuer } from '#libs/testing';
import { BenchBroker } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';
import { BenchProcess, SERVER_CPU, untilOk } from './bench-process.js';
import { p99While, paceUnder } from './requests.js';
import { inTurns, type Pace, paceLines } from './rounds.js';

const CONNECTIONS = 32;
const ROUNDS = 5;
const ROUND_S = 3;
/** A dozen times as often as by default, so that every round of a few seconds has its share of pushes. */
const PUSH_INTERVAL_MS = '5000';

interface Read {
  readonly server: BenchProcess;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Round extends Pace {
  readonly p99Ms: number;
}

/** Authenticated session reads, compared with a bare node:http server that sends the same bytes. */
export async function benchHttp(): Promise<readonly BenchLine[]> {
  const issuer = new TestIssuer();
  await using running = await BenchBroker.start({
    isPinned: true,
    auth: `jwt: { issuer: '${TestIssuer.ISSUER}', audience: '${TestIssuer.AUDIENCE}', jwksFile: jwks.json }`,
    caller: TestIssuer.SUBJECT,
    files: { 'jwks.json': JSON.stringify({ keys: [issuer.publicJwk] }) },
  });
  const { server, url: bareUrl } = await startBare(running);
  await using bareServer = server;
  const read = { server: running.broker, url: running.sessionUrl };
  const headers = { authorization: `Bearer ${issuer.token(Date.now())}` };
  const { byToken, byJwt, bare } = await inTurns(ROUNDS, {
    byToken: () => roundOf(read),
    byJwt: () => roundOf({ ...read, headers }),
    bare: () => roundOf({ server: bareServer, url: bareUrl }),
  });
  const what = 'bare node:http, same bytes, same load';
  const linesOf = (name: string, ours: readonly Round[]): readonly BenchLine[] => [
    ...paceLines(name, { ours, bare, what, least: { perSecond: 0.7, perCpuSecond: 0.7 } }),
    {
      name: `${name} p99`,
      unit: 'ms',
      values: ours.map(({ p99Ms }) => p99Ms),
      beside: { what, values: bare.map(({ p99Ms }) => p99Ms) },
      most: 2,
    },
  ];
  return [...linesOf('reads', byToken), ...linesOf('reads by JWT', byJwt)];
}

/** Session reads with metrics and traces on, pushed to a collector that accepts everything, compared with both off. */
export async function benchTelemetry(): Promise<readonly BenchLine[]> {
  const port = await freePort();
  const collector = createServer((request, response) => request.resume().on('end', () => response.end())).listen(port);
  const exporting = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_METRIC_EXPORT_INTERVAL: PUSH_INTERVAL_MS,
  };
  try {
    await using on = await BenchBroker.start({ isPinned: true, env: exporting });
    await using off = await BenchBroker.start({ isPinned: true, env: { OTEL_SDK_DISABLED: 'true' } });
    const { ours, bare } = await inTurns(ROUNDS, {
      ours: () => roundOf({ server: on.broker, url: on.sessionUrl }),
      bare: () => roundOf({ server: off.broker, url: off.sessionUrl }),
    });
    const least = { perSecond: 0.97, perCpuSecond: 0.97 };
    return paceLines('reads', { ours, bare, what: 'the same with telemetry off', least });
  } finally {
    collector.close();
  }
}

async function roundOf({ server, url, headers = BenchBroker.headers }: Read): Promise<Round> {
  const pace = paceUnder({ url, connections: CONNECTIONS, duration: ROUND_S, headers }, server);
  const p99Ms = await p99While(url, headers, pace);
  return { ...(await pace), p99Ms };
}

/** A bare node:http server that sends the same bytes as a session read, on the broker's processor. */
async function startBare({ sessionUrl, parts }: BenchBroker): Promise<Read> {
  const answer = await untilOk(sessionUrl, BenchBroker.headers);
  const {
    date: _date,
    connection: _connection,
    'keep-alive': _keepAlive,
    ...headers
  } = Object.fromEntries(answer.headers);
  const file = join(parts.folder, 'answer.json');
  await writeFile(file, JSON.stringify({ headers, body: await answer.text() }));
  const port = await freePort();
  const server = BenchProcess.of('bare-server', [String(port), file], { cpu: SERVER_CPU });
  const url = `http://127.0.0.1:${port}/`;
  await untilOk(url);
  return { server, url };
}
