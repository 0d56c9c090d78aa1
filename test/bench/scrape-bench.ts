import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SystemClock } from '#libs/clock';
import { HeldSessions, type SessionReplica } from '#libs/session';
import { createInstruments, createLogger, startTelemetry } from '#libs/telemetry';
import { aSession, hold } from '#libs/testing';
import { MerchantLabels } from '../../apps/broker/src/management/merchant-labels.js';
import { SessionMetrics } from '../../apps/broker/src/management/session-metrics.js';
import type { BenchLine } from './bench-line.js';

/** All that the metrics ask of a replica: its series would be left out without it. */
type Replica = Pick<SessionReplica, 'held' | 'retryInMs' | 'hasForeignAuthorizer' | 'conditionOf'>;

const MERCHANTS = 10_000;
const SERIES = 500;
const ROUNDS = 9;

/** What a scrape takes of a replica with ten thousand merchants, each renewed and read. */
export async function benchScrape(): Promise<readonly BenchLine[]> {
  const clock = new SystemClock();
  const logger = createLogger({ name: 'bench', level: 'error' });
  const telemetry = await startTelemetry({ serviceName: 'bench', serviceVersion: '0', logger });
  const ids = Array.from({ length: MERCHANTS }, (_merchant, index) => `merchant-${index}`);
  const held = new HeldSessions(clock);
  const labels = new MerchantLabels(ids, SERIES);
  const replica: Replica = {
    held,
    retryInMs: () => undefined,
    hasForeignAuthorizer: () => false,
    conditionOf: () => 'fresh',
  };
  const reads = ids.flatMap((merchant) =>
    ['fresh', 'stale', 'unavailable'].map((result) => ({ merchant, result, count: 1 })),
  );
  const metrics = new SessionMetrics(createInstruments(telemetry.meter), {
    replica,
    clock,
    labels: () => labels,
    merchants: () => ids,
    reads: () => reads,
    unconfirmedRejections: () => [],
    store: () => 'answers',
    watchers: () => 0,
    authenticationFailures: () => [],
    endedConnections: () => [],
    certificates: () => [],
  });
  for (const merchant of ids) {
    hold(held, aSession({ merchant }));
    const renewal = {
      merchant,
      trigger: 'schedule',
      outcome: 'success',
      generation: 1,
      durationMs: 40,
    } as const;
    metrics.emit({ event: 'renewal_finished', ...renewal });
  }
  const server = createServer((request, response) => telemetry.scrape(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const rounds: { ms: number; bytes: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = performance.now();
    const text = await (await fetch(url)).text();
    rounds.push({ ms: performance.now() - startedAt, bytes: Buffer.byteLength(text) });
  }
  server.close();
  await telemetry.shutdown();
  return [
    { name: 'time', unit: 'ms', values: rounds.map(({ ms }) => ms), most: 1_000 },
    { name: 'size', unit: 'MB', values: rounds.map(({ bytes }) => bytes / 1e6), most: 10 },
  ];
}
