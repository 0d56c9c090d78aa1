import { TestIssuer } from '#libs/testing';
import { BenchBroker } from './bench-broker.js';
import { SERVER_CPU, startBare } from './bare-contender.js';
import type { BenchLine } from './bench-line.js';
import type { BenchProcess } from './bench-process.js';
import { LatencyProbe } from './latency-probe.js';
import { loadOf } from './load-generator.js';
import type { Round as PaceRound } from './throughput.js';

const CONNECTIONS = 32;
export const ROUNDS = 5;
const ROUND_S = 3;
export const SANDBOX_CPU = 1;

export interface Round extends PaceRound {
  readonly p99Ms: number;
}

export interface Contender {
  readonly server: BenchProcess;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly rounds: Round[];
}

/** Authenticated session reads, compared with a bare node:http server that sends the same bytes. */
export async function benchHttp(): Promise<readonly BenchLine[]> {
  const issuer = new TestIssuer();
  const running = await BenchBroker.start({
    brokerCpu: SERVER_CPU,
    sandboxCpu: SANDBOX_CPU,
    auth: `jwt: { issuer: '${TestIssuer.ISSUER}', audience: '${TestIssuer.AUDIENCE}', jwksFile: jwks.json }`,
    caller: TestIssuer.SUBJECT,
    files: { 'jwks.json': JSON.stringify({ keys: [issuer.publicJwk] }) },
  });
  const url = running.sessionUrl;
  const withToken: Contender = { server: running.broker, url, headers: BenchBroker.headers, rounds: [] };
  const jwt = { authorization: `Bearer ${issuer.token(Date.now())}` };
  const withJwt: Contender = { server: running.broker, url, headers: jwt, rounds: [] };
  const bare: Contender = { ...(await startBare(running.folder, url)), rounds: [] };
  try {
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const contender of [withToken, withJwt, bare]) {
        const measured = await load(contender);
        if (round > 0) contender.rounds.push(measured);
      }
    }
    return [
      ...linesOf('reads', withToken.rounds, { bare: bare.rounds, least: 0.7 }),
      ...linesOf('reads by JWT', withJwt.rounds, { bare: bare.rounds, least: 0.7 }),
    ];
  } finally {
    await bare.server.stop();
    await running.stop();
  }
}

function linesOf(
  what: string,
  broker: readonly Round[],
  { bare, least }: { readonly bare: readonly Round[]; readonly least: number },
): readonly BenchLine[] {
  const line = (
    name: string,
    pick: (round: Round) => number,
    goal: Pick<BenchLine, 'unit' | 'least' | 'most'>,
  ): BenchLine => ({
    name: `${what} ${name}`,
    values: broker.map(pick),
    beside: { what: 'bare node:http, same bytes, same load', values: bare.map(pick) },
    ...goal,
  });
  return [
    line('per second', (round) => round.perSecond, { unit: '1/s', least }),
    line('per processor second', (round) => round.perCpuSecond, { unit: '1/s', least }),
    line('p99', (round) => round.p99Ms, { unit: 'ms', most: 2 }),
  ];
}

export async function load({ server, url, headers }: Contender): Promise<Round> {
  const before = server.cpuSeconds();
  const probe = new LatencyProbe(url, headers);
  const result = await loadOf({ url, connections: CONNECTIONS, duration: ROUND_S, headers });
  const p99Ms = await probe.stop();
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx + result.errors} requests failed`);
  const total = result.requests.total;
  const perCpuSecond = total / (server.cpuSeconds() - before);
  return { perSecond: total / result.duration, perCpuSecond, p99Ms };
}
