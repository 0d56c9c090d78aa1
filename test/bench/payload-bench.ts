import autocannon from 'autocannon';
import { importPaymentKey, sealJwe } from '#libs/jwe';
import { BenchBroker } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';
import { LatencyProbe } from './latency-probe.js';

const ROUNDS = 5;
const ROUND_S = 4;
const DECRYPTERS = 16;
const PLAINTEXT = Buffer.alloc(1_024, 'x');

interface Round {
  readonly p99Ms: number;
  readonly decryptsPerSecond: number;
}

/** How long reads take while payloads are opened as fast as a replica can, beside the same reads on an idle replica. */
export async function benchPayloads(): Promise<readonly BenchLine[]> {
  const running = await BenchBroker.start();
  try {
    const jwe = await sealJwe(PLAINTEXT, await importPaymentKey(running.publicJwk));
    const idle: Round[] = [];
    const loaded: Round[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const alone = await readsAlone(running);
      const beside = await readsBesideDecrypts(running, jwe);
      if (round === 0) continue;
      idle.push(alone);
      loaded.push(beside);
    }
    const value = median(loaded.map(({ p99Ms }) => p99Ms));
    const ratio = value / median(idle.map(({ p99Ms }) => p99Ms));
    const perSecond = Math.round(median(loaded.map(({ decryptsPerSecond }) => decryptsPerSecond)));
    const baseline = `the same reads without the ${perSecond} decrypts per second`;
    return [{ name: 'session read while decrypting, p99', value, unit: 'ms', ratio, baseline, atMost: 2 }];
  } finally {
    await running.stop();
  }
}

async function readsAlone({ sessionUrl }: BenchBroker): Promise<Round> {
  const probe = new LatencyProbe(sessionUrl, BenchBroker.headers);
  await new Promise((resolve) => setTimeout(resolve, ROUND_S * 1_000));
  return { p99Ms: await probe.stop(), decryptsPerSecond: 0 };
}

async function readsBesideDecrypts(running: BenchBroker, jwe: string): Promise<Round> {
  const probe = new LatencyProbe(running.sessionUrl, BenchBroker.headers);
  // The load has a thread of its own: the probe must not wait for it.
  const result = await autocannon({
    url: `${running.url}/v1/merchants/shop/payloads/decrypt`,
    method: 'POST',
    headers: { ...BenchBroker.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ jwe }),
    connections: DECRYPTERS,
    duration: ROUND_S,
    workers: 1,
  });
  const p99Ms = await probe.stop();
  if (result['2xx'] === 0 || result.non2xx + result.errors > 0) {
    throw new Error(`decrypt: ${result.non2xx + result.errors} failed of ${result.requests.total}`);
  }
  return { p99Ms, decryptsPerSecond: result.requests.average };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
