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
import { GatewayWitness } from '../matrix/gateway-witness.js';
import { LocalFleet } from '../matrix/local-fleet.js';
import { matrixMerchant } from '../matrix/matrix-merchant.js';
import { wallMs } from '../matrix/wall-clock.js';
import type { BenchLine } from './bench-line.js';
import { BenchProcess, untilOk } from './bench-process.js';
import { paceIn, type Round, roundOf } from './throughput.js';

const MERCHANTS = 2_000;
/** As many as a replica has in flight. */
const IN_FLIGHT = 64;
const ROUNDS = 5;
const GATEWAY_CPU = 1;
/** Of those whose renewals are watched one by one. */
const REPLICAS = 3;
const RENEWALS = 30;
const SHORT_LIFETIME_MS = 1_500;

/**
 * One replica that renews many merchants at an instant gateway, compared with what its two JWE operations alone allow.
 */
export async function benchRenewals(): Promise<readonly BenchLine[]> {
  const { privateJwk, publicJwk } = await generateClientKey();
  const key = await importClientKey(privateJwk);
  const plaintext = sessionPlaintext();
  const jwe = await sealJwe(plaintext, await importServerKey(publicJwk));
  const [ours, bare]: [Round[], Round[]] = [[], []];
  // The first round warms both up and is not counted.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const renewed = await roundOfRenewals(key, jwe);
    const alone = await roundOfJweOperations(key, jwe, plaintext);
    if (round === 0) continue;
    ours.push(renewed);
    bare.push(alone);
  }
  const what = `its open and its seal at rest alone, ${IN_FLIGHT} in flight`;
  const [paces, alone] = [paceIn(ours), paceIn(bare)];
  const cpu = { values: paces.perCpuSecond, beside: { what, values: alone.perCpuSecond }, least: 0.7 };
  return [
    {
      name: 'renewals per second',
      unit: '1/s',
      values: paces.perSecond,
      beside: { what, values: alone.perSecond },
      least: 0.65,
    },
    { name: 'renewals per processor second', unit: '1/s', ...cpu },
  ];
}

/**
 * From the moment of being due until the session is readable on the last of three replicas, less the gateway's own
 * time, which is taken from its log: whole milliseconds for the moment and fractions for the duration.
 */
export async function benchOverhead(): Promise<readonly BenchLine[]> {
  const clock = new SystemClock();
  const redis = await RedisProcess.start();
  const connection = { kind: 'single', address: redis.address, database: 0 } as const;
  const merchants = [await matrixMerchant('shop', 0)];
  const gateway = await GatewayWitness.start({ merchants, more: {}, clock });
  await gateway.setLifetime(SHORT_LIFETIME_MS);
  const budget = [{ calls: 1_000, perMs: 600_000 }];
  const settings = { gatewayTimeoutMs: 400, budget, fallbackLifetimeMs: SHORT_LIFETIME_MS };
  const fleet = new LocalFleet({
    merchants,
    gatewayUrl: gateway.url,
    redis: () => Promise.resolve(connection),
    settings: () => settings,
  });
  const adoptions: { readonly generation: number; readonly renewAt: number; readonly atMs: number }[] = [];
  fleet.onAdopted = ({ generation, renewAt }) => adoptions.push({ generation, renewAt, atMs: wallMs() });
  try {
    await Promise.all(Array.from({ length: REPLICAS }, () => fleet.add()));
    await eventually(() => adoptions.length > REPLICAS * RENEWALS);
    const sessions = [...Map.groupBy(adoptions, ({ generation }) => generation).values()];
    const calls = (await gateway.createCalls()).filter(({ outcome }) => outcome === 'success');
    const renewed = sessions.flatMap((adopted, index) => {
      const [before] = sessions[index - 1] ?? [];
      if (before === undefined || adopted.length < REPLICAS) return [];
      const moments = adopted.map(({ atMs }) => atMs);
      const last = Math.max(...moments);
      const overhead = last - before.renewAt - (calls[index]?.durationMs ?? 0);
      return [{ overhead, spread: last - Math.min(...moments) }];
    });
    return [
      { name: 'renewal overhead', unit: 'ms', values: renewed.map(({ overhead }) => overhead), most: 15 },
      { name: 'of it, the spread over the replicas', unit: 'ms', values: renewed.map(({ spread }) => spread) },
    ];
  } finally {
    await fleet.close();
    await gateway.close();
    await redis.stop();
  }
}

async function roundOfRenewals(key: ClientKey, jwe: string): Promise<Round> {
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
  const program = join(import.meta.dirname, 'bare-server.js');
  const server = new BenchProcess([process.execPath, program, String(port), file], { cpu: GATEWAY_CPU });
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
    return await roundOf(MERCHANTS, async () => {
      await replica.tick();
      await eventually(() => ids.every((id) => replica.held.get(id) !== undefined), 60_000);
    });
  } finally {
    await replica.stop(0);
    await Promise.all([store.close(), connections.close(), server.stop()]);
    await redis.stop();
    await rm(folder, { recursive: true });
  }
}

function roundOfJweOperations(key: ClientKey, jwe: string, plaintext: Uint8Array): Promise<Round> {
  let left = MERCHANTS;
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      await openJwe(jwe, [key]);
      await sealAtRest(plaintext, key, { merchant: 'shop', generation: left });
    }
  };
  return roundOf(MERCHANTS, () => Promise.all(Array.from({ length: IN_FLIGHT }, lane)));
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
