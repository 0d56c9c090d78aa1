import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { eventually, RedisProcess, TcpProxy } from '#libs/testing';
import { faultsOf } from '../replicas/history-checker.js';
import { ReplicaGroup } from '../replicas/replica-group.js';
import { soakFaults } from './faults.js';
import { footprintOf, growth } from './footprint.js';
import { seededRandom } from './seeded-random.js';

const REPLICAS = 4;
const LIFETIME_MS = 4_000;
const WARM_UP_MS = 10_000;
const HEALED_WITHIN_MS = 30_000;
const settings = {
  gatewayTimeoutMs: 500,
  onStoreOutage: 'fail',
  budget: [{ calls: 100_000, perMs: 600_000 }],
} as const;

/** Random faults from a seed, for some minutes; returns what was wrong, which should be nothing. */
async function soak(minutes: number, seed: number): Promise<readonly string[]> {
  const random = seededRandom(seed);
  const redis = await RedisProcess.start();
  const proxies = await Promise.all(Array.from({ length: REPLICAS }, () => TcpProxy.to(redis.port)));
  const redisOf = (replica: number) =>
    ({ kind: 'single', address: proxies[replica]?.address ?? redis.address, database: 0 }) as const;
  const group = await ReplicaGroup.start({ replicas: REPLICAS, lifetimeMs: LIFETIME_MS, settings, redis: redisOf });
  try {
    await eventually(() => group.agrees());
    await pause(WARM_UP_MS);
    const before = footprintOf(redis);
    group.startReading();
    const endsAt = performance.now() + minutes * 60_000;
    for (let count = 1; performance.now() < endsAt; count += 1) {
      const fault = soakFaults[Math.floor(random() * soakFaults.length)];
      if (fault === undefined) continue;
      console.log(`${String(count).padStart(4)}  ${fault.name}`);
      await fault.play({ group, redis, proxies, random });
      await pause(random() * 2_000);
    }
    await group.control('DELETE', '/faults');
    await eventually(() => group.agrees(), HEALED_WITHIN_MS);
    // One whole renewal without a fault, so that whatever was being replaced has been.
    await pause(LIFETIME_MS);
    await eventually(() => group.agrees(), HEALED_WITHIN_MS);
    // Replicas without their store, or with a failing gateway, may lag behind, and calls may overlap after a wipe.
    const wrong = faultsOf(await group.observations(), { staleForMs: 60_000, mayOverlap: true });
    console.log(`${group.history.length} observations, ${(await group.createCalls()).length} create calls`);
    group.history.length = 0;
    return [...new Set(wrong), ...growth(before, footprintOf(redis))];
  } finally {
    await group.close();
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await redis.stop();
  }
}

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const minutes = Number(values.minutes ?? 3);
console.log(`soak: ${minutes} min, seed ${seed}; again with: npm run soak -- --minutes ${minutes} --seed ${seed}`);
const wrong = await soak(minutes, seed);
for (const line of wrong) console.log(`WRONG: ${line}`);
console.log(wrong.length === 0 ? 'every invariant held, nothing grew' : `${wrong.length} things are wrong`);
process.exit(wrong.length === 0 ? 0 : 1);
