import { createServer } from 'node:http';
import { SERVER_CPU } from './bare-contender.js';
import { BenchBroker } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';
import { freePort } from '#libs/testing';
import { type Contender, load, type Round, ROUNDS, SANDBOX_CPU } from './http-bench.js';

/** A dozen times as often as by default, so that every round of a few seconds has its share of pushes. */
const PUSH_INTERVAL_MS = '5000';

/** Session reads with metrics and traces on, pushed to a collector that accepts everything, compared with both off. */
export async function benchTelemetry(): Promise<readonly BenchLine[]> {
  const port = await freePort();
  const collector = createServer((request, response) => request.resume().on('end', () => response.end())).listen(port);
  const cpus = { brokerCpu: SERVER_CPU, sandboxCpu: SANDBOX_CPU };
  const exporting = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_METRIC_EXPORT_INTERVAL: PUSH_INTERVAL_MS,
  };
  const on = await BenchBroker.start({ ...cpus, environment: exporting });
  const off = await BenchBroker.start({ ...cpus, environment: { OTEL_SDK_DISABLED: 'true' } });
  try {
    const [withAll, without] = [on, off].map((running) => contender(running)) as [Contender, Contender];
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const each of [withAll, without]) {
        const measured = await load(each);
        if (round > 0) each.rounds.push(measured);
      }
    }
    const line = (name: string, pick: (round: Round) => number): BenchLine => ({
      name: `reads ${name}`,
      unit: '1/s',
      values: withAll.rounds.map(pick),
      beside: { what: 'the same with telemetry off', values: without.rounds.map(pick) },
      least: 0.97,
    });
    return [
      line('per second', ({ perSecond }) => perSecond),
      line('per processor second', ({ perCpuSecond }) => perCpuSecond),
    ];
  } finally {
    await on.stop();
    await off.stop();
    collector.close();
  }
}

function contender({ broker, sessionUrl }: BenchBroker): Contender {
  return { server: broker, url: sessionUrl, headers: BenchBroker.headers, rounds: [] };
}
