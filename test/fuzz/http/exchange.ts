import { connect } from 'node:net';
import type { WildConnection } from './requests.js';

/** If nothing comes for this long, nothing more is waited for: the rest of a request is missing. */
const QUIET_MS = 60;
/** Then the server is told that nothing follows. It has this long to finish what it has begun to answer. */
const END_MS = 250;

/** What came, with one character for each octet. If we ended it, the last part may be the beginning of an answer. */
export interface Received {
  readonly text: string;
  readonly isCut: boolean;
}

/** Writes octets on its own connection and reads what comes, until either side ends it. */
export async function exchange(port: number, { octets, cuts }: WildConnection): Promise<Received> {
  const places = [...new Set(cuts)].filter((at) => at > 0 && at < octets.length).sort((a, b) => a - b);
  const pieces = [...places, octets.length].map((end, index) => octets.subarray(places[index - 1] ?? 0, end));
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    const received: string[] = [];
    let isCut = false;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => void received.push(text));
    // A server that has said why it reads no further may reset what is still being sent to it.
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve({ text: received.join(''), isCut }));
    socket.setTimeout(QUIET_MS).on('timeout', () => {
      if (socket.writableEnded) {
        isCut = true;
        return void socket.destroy();
      }
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
