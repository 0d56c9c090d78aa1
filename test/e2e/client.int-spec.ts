import { type ClientEvent, Forbidden, SessionBroker, Unauthenticated } from '#libs/client';
import { eventually } from '#libs/testing';
import { payInLoop } from '../bench/payment-loop.js';
import { type BrokerSetUp, RunningBroker, TOKENS } from './running-broker.js';

describe('the client with a real broker', () => {
  let broker: RunningBroker | undefined;
  const clients: SessionBroker[] = [];

  const start = async (setUp: BrokerSetUp = {}): Promise<RunningBroker> => {
    broker = await RunningBroker.start(setUp);
    return broker;
  };
  const clientOf = (
    { url }: RunningBroker,
    { auth = TOKENS.payments, ...options }: { auth?: string; onEvent?: (event: ClientEvent) => void } = {},
  ): SessionBroker => {
    const client = new SessionBroker({ url, merchant: 'shop', auth, ...options });
    clients.push(client);
    return client;
  };

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await broker?.close();
    broker = undefined;
  });

  it('pays through renewals that each end the session before, without a failure or a needless call', async () => {
    const running = await start({ merchant: { lifetimeMs: 10_000, supersedes: true }, timeout: '3s' });
    const report = await payInLoop({
      brokerUrl: running.url,
      sandboxUrl: running.sandboxUrl,
      token: TOKENS.payments,
      operations: 300,
      everyMs: 50,
    });
    expect(report.failed).toEqual([]);
    expect(report.generations).toBeGreaterThanOrEqual(2);
    const shop = (await running.control('GET', '/calls?operation=authorize&merchant=shop')) as { matching: number };
    expect(shop.matching).toBeLessThanOrEqual(report.generations + 1);
  });

  it('has a new session by push, before anybody asks', async () => {
    const running = await start();
    const sources: string[] = [];
    const onEvent = (event: ClientEvent): void => void (event.type === 'session' && sources.push(event.source));
    const watching = clientOf(running, { onEvent });
    const { generation } = await watching.session();
    await running.post('/v1/merchants/shop/session/rejections', { generation });
    await eventually(async () => (await watching.session()).generation > generation);
    expect(sources).toEqual(['read', 'events']);
  });

  it('opens in the broker what was sealed in this process, with any of the merchant keys', async () => {
    const running = await start();
    const client = clientOf(running);
    const jwe = await client.encryptFor(running.olderPublicJwk, 'a payment');
    expect(await client.decryptText(jwe)).toBe('a payment');
  });

  it('tells a wrong token from a missing permission', async () => {
    const running = await start();
    await expect(clientOf(running, { auth: 'wrong' }).session()).rejects.toBeInstanceOf(Unauthenticated);
    await expect(clientOf(running, { auth: TOKENS.reporting }).session()).rejects.toBeInstanceOf(Forbidden);
  });
});
