import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { SystemClock } from '#libs/clock';
import { jest } from '@jest/globals';
import type { RedisConnection } from './redis-connection.js';
import { RedisInspection } from './inspection/redis-inspection.js';
import { openedByTests } from './redis-store-fixture.js';

/** What Redis 8 in protected mode sends to clients from another machine before it closes the connection. */
const DENIED =
  '-DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the ' +
  'default user. In this mode connections are only accepted from the loopback interface.\r\n';

const { open, closeAfterTest } = openedByTests();

async function serverInProtectedMode(): Promise<RedisConnection> {
  const server = createServer((socket) => socket.on('error', () => undefined).end(DENIED));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeAfterTest(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { kind: 'single', address: { host: '127.0.0.1', port }, database: 0 };
}

describe('a server in protected mode', () => {
  const said: unknown[] = [];
  beforeEach(() => {
    said.length = 0;
    for (const level of ['warn', 'error'] as const)
      jest.spyOn(console, level).mockImplementation((...words: unknown[]) => void said.push(words));
  });
  afterEach(() => jest.restoreAllMocks());

  it('refuses, the store says why, and nothing is written past the log', async () => {
    const opened = await open({ connection: await serverInProtectedMode() });
    await opened.becomes('refuses');
    expect(opened.said().at(-1)).toBe('refuses: DENIED');
    await expect(opened.store.enrol(['shop'])).rejects.toMatchObject({ code: 'store_refused' });
    expect(said).toEqual([]);
  });

  it('is told with its reason by whoever inspects it', async () => {
    const connection = await serverInProtectedMode();
    const inspecting = RedisInspection.open({ connection, keyPrefix: 'broker', clock: new SystemClock() });
    await expect(inspecting).rejects.toThrow(/DENIED/);
    expect(said).toEqual([]);
  });
});
