import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A program: connections that pipeline requests without a credential, read no answer, and come back when cut off. */
const [port = '', path = '', connections = '', seconds = ''] = process.argv.slice(2);

const PERIOD_MS = 100;
/** 2 MB in 6 s. */
const BYTES_PER_PERIOD = 33_333;
const MIN_ABSENCE_MS = 250;

const request = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const octets = Buffer.from(request.repeat(Math.ceil(BYTES_PER_PERIOD / request.length)));
const endsAt = performance.now() + Number(seconds) * 1_000;

async function starve(): Promise<void> {
  while (performance.now() < endsAt) {
    const socket = connect(Number(port), '127.0.0.1').pause();
    socket.on('error', () => socket.destroy());
    while (performance.now() < endsAt && !socket.destroyed) {
      // One that is no longer read from waits, and keeps its connection open.
      if (!socket.writableNeedDrain) socket.write(octets);
      await pause(PERIOD_MS);
    }
    socket.destroy();
    await pause(MIN_ABSENCE_MS);
  }
}

await Promise.all(Array.from({ length: Number(connections) }, starve));
