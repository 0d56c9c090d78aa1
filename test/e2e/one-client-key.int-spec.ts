import { GatewayConnections, type MerchantGateway, UndiciSessionGateway } from '#libs/gateway';
import { generateClientKey, importClientKey, importServerKey, sealJwe } from '#libs/jwe';
import { SessionReplica } from '#libs/session';
import { eventually, LoopbackServer, PATIENT_CALL_MS, SkippingClock, someSettings } from '#libs/testing';
import { json } from 'node:stream/consumers';
import { MemorySessionStore } from '#libs/store';

const LIFETIME_MS = 7_200_000;

/** Merchants with one client key, each with its own serviceCode; the last is at another gateway. */
const serviceCodes: Readonly<Record<string, string>> = Object.fromEntries(
  ['card', 'hosted', 'refunds', 'elsewhere'].map((merchant, index) => [
    merchant,
    `137d9304-0368-11ed-b939-0242ac12000${index}`,
  ]),
);
const merchants = Object.keys(serviceCodes);

describe('merchants that share one client key', () => {
  const clock = new SkippingClock();
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
      const content = { authToken, deviceId, serverPublic: { kty, crv, x, y }, ...expiry(clock.now() + LIFETIME_MS) };
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
      timeoutMs: PATIENT_CALL_MS,
      requestData: { attach: 'none' },
      tls: { pins: [] },
    });
    const store = new MemorySessionStore({ clock });
    for (const owner of ['replica-1', 'replica-2']) {
      const gateway = new UndiciSessionGateway({ merchants: configured, connections, clock });
      const settings = someSettings({ gatewayTimeoutMs: PATIENT_CALL_MS });
      const replica = new SessionReplica({
        ...{ owner, store, gateway, clock, random: Math.random, events: { emit: () => undefined } },
        merchants: { ids: () => merchants, settingsOf: () => settings, gatewayIdOf: () => 'gateway' },
      });
      replicas.push(replica);
      tickers = [...tickers, setInterval(() => void replica.tick(), 100)];
    }
    const holdsAll = ({ wishes }: SessionReplica): boolean =>
      merchants.every((merchant) => wishes.peek(merchant) !== undefined);
    for (const round of [1, 2, 3]) {
      await eventually(() => asked.length >= round * merchants.length);
      await eventually(() => replicas.every(holdsAll));
      if (round < 3) clock.skip(LIFETIME_MS);
    }
    for (const replica of replicas) {
      for (const merchant of merchants) {
        const session = replica.wishes.peek(merchant)?.session;
        expect(session?.merchant).toBe(merchant);
        expect(ownerOf.get(session?.authToken ?? '')).toBe(serviceCodes[merchant]);
        expect(session?.deviceId).toBe(serviceCodes[merchant]?.replace('137d9304', 'deadbeef'));
      }
    }
    expect(new Set(asked)).toEqual(new Set(Object.values(serviceCodes)));
  });
});

function expiry(atMs: number): { tokenExpirationDateTime: string } {
  const at = new Date(atMs).toISOString();
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
