import { json } from 'node:stream/consumers';
import { SystemClock } from '#libs/clock';
import { GatewayConnections, type MerchantGateway, UndiciSessionGateway } from '#libs/gateway';
import { generateClientKey, importClientKey, importServerKey, sealJwe } from '#libs/jwe';
import { SessionReplica } from '#libs/session';
import { MemorySessionStore } from '#libs/store';
import { eventually, LoopbackServer, someSettings } from '#libs/testing';

/** Merchants with one client key, each with its own serviceCode; the last is at another gateway. */
const serviceCodes: Readonly<Record<string, string>> = Object.fromEntries(
  ['card', 'hosted', 'refunds', 'elsewhere'].map((merchant, index) => [
    merchant,
    `137d9304-0368-11ed-b939-0242ac12000${index}`,
  ]),
);
const merchants = Object.keys(serviceCodes);
const LIFETIME_MS = 4_000;

describe('merchants that share one client key', () => {
  const clock = new SystemClock();
  const connections = new GatewayConnections(clock);
  const servers: LoopbackServer[] = [];
  const replicas: SessionReplica[] = [];
  /** The serviceCodes that the gateways were called with, and the serviceCode of each token. */
  const asked: string[] = [];
  const ownerOf = new Map<string, string>();
  let tickers: NodeJS.Timeout[] = [];

  afterAll(async () => {
    for (const ticker of tickers) clearInterval(ticker);
    await Promise.all(replicas.map((replica) => replica.stop(0)));
    await connections.close();
    await Promise.all(servers.map((server) => server.close()));
  });

  it('are each served their own sessions on every replica, however their calls cross', async () => {
    const key = await generateClientKey();
    const recipient = await importServerKey(key.publicJwk);
    const { kty, crv, x, y } = key.publicJwk;
    let issued = 0;
    const answer = async (serviceCode: string): Promise<string> => {
      issued += 1;
      const authToken = `00000000-0000-4000-8000-${String(issued).padStart(12, '0')}`;
      ownerOf.set(authToken, serviceCode);
      const deviceId = serviceCode.replace('137d9304', 'deadbeef');
      const content = { authToken, deviceId, serverPublic: { kty, crv, x, y }, ...expiry(LIFETIME_MS) };
      return JSON.stringify({ jwe: await sealJwe(new TextEncoder().encode(JSON.stringify(content)), recipient) });
    };
    const gateways = await Promise.all([0, 1].map(() => crossingGateway(answer, asked)));
    servers.push(...gateways);
    const clientKeys = [await importClientKey(key.privateJwk)];
    const configured = (merchant: string): MerchantGateway => ({
      merchant,
      serviceCode: serviceCodes[merchant] ?? '',
      clientKeys,
      baseUrl: new URL(`http://127.0.0.1:${gateways[merchant === 'elsewhere' ? 1 : 0]?.port}`),
      environment: 'test',
      timeoutMs: 2_000,
      requestData: { attach: 'none' },
      tls: { pins: [] },
    });
    const store = new MemorySessionStore({ clock });
    for (const owner of ['replica-1', 'replica-2']) {
      const gateway = new UndiciSessionGateway({ merchants: configured, connections, clock });
      const settings = someSettings({ gatewayTimeoutMs: 500 });
      const replica = new SessionReplica({
        ...{ owner, store, gateway, clock, random: Math.random, events: { emit: () => undefined } },
        merchants: { ids: () => merchants, settingsOf: () => settings, gatewayIdOf: () => 'gateway' },
      });
      replicas.push(replica);
      tickers = [...tickers, setInterval(() => void replica.tick(), 100)];
    }
    await eventually(() => asked.length >= 3 * merchants.length);
    for (const replica of replicas) {
      for (const merchant of merchants) {
        // On a busy machine one of these short sessions may just have ended, with the next one on its way.
        await eventually(() => replica.reader.peek(merchant) !== undefined);
        const session = replica.reader.peek(merchant)?.session;
        expect(session?.merchant).toBe(merchant);
        expect(ownerOf.get(session?.authToken ?? '')).toBe(serviceCodes[merchant]);
        expect(session?.deviceId).toBe(serviceCodes[merchant]?.replace('137d9304', 'deadbeef'));
      }
    }
    expect(new Set(asked)).toEqual(new Set(Object.values(serviceCodes)));
  });
});

function expiry(lifetimeMs: number): { tokenExpirationDateTime: string } {
  const at = new Date(Date.now() + lifetimeMs).toISOString();
  return { tokenExpirationDateTime: `${at.slice(0, 10)} ${at.slice(11, 23)} +0000` };
}

/** Holds requests until two have come or a moment has passed, and answers the later one first. */
function crossingGateway(answer: (serviceCode: string) => Promise<string>, asked: string[]): Promise<LoopbackServer> {
  const waiting: (() => void)[] = [];
  const release = (): void =>
    waiting
      .splice(0)
      .reverse()
      .forEach((go) => go());
  return LoopbackServer.http((request, response) => {
    void json(request).then(async (body) => {
      const { serviceCode } = body as { serviceCode: string };
      asked.push(serviceCode);
      const text = await answer(serviceCode);
      waiting.push(() => response.setHeader('content-type', 'application/json').end(text));
      if (waiting.length > 1) release();
      else setTimeout(release, 50);
    });
  });
}
