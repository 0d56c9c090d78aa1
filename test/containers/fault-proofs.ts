import { eventually } from '#libs/testing';
import { docker } from './engine.js';
import { REPLICAS, type Demo } from './demo.js';
import { finding, type Finding, type Proof } from './proof.js';
import { readWhile, type Reads } from './reader.js';

/** How long a fault lasts: time for some hundred reads. */
const LASTS_MS = 10_000;
const HEALS_WITHIN_MS = 60_000;
/** A connection is given up after a second; a read that takes more than two waited for something else. */
const MAX_READ_MS = 2_500;
const MIN_READS = 60;
const MAX_STOP_MS = 15_000;

const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** All reads got their session, and none of them waited long. */
function allServed(reads: Reads, also = ''): Finding {
  return finding(`${String(reads)}${also}`, {
    'reads without a session': reads.unanswered > 0,
    'a read that waited long': reads.slowestMs > MAX_READ_MS,
    'too few reads to tell': reads.count < MIN_READS,
  });
}

async function restart(demo: Demo, service: string): Promise<void> {
  await docker(demo.engine, 'start', demo.nameOf(service));
  await demo.healthy(service);
}

async function storeAnswers(demo: Demo): Promise<void> {
  const answers = async (): Promise<boolean> => {
    const all = await Promise.all(REPLICAS.map((replica) => demo.readiness(replica)));
    return all.every(({ store }) => store === 'answers');
  };
  await eventually(answers, HEALS_WITHIN_MS);
}

async function readsInPeace(demo: Demo): Promise<Finding> {
  return allServed(await readWhile(demo.engine, 'shop', () => pass(LASTS_MS)));
}

async function readsWithoutReplica(demo: Demo): Promise<Finding> {
  const reads = await readWhile(demo.engine, 'shop', async () => {
    await pass(1_000);
    await docker(demo.engine, 'kill', demo.nameOf('broker-2'));
    await pass(LASTS_MS);
  });
  await restart(demo, 'broker-2');
  return allServed(reads);
}

async function readsWithoutRedis(demo: Demo): Promise<Finding> {
  let storeDuring = '';
  const reads = await readWhile(demo.engine, 'shop', async () => {
    await pass(1_000);
    await docker(demo.engine, 'kill', demo.nameOf('redis'));
    await pass(LASTS_MS);
    const { store = '', storeReason = '' } = await demo.readiness('broker-1');
    storeDuring = `${store} (${storeReason})`;
    await restart(demo, 'redis');
    await storeAnswers(demo);
  });
  return allServed(reads, `; the store was ${storeDuring}, and answers every replica again`);
}

async function readsOfNone(demo: Demo): Promise<Finding> {
  const reads = await readWhile(demo.engine, 'broken', () => pass(LASTS_MS));
  return finding(String(reads), {
    'an answer that is no 503 with its code and Retry-After': !reads.saysWhyEachTime,
    'no read at all': reads.count === 0,
  });
}

async function readsOfOthers(demo: Demo): Promise<Finding> {
  let others: Reads | undefined;
  await readWhile(demo.engine, 'broken', async () => {
    others = await readWhile(demo.engine, 'shop', () => pass(LASTS_MS));
  });
  if (others === undefined) throw new Error('nothing was read');
  return allServed(others);
}

async function readsWhileStopped(demo: Demo): Promise<Finding> {
  let tookMs = 0;
  const reads = await readWhile(demo.engine, 'shop', async () => {
    const startedMs = performance.now();
    await docker(demo.engine, 'stop', '--time', '20', demo.nameOf('broker-3'));
    tookMs = performance.now() - startedMs;
    await pass(LASTS_MS);
  });
  const { ExitCode } = (await demo.inspect('broker-3')).State;
  await restart(demo, 'broker-3');
  const { seen, wrong } = allServed(reads, `; stopped in ${(tookMs / 1_000).toFixed(1)} s with code ${ExitCode}`);
  const late = finding('', { 'it did not end by itself': ExitCode !== 0 || tookMs > MAX_STOP_MS });
  return { seen, wrong: [...wrong, ...late.wrong] };
}

/** Reads through the balancer while something is wrong. */
export const faultProofs: readonly Proof[] = [
  { what: 'reads through the balancer while all is well', look: readsInPeace },
  { what: 'reads while one replica of three is killed', look: readsWithoutReplica },
  { what: 'reads while Redis is killed, and comes back empty', look: readsWithoutRedis },
  { what: 'reads of a merchant that has no session', look: readsOfNone },
  { what: 'reads of another merchant at the same time', look: readsOfOthers },
  { what: '`docker stop` of a replica, and reads meanwhile', look: readsWhileStopped },
];
