import { setTimeout as pause } from 'node:timers/promises';
import { importPaymentKey, sealJwe } from '#libs/jwe';
import { BenchBroker } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';
import { loadOf, p99While } from './requests.js';
import { inTurns } from './rounds.js';

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
  await using running = await BenchBroker.start();
  await using other = await BenchBroker.start();
  const { idle, own, foreign } = await inTurns(ROUNDS, {
    idle: async () => {
      const p99Ms = await p99While(running.sessionUrl, BenchBroker.headers, pause(ROUND_S * 1_000));
      return { p99Ms, decryptsPerSecond: 0 };
    },
    own: () => readsBesideDecrypts(running, running),
    foreign: () => readsBesideDecrypts(running, other),
  });
  const p99 = (rounds: readonly Round[]): readonly number[] => rounds.map(({ p99Ms }) => p99Ms);
  const line = { unit: 'ms', values: p99(own), most: 2 };
  return [
    { unit: '1/s', name: 'decrypts meanwhile', values: own.map(({ decryptsPerSecond }) => decryptsPerSecond) },
    { ...line, name: 'read p99, to idle', beside: { what: 'the same on an idle machine', values: p99(idle) } },
    { ...line, name: 'read p99, to another replica decrypting', beside: { what: 'the same', values: p99(foreign) } },
  ];
}

async function readsBesideDecrypts(running: BenchBroker, decrypting: BenchBroker): Promise<Round> {
  const jwe = await sealJwe(PLAINTEXT, await importPaymentKey(decrypting.parts.publicJwk));
  // The load generator has its own thread: the probe must not wait for it.
  const load = loadOf({
    url: `${decrypting.url}/v1/merchants/shop/payloads/decrypt`,
    method: 'POST',
    headers: { ...BenchBroker.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ jwe }),
    connections: DECRYPTERS,
    duration: ROUND_S,
    workers: 1,
  });
  const p99Ms = await p99While(running.sessionUrl, BenchBroker.headers, load);
  return { p99Ms, decryptsPerSecond: (await load).requests.average };
}
