import { once } from 'node:events';
import { connect } from 'node:tls';
import { ConfigurationError, type HttpTls } from '#libs/configuration';
import { endedAfterEach, eventually, TestAuthority } from '#libs/testing';
import { PlainCaller } from './callers.js';
import { answer, type HostileGateway, type Part, PAID } from './hostile-gateway.js';
import { PlayedBroker } from './played-broker.js';
import { PlayedStage } from './played-stage.js';
import { aClient, type ClientWish, configured, type RunningEgress } from './running-egress.js';

const shop = aClient();
const desk = aClient('desk');
const ORDER = { merchantRequestId: 'order-1' };

describe('a changed configuration', () => {
  let stage: PlayedStage;
  let broker: PlayedBroker;
  let gateway: HostileGateway;
  let egress: RunningEgress;

  beforeEach(async () => {
    stage = await PlayedStage.start({ clients: [shop] });
    ({ broker, gateway, egress } = stage);
  });
  afterEach(() => stage.close());

  const of = ({ token }: ClientWish): PlainCaller => new PlainCaller(egress.url, token);
  const withClients = async (...clients: readonly ClientWish[]): Promise<void> => {
    const next = await Promise.all(clients.map(configured));
    await egress.reconfigure((before) => ({ ...before, clients: next }));
  };
  const pay = async (client: ClientWish): Promise<string> => {
    const { status, code } = await of(client).pay('clear', ORDER);
    return code ?? String(status);
  };

  it('opens and closes routes', async () => {
    await egress.reconfigure((before) => ({ ...before, routes: before.routes.slice(1) }));
    await egress.reconfigure((before) => ({ ...before, routes: [{ ...before.routes[0]!, path: '/elsewhere/*' }] }));
    expect(await pay(shop)).toBe('route_not_found');
    const { status } = await of(shop).pay('sealed', ORDER, { path: '/elsewhere/payments' });
    expect([status, gateway.seen.length]).toEqual([502, 1]);
  });

  it('does not concern a payment that is under way', async () => {
    const parts: Part[] = [];
    await gateway.script({ run: (part) => void parts.push(part) });
    const underWay = of(shop).pay('clear', ORDER);
    await eventually(() => parts.length === 1);
    await withClients(desk);
    expect(await pay(shop)).toBe('unauthenticated');
    parts[0]?.socket.write(answer(200, parts[0].good));
    const { status, text } = await underWay;
    expect([status, JSON.parse(text)]).toEqual([200, PAID]);
  });

  it('with a fault changes nothing, and is told of', async () => {
    await egress.reconfigure(() => new ConfigurationError([{ path: 'egress.clients', problem: 'is missing' }]));
    expect(await pay(shop)).toBe('200');
    expect(egress.lines.join('')).toContain('the changed configuration is not taken');
  });

  it('lets in whom it names and nobody else, unless it lacks more clients than may be removed; that some are gone is warned of', async () => {
    await egress.reconfigure((before) => ({ ...before, reload: { ...before.reload, maxRemoved: 0 } }));
    await withClients(desk);
    expect([await pay(shop), await pay(desk)]).toEqual(['200', 'unauthenticated']);
    expect(egress.lines.join('')).toContain(
      'lacks 1 of those in force, more than reload.maxRemoved allows (0): shop; is the file complete?',
    );
    const clients = [await configured(shop)];
    await egress.reconfigure((before) => ({ ...before, clients, reload: { ...before.reload, maxRemoved: 1 } }));
    await withClients(desk);
    expect([await pay(shop), await pay(desk)]).toEqual(['unauthenticated', '200']);
    const warned = egress.lines.find((line) => line.includes('clients are gone from the configuration'));
    expect(JSON.parse(warned ?? '{}')).toMatchObject({ level: 'warn', removed: shop.name, count: 1 });
  });

  it('keeps the sessions, so that payments go on while the broker is away', async () => {
    expect(await pay(shop)).toBe('200');
    broker.serves = 'silent';
    await withClients(shop, desk);
    expect([await pay(shop), await pay(desk)]).toEqual(['200', '200']);
  });

  it('follows each merchant once, and none that it does not name any more', async () => {
    await eventually(() => broker.followed.length === 1);
    await withClients(shop, desk);
    await withClients(aClient('other', 'another-merchant'));
    await eventually(() => broker.followed.join() === 'another-merchant');
  });

  it('gets its sessions from the broker that it names', async () => {
    const another = await PlayedBroker.start();
    Object.defineProperty(another, 'token', { value: broker.token });
    const url = new URL(another.url);
    await egress.reconfigure((before) => ({ ...before, broker: { ...before.broker, url } }));
    await gateway.script();
    await of(shop).pay('clear', ORDER);
    const [device] = gateway.seen[0]?.valuesOf('x-device_id') ?? [];
    expect(another.sessions.map(({ deviceId }) => deviceId)).toContain(device);
    await eventually(() => broker.followed.length === 0);
    await egress.reconfigure((before) => ({ ...before, broker: { ...before.broker, url: new URL(broker.url) } }));
    await another.close();
  });

  it('is told by what of it came into force, and what did not, in one line', async () => {
    await egress.reconfigure((before) => ({
      ...before,
      gateway: { ...before.gateway, timeoutMs: before.gateway.timeoutMs + 1 },
      routes: before.routes.slice(1),
      clients: before.clients.map((client) => ({ ...client, tokenDigests: ['ab'.repeat(32)] })),
      management: { ...before.management, hosts: ['egress.example'] },
    }));
    const said = egress.lines
      .filter((line) => /in force|next start/.test(line))
      .map((line): unknown => JSON.parse(line));
    expect(said).toEqual([
      expect.objectContaining({
        level: 'warn',
        ...{ added: '', removed: '', changed: shop.name, settings: 'gateway.timeout, routes' },
        ofClients: `${shop.name} (token)`,
        ...{ awaitingRestart: 'management', runbook: 'config-reload-failed' },
        msg: 'the changed configuration is in force, but for settings that take effect with the next start',
      }),
    ]);
  });
});

describe('another certificate of the egress', () => {
  const authority = new TestAuthority();
  const issue = (commonName: string) => authority.issue({ names: ['127.0.0.1'], commonName });
  let egress: RunningEgress;
  const started = endedAfterEach();

  const start = async (listenTls: HttpTls): Promise<void> => {
    ({ egress } = started.add(await PlayedStage.start({ clients: [shop], listenTls }), (it) => it.close()));
  };

  const shown = async (): Promise<unknown> => {
    const { port } = new URL(egress.url);
    // Only looks at it: whether it can be verified is not the question here.
    const socket = connect({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return subject.CN;
  };
  const withTls = (tls: HttpTls): Promise<void> =>
    egress.reconfigure((before) => ({ ...before, listen: { ...before.listen, tls } }));

  it('is shown to new connections, without a restart', async () => {
    await start(issue('first'));
    expect(await shown()).toBe('first');
    await withTls(issue('second'));
    expect(await shown()).toBe('second');
    await withTls({ ...issue('third'), clientCa: authority.cert });
    expect(await shown()).toBe('second');
    expect(egress.lines.at(-1)).toContain('"awaitingRestart":"listen"');
  });
});
