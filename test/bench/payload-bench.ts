import { importPaymentKey, sealJwe } from '#libs/jwe';
import { BenchBroker } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';
import { LatencyProbe } from './latency-probe.js';
import { loadOf } from './load-generator.js';

const ROUNDS = 5;
const ROUND_S = 3;
const DECRYPTERS = 16;
const PLAINTEXT = Buffer.alloc(1_024, 'x');

interface Round {
  readonly p99Ms: number;
  readonly decryptsPerSecond: number;
}

/**
 * How long reads take while a replica opens payloads as fast as it can, compared with the same reads on an idle
 * machine, and with the same reads while another replica on this machine opens as many: what remains then is how reads
 * and payloads affect each other within one process, not how they share few processors.
 */
export async function benchPayloads(): Promise<readonly BenchLine[]> {
  const [running, other] = [await BenchBroker.start(), await BenchBroker.start()];
  try {
    const rounds: Record<'idle' | 'own' | 'foreign', Round[]> = { idle: [], own: [], foreign: [] };
    for (let round = 0; round <= ROUNDS; round += 1) {
      const idle = await readsAlone(running);
      const own = await readsBesideDecrypts(running, running);
      const foreign = await readsBesideDecrypts(running, other);
      if (round === 0) continue;
      rounds.idle.push(idle);
      rounds.own.push(own);
      rounds.foreign.push(foreign);
    }
    return linesOf(rounds);
  } finally {
    await other.stop();
    await running.stop();
  }
}

function linesOf({ idle, own, foreign }: Record<'idle' | 'own' | 'foreign', readonly Round[]>): readonly BenchLine[] {
  const p99 = (rounds: readonly Round[]): readonly number[] => rounds.map(({ p99Ms }) => p99Ms);
  const line = { unit: 'ms', values: p99(own), most: 2 };
  return [
    { unit: '1/s', name: 'decrypts meanwhile', values: own.map(({ decryptsPerSecond }) => decryptsPerSecond) },
    { ...line, name: 'read p99, to idle', beside: { what: 'the same on an idle machine', values: p99(idle) } },
    { ...line, name: 'read p99, to another replica decrypting', beside: { what: 'the same', values: p99(foreign) } },
  ];
}

async function readsAlone({ sessionUrl }: BenchBroker): Promise<Round> {
  const probe = new LatencyProbe(sessionUrl, BenchBroker.headers);
  await new Promise((resolve) => setTimeout(resolve, ROUND_S * 1_000));
  return { p99Ms: await probe.stop(), decryptsPerSecond: 0 };
}

async function readsBesideDecrypts(running: BenchBroker, decrypting: BenchBroker): Promise<Round> {
  const jwe = await sealJwe(PLAINTEXT, await importPaymentKey(decrypting.publicJwk));
  const probe = new LatencyProbe(running.sessionUrl, BenchBroker.headers);
  // The load generator has its own thread: the probe must not wait for it.
  const result = await loadOf({
    url: `${decrypting.url}/v1/merchants/shop/payloads/decrypt`,
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
