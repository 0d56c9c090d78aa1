import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import { GatewayConnections, UndiciSessionGateway } from '#libs/gateway';
import {
  type ClientKey,
  generateClientKey,
  importClientKey,
  importServerKey,
  openJwe,
  sealAtRest,
  sealJwe,
} from '#libs/jwe';
import { SessionReplica } from '#libs/session';
import { RedisSessionStore } from '#libs/store';
import { aServerPublicKey, eventually, freePort, RecordedEvents, RedisProcess, someSettings } from '#libs/testing';
import type { BenchLine } from './bench-line.js';
import { BenchProcess, OTHER_CPU, untilOk } from './bench-process.js';
import { inTurns, type Pace, paceInLanes, paceLines, paceOf } from './rounds.js';

const MERCHANTS = 2_000;
/** As many as a replica has in flight. */
const IN_FLIGHT = 64;
const ROUNDS = 5;

/**
 * One replica that renews many merchants at an instant gateway, compared with what its two JWE operations alone allow.
 */
export async function benchRenewals(): Promise<readonly BenchLine[]> {
  const { privateJwk, publicJwk } = await generateClientKey();
  const key = await importClientKey(privateJwk);
  const plaintext = sessionPlaintext();
  const jwe = await sealJwe(plaintext, await importServerKey(publicJwk));
  const { ours, bare } = await inTurns(ROUNDS, {
    ours: () => paceOfRenewals(key, jwe),
    bare: () =>
      paceInLanes(MERCHANTS, IN_FLIGHT, async (left) => {
        await openJwe(jwe, [key]);
        await sealAtRest(plaintext, key, { merchant: 'shop', generation: left });
      }),
  });
  const what = `its open and its seal at rest alone, ${IN_FLIGHT} in flight`;
  return paceLines('renewals', { ours, bare, what, least: { perSecond: 0.65, perCpuSecond: 0.7 } });
}

async function paceOfRenewals(key: ClientKey, jwe: string): Promise<Pace> {
  const folder = await mkdtemp(join(tmpdir(), 'session-broker-bench-'));
  const redis = await RedisProcess.start();
  const clock = new SystemClock();
  const connections = new GatewayConnections(clock);
  const port = await freePort();
  const file = join(folder, 'answer.json');
  await writeFile(
    file,
    JSON.stringify({ headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jwe }) }),
  );
  const server = BenchProcess.of('bare-server', [String(port), file], { cpu: OTHER_CPU });
  await untilOk(`http://127.0.0.1:${port}/`);
  const ids = Array.from({ length: MERCHANTS }, (_, index) => `shop-${index}`);
  const store = await RedisSessionStore.open({
    connection: { kind: 'single', address: redis.address, database: 0 },
    keyPrefix: 'bench',
    keysOf: () => [key],
    clock,
    onStateChange: () => undefined,
  });
  const gateway = new UndiciSessionGateway({ merchants: (id) => merchantGateway(id, key, port), connections, clock });
  const settings = someSettings();
  const events = new RecordedEvents();
  const merchants = { ids: () => ids, settingsOf: () => settings, gatewayIdOf: () => 'played' };
  const replica = new SessionReplica({ owner: 'bench', merchants, store, gateway, events, clock, random: Math.random });
  try {
    return await paceOf(MERCHANTS, async () => {
      await replica.tick();
      await eventually(() => ids.every((id) => replica.held.get(id) !== undefined), 60_000);
    });
  } finally {
    await replica.stop(0);
    await Promise.all([store.close(), connections.close(), server[Symbol.asyncDispose]()]);
    await redis.stop();
    await rm(folder, { recursive: true });
  }
}

function merchantGateway(
  merchant: string,
  key: ClientKey,
  port: number,
): ReturnType<ConstructorParameters<typeof UndiciSessionGateway>[0]['merchants']> {
  return {
    merchant,
    serviceCode: '137d9304-0368-11ed-b939-0242ac120002',
    clientKeys: [key],
    baseUrl: new URL(`http://127.0.0.1:${port}`),
    environment: 'test',
    timeoutMs: 5_000,
    requestData: { attach: 'none' },
    tls: { pins: [] },
  };
}

function sessionPlaintext(): Uint8Array {
  const session = {
    authToken: '5f6a0c0e-7a5c-4c6c-9c0b-2d1f3e4a5b6c',
    refreshToken: '6f6a0c0e-7a5c-4c6c-9c0b-2d1f3e4a5b6c',
    deviceId: 'a3c1f1d2-0b4e-4f7a-8d9c-6e5f4a3b2c1d',
    serverPublic: aServerPublicKey(),
  };
  return Buffer.from(JSON.stringify(session));
}
