import { SystemClock } from '#libs/clock';
import { generateClientKey, importClientKey } from '#libs/jwe';
import { RedisSessionStore } from '#libs/store';
import { describeWith, endedAfterAll, PATIENT_REDIS, RedisProcess } from '#libs/testing';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { type Durations, SequenceRun, sessionStoreSteps } from './store-sequences.js';

/** Nothing this long ends during a run, so a run has a single moment, and only order counts. */
const LONG_MS = 600_000;

const durations: Durations = {
  leaseMs: [LONG_MS],
  nextDueInMs: [0, LONG_MS],
  coolDownMs: [0, 0, LONG_MS],
  windowsMs: [LONG_MS, 2 * LONG_MS],
  passMs: [],
};

let redis: RedisProcess;
let plain: Redis;
let store: RedisSessionStore;

const started = endedAfterAll();
beforeAll(async () => {
  redis = started.add(await RedisProcess.start(), (it) => it.stop());
  plain = started.add(new Redis(redis.port, '127.0.0.1'), (it) => it.disconnect());
  const key = await importClientKey((await generateClientKey()).privateJwk);
  store = started.add(
    await RedisSessionStore.open({
      connection: { kind: 'single', address: redis.address, database: 0 },
      keyPrefix: 'model',
      keysOf: () => [key],
      clock: new SystemClock(),
      onStateChange: () => undefined,
      timeouts: PATIENT_REDIS,
    }),
    (it) => it.close(),
  );
});

describeWith('redis-server', 'RedisSessionStore held to the specification', () => {
  it('agrees with it after any sequence of operations', async () => {
    await fc.assert(
      fc.asyncProperty(sessionStoreSteps(durations), async (steps) => {
        await plain.flushdb();
        const noClock = { nowMs: () => 0, wallMs: () => undefined, pass: () => undefined, jumpWall: () => undefined };
        const run = new SequenceRun({ store, ...noClock, unitMs: LONG_MS });
        for (const { act } of steps) {
          await act(run);
          await run.check();
        }
      }),
      { numRuns: 150 },
    );
  });
});
