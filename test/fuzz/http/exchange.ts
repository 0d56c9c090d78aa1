import { connect } from 'node:net';
import type { WildConnection } from './requests.js';

/** As long as nothing comes for this time, nothing more is waited for: the rest of a request is missing. */
const QUIET_MS = 25;
/** Then the server is told that nothing follows. What it has begun to answer it has this long to end. */
const END_MS = 2_000;

/**
 * Writes octets on a connection of its own and takes what comes, until either side ends it.
 * @returns one character for each octet received
 */
export async function exchange(port: number, { octets, cuts }: WildConnection): Promise<string> {
  const places = [...new Set(cuts)].filter((at) => at > 0 && at < octets.length).sort((a, b) => a - b);
  const pieces = [...places, octets.length].map((end, index) => octets.subarray(places[index - 1] ?? 0, end));
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    const received: string[] = [];
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => void received.push(text));
    // A server that has said why it reads no further may reset what is still sent to it.
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve(received.join('')));
    socket.setTimeout(QUIET_MS, () => {
      if (socket.writableEnded) return void socket.destroy();
      socket.setTimeout(END_MS);
      socket.end();
    });
    const writeNext = (index: number): void => {
      const piece = pieces[index];
      if (piece === undefined || !socket.writable) return;
      socket.write(piece, () => setImmediate(writeNext, index + 1));
    };
    socket.on('connect', () => writeNext(0));
  });
}
