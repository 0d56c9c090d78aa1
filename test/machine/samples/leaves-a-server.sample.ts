import { once } from 'node:events';
import { createServer } from 'node:net';

describe('a suite that forgets its server', () => {
  it('passes', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    expect(server.listening).toBe(true);
  });
});
