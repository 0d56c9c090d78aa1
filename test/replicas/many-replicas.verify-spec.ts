import { describeWith, endedAfterEach, eventually, RedisProcess } from '#libs/testing';
import { faultsOf, spreadsOf } from './history-checker.js';
import { ReplicaGroup } from './replica-group.js';

const single = (redis: RedisProcess) => () => ({ kind: 'single', address: redis.address, database: 0 }) as const;

describeWith('redis-server', 'many replicas on one Redis', () => {
  let redis: RedisProcess;

  const started = endedAfterEach();
  beforeEach(async () => {
    redis = started.add(await RedisProcess.start(), (it) => it.stop());
  });

  it('make one create call per merchant when fifty start at once on an empty store', async () => {
    const merchants = ['shop', 'kiosk', 'depot'];
    // Fifty replicas that start in one process keep it busy: a call that is given up would be made again.
    const settings = { gatewayTimeoutMs: 60_000 };
    const group = await ReplicaGroup.start({ replicas: 50, merchants, settings, redis: single(redis) });
    try {
      await eventually(() => merchants.every((merchant) => group.agrees(merchant)));
      const calls = await group.createCalls();
      expect(calls.map(({ merchant }) => merchant).sort()).toEqual([...merchants].sort());
      expect(new Set(calls.map(({ inFlight }) => inFlight))).toEqual(new Set([1]));
    } finally {
      await group.close();
    }
  });

  it('make one call per renewal over fifty renewals of two-second sessions, and never serve a wrong one', async () => {
    // Half of the lifetime: a call that a busy machine is slow to answer still counts as one.
    const settings = { gatewayTimeoutMs: 1_000, budget: [{ calls: 1_000, perMs: 600_000 }] };
    const group = await ReplicaGroup.start({ replicas: 10, lifetimeMs: 2_000, settings, redis: single(redis) });
    try {
      await eventually(() => group.agrees());
      group.startReading();
      await eventually(async () => (await group.createCalls()).length >= 51);
      // Calls are logged as they arrive: this waits for the last one, and an unnecessary one would never be made up
      // for.
      await eventually(async () => (await group.createCalls()).length === group.adoptedGenerations().size);
      await eventually(() => group.agrees());
      const history = await group.observations();
      expect(faultsOf(history, { staleForMs: 1_000, mayOverlap: false })).toEqual([]);
      const spreads = spreadsOf(history, 10);
      const at = (share: number): string => (spreads[Math.floor(spreads.length * share)] ?? Number.NaN).toFixed(1);
      console.log(`${spreads.length} renewals reached all 10 replicas: median ${at(0.5)} ms, p99 ${at(0.99)} ms`);
      expect(spreads.length).toBeGreaterThanOrEqual(50);
    } finally {
      await group.close();
    }
  });
});
