import { createServer } from 'node:net';
import { once } from 'node:events';
import { freePort } from './free-port.js';

describe('a free port', () => {
  it('is none that the system gives to outgoing connections', async () => {
    expect(await freePort()).toBeLessThan(32_768);
  });

  it('can be listened on', async () => {
    const port = await freePort();
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    expect(server.address()).toMatchObject({ port });
    server.close();
  });

  it('is given once', async () => {
    const ports = await Promise.all(Array.from({ length: 50 }, () => freePort()));
    expect(new Set(ports).size).toBe(50);
  });
});
