import { setTimeout as pause } from 'node:timers/promises';
import { plusMs, SystemClock } from '#libs/clock';
import { generateClientKey, importClientKey } from '#libs/jwe';
import { type IssuedSession, type SessionGateway, SessionReplica } from '#libs/session';
import { redisConnection, RedisSessionStore } from '#libs/store';
import { anIssuedSession, eventually, RecordedEvents, someSettings } from '#libs/testing';

/**
 * One replica with very many merchants whose sessions last for hours, as a separate process: prints its memory and its
 * idle processor time as a line of JSON. Arguments: Redis URL, number of merchants, client key as JSON.
 */
const LIFETIME_MS = 6 * 3_600_000;
const IDLE_MS = 5_000;
/** The median of them counts: an occasional garbage collection is not the merchants' work. */
const IDLE_WINDOWS = 3;
const TICK_MS = 1_000;

const [url = '', count = '0', privateJwk = ''] = process.argv.slice(2);
const clock = new SystemClock();
const key = await importClientKey(privateJwk === '' ? (await generateClientKey()).privateJwk : JSON.parse(privateJwk));
const ids = Array.from({ length: Number(count) }, (_, index) => `merchant-${index}`);
const settings = someSettings({ gatewayTimeoutMs: 30_000 });

const gateway: SessionGateway = {
  createSession: (): Promise<IssuedSession> => {
    const now = clock.now();
    return Promise.resolve(anIssuedSession({ sentAt: now, receivedAt: now, expiresAt: plusMs(now, LIFETIME_MS) }));
  },
};
const events = new RecordedEvents();
const emptyHeap = heapBytes();
const store = await RedisSessionStore.open({
  connection: redisConnection({ place: { kind: 'url', url } }),
  keyPrefix: 'scale',
  keysOf: () => [key],
  clock,
  onStateChange: () => undefined,
});
const merchants = { ids: () => ids, settingsOf: () => settings, gatewayIdOf: () => 'played' };
const owner = `scale-${process.pid}`;
const replica = new SessionReplica({ owner, merchants, store, gateway, events, clock, random: Math.random });
const ticking = setInterval(() => void replica.tick(), TICK_MS);
await replica.tick();
await eventually(() => ids.every((id) => replica.held.get(id) !== undefined), 600_000);
await pause(2_000);
events.all.length = 0;
const usedHeap = heapBytes();
const shares: number[] = [];
for (let window = 0; window < IDLE_WINDOWS; window += 1) shares.push(await shareOf(IDLE_MS));
const idleShare = shares.toSorted((a, b) => a - b)[IDLE_WINDOWS >> 1];
console.log(JSON.stringify({ heapBytes: usedHeap - emptyHeap, idleShare }));
clearInterval(ticking);
await replica.stop(0);
await store.close();
process.exit(0);

async function shareOf(durationMs: number): Promise<number> {
  const before = process.cpuUsage();
  await pause(durationMs);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / durationMs;
}

function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
