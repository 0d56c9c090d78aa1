import { once } from 'node:events';
import { connect } from 'node:net';
import { RunningBroker } from './running-broker.js';

describe('a replica that shuts down', () => {
  it.each([
    ['was opened and never used', ''],
    ['stopped in the middle of its headers', 'GET /v1/merchants HTTP/1.1\r\nHost: '],
  ])('does not wait for a connection that %s', async (_what, sent) => {
    const broker = await RunningBroker.start();
    const socket = connect(Number(new URL(broker.url).port), '127.0.0.1');
    socket.on('error', () => 'reset: the broker may close it as it likes');
    await once(socket, 'connect');
    socket.write(sent);
    // Answered after the other connection has been accepted.
    await broker.get('/v1/merchants');
    const ended = once(socket, 'close');
    socket.resume();
    await broker.close();
    await ended;
    expect(socket.destroyed).toBe(true);
  });
});
