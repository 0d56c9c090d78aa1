import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * A program: clients without a credential that take places, from eight addresses, and come back when they are cut off.
 * They pipeline and read no answer, or leave a request unfinished within its head or its body.
 */
const [port = '', path = '', kind = '', connections = '', seconds = ''] = process.argv.slice(2);

const ADDRESSES = 8;
const MIN_ABSENCE_MS = 250;
const HEAD = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
const SENT: Readonly<Record<string, string>> = {
  pipelines: `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(2_000),
  heads: HEAD + 'a:b\r\n'.repeat(1_590),
  bodies: `${HEAD}Content-Length: 65536\r\n\r\n{`,
};
const octets = Buffer.from(SENT[kind] ?? '');
const endsAt = performance.now() + Number(seconds) * 1_000;

async function starve(index: number): Promise<void> {
  // All at once would only fill the queue of the system.
  await pause(index);
  while (performance.now() < endsAt) {
    const localAddress = `127.0.0.${2 + (index % ADDRESSES)}`;
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress }).pause();
    socket.on('error', () => socket.destroy()).write(octets);
    await closed(socket);
    await pause(MIN_ABSENCE_MS);
  }
}

async function closed(socket: Socket): Promise<void> {
  while (!socket.destroyed && performance.now() < endsAt) {
    if (kind === 'pipelines' && !socket.writableNeedDrain) socket.write(octets);
    await pause(100);
  }
  socket.destroy();
}

await Promise.all(Array.from({ length: Number(connections) }, (_, index) => starve(index)));
