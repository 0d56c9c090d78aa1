import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import type { EgressClient, EgressConfiguration } from '#libs/configuration';
import { importPaymentKey } from '#libs/jwe';
import { createLogger } from '#libs/telemetry';
import { eventually, TestAuthority, type TestCertificate } from '#libs/testing';
import { startEgress } from '../../apps/egress/src/egress.js';
import { generateKeyPair, type KeyPair } from '../../apps/sandbox/src/crypto/ec-key.js';
import { openCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import { RunningBroker } from '../e2e/running-broker.js';
import { anAliasKey, ROUTES } from './running-egress.js';

const EGRESS = 'spiffe://shop.example/egress';
const TILL = 'spiffe://shop.example/till';
const KIOSK = 'spiffe://shop.example/kiosk';
const ALIAS = '9d7a2c51-6f0e-4f2b-9b7e-3c1d5a8e4f60';
const OPERATIONS = '/ecom/execute_request/hpp/v1/operations';
const CREATE = '/api-gateway/authorize_virtual_device';

const ORDER = { hppOrderId: 'order-of-nobody' };

interface Sending {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

interface Answer {
  readonly status: number | undefined;
  readonly body: Record<string, unknown>;
}

/**
 * Certificates instead of tokens, on both sides of an egress: its clients present them to it, and it to a real broker.
 */
describe('an egress among certificates', () => {
  const authority = new TestAuthority();
  const server = authority.issue({ names: ['127.0.0.1'] });
  const own = authority.issue({ names: [EGRESS] });
  const till = authority.issue({ names: [TILL] });
  const kiosk = authority.issue({ names: [KIOSK] });
  const tillKey: KeyPair = generateKeyPair();
  let broker: RunningBroker;
  let folder: string;
  let egress: Awaited<ReturnType<typeof startEgress>>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'session-egress-'));
    broker = await RunningBroker.start({
      http: 'tls: { certFile: tls.crt, keyFile: tls.key, clientCaFile: ca.pem }',
      auth: ['mtls: true'],
      callers: [EGRESS],
      files: { 'tls.crt': server.cert, 'tls.key': server.key, 'ca.pem': authority.cert },
    });
    egress = await startEgress({
      configuration: await configuration(),
      clock: new SystemClock(),
      logger: createLogger({ name: 'egress', level: 'error' }),
    });
    await eventually(async () => (await fetch(`${egress.managementUrl}/readyz`)).ok);
  });
  afterAll(async () => {
    await egress.close();
    await broker.close();
    await rm(folder, { recursive: true });
  });

  async function configuration(): Promise<EgressConfiguration> {
    const publicKey = await importPaymentKey(tillKey.jwk);
    const clients: EgressClient[] = [
      { name: 'till', merchant: 'shop', tokenDigests: [], certificate: TILL, alias: { serviceCode: ALIAS, publicKey } },
      { name: 'kiosk', merchant: 'shop', tokenDigests: [], certificate: KIOSK },
    ];
    return {
      listen: {
        host: '127.0.0.1',
        port: 0,
        connections: { max: 100, perAddress: 100 },
        tls: { cert: server.cert, key: server.key, clientCa: authority.cert },
      },
      management: { host: '127.0.0.1', port: 0, hosts: [] },
      broker: { url: new URL(broker.url), tls: { ca: authority.cert, cert: own.cert, key: own.key } },
      gateway: { baseUrl: new URL(broker.sandboxUrl), environment: 'test', timeoutMs: 5_000, tls: { pins: [] } },
      aliasKeys: [await anAliasKey()],
      clients,
      routes: ROUTES,
      audit: { destination: 'none' },
      reload: { watch: false, everyMs: 60_000, maxRemoved: 10 },
      log: { level: 'error' },
      files: [],
      warnings: [],
    };
  }

  const send = (
    client: TestCertificate | undefined,
    { path = OPERATIONS, headers = {}, body = ORDER }: Sending = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const identity = client === undefined ? {} : { cert: client.cert, key: client.key };
      const agent = new Agent({ ca: authority.cert, ...identity });
      const all = { 'content-type': 'application/json', ...headers };
      request(egress.url + path, { agent, method: 'POST', headers: all }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          agent.destroy();
          resolve({ status: response.statusCode, body: JSON.parse(text) as Record<string, unknown> });
        });
      })
        .on('error', reject)
        .end(JSON.stringify(body));
    });

  const aliasHeaders = async (): Promise<Record<string, string>> => {
    const { body } = await send(undefined, { path: CREATE, body: { serviceCode: ALIAS } });
    const session = JSON.parse(openCompact(String(body['jwe']), tillKey).toString()) as Record<string, string>;
    return { 'x-device_id': session['deviceId'] ?? '', 'x-refresh_token': session['refreshToken'] ?? '' };
  };

  /** The bank knows the session, but not the order. */
  const KNOWN_AT_THE_BANK = { body: { msgCode: 'b_hpp_order_not_found' } };

  it('gets its session by its own certificate, and lets a client in by that of the client', async () => {
    const calls = await broker.createCalls();
    expect(await send(till)).toMatchObject(KNOWN_AT_THE_BANK);
    expect(await broker.createCalls()).toBe(calls);
  });

  const nobody: Record<string, () => TestCertificate | undefined> = {
    'without a certificate': () => undefined,
    'with one of another authority': () => new TestAuthority().issue({ names: [TILL] }),
    'with an expired one': () => authority.issue({ names: [TILL], notAfter: new Date(Date.now() - 60_000) }),
    'with the certificate of nobody among its clients': () => authority.issue({ names: ['spiffe://shop.example/x'] }),
  };

  it.each(Object.entries(nobody))('lets nobody in %s', async (_what, make) => {
    expect(await send(make())).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
  });

  it('takes an alias session by itself and beside its own certificate, and from nobody with another one', async () => {
    const headers = await aliasHeaders();
    expect(await send(undefined, { headers })).toMatchObject(KNOWN_AT_THE_BANK);
    expect(await send(till, { headers })).toMatchObject(KNOWN_AT_THE_BANK);
    expect(await send(kiosk, { headers })).toMatchObject({ status: 401, body: { msgCode: 'b_session_doesnt_exist' } });
  });
});
