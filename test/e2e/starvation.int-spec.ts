import { eventually } from '#libs/testing';
import { RawConnection } from '../egress/raw-exchange.js';
import { RunningBroker } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';
const FLOOD_BYTES = 2_000_000;

describe('a broker before callers that send requests in advance and read no answer', () => {
  let broker: RunningBroker;
  const greedy: RawConnection[] = [];

  beforeAll(async () => {
    broker = await RunningBroker.start({ http: 'connections: { max: 40, perAddress: 30 }' });
    await eventually(async () => (await broker.get(SESSION)).status === 200);
  });
  afterAll(async () => {
    for (const connection of greedy) connection.vanish();
    await broker.close();
  });

  async function flood(url: string, { path, connections }: { path: string; connections: number }): Promise<void> {
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    for (let count = 0; count < connections; count += 1) {
      const connection = await RawConnection.to(url);
      connection.socket.pause();
      connection.write(request.repeat(FLOOD_BYTES / request.length));
      greedy.push(connection);
    }
  }

  it('serves everybody else, on both ports', async () => {
    await flood(broker.url, { path: SESSION, connections: 20 });
    await flood(broker.managementUrl, { path: '/livez', connections: 20 });
    for (let count = 0; count < 50; count += 1) {
      expect((await broker.get(SESSION)).status).toBe(200);
      expect((await fetch(`${broker.managementUrl}/livez`)).status).toBe(200);
    }
  });

  it('goes on with event streams and long polls meanwhile', async () => {
    const stream = await broker.get(`${SESSION}/events`);
    const reader = stream.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toContain('retry:');
    await reader?.cancel();
    const { generation } = (await (await broker.get(SESSION)).json()) as { generation: number };
    const poll = await broker.get(SESSION, { 'if-none-match': `"${generation}"`, prefer: 'wait=1' });
    expect([200, 304]).toContain(poll.status);
  });

  it('takes no more connections of one address than it was told', async () => {
    const opened: RawConnection[] = [];
    for (let count = 0; count < 31; count += 1) opened.push(await RawConnection.to(broker.url));
    await eventually(() => opened.some(({ isClosed }) => isClosed));
    for (const connection of opened) connection.vanish();
  });
});
