import type { IncomingMessage } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import { BrokerError } from '#libs/errors';

/** What has arrived of a body so far. */
interface Begun {
  readonly bytes: Buffer;
  readonly hasEnded: boolean;
}

interface Reading {
  readonly maxBytes: number;
  /** Asks for the body, if the client waits to be asked. */
  readonly wantBody: () => void;
}

/**
 * Reads a whole body.
 * @throws BrokerError `payload_too_large`, or `request_timeout` when the client breaks off
 */
export async function readWhole(request: IncomingMessage, { maxBytes, wantBody }: Reading): Promise<Buffer> {
  demandLength(request, maxBytes);
  wantBody();
  const { bytes, hasEnded } = await readUpTo(request, maxBytes);
  if (hasEnded) return bytes;
  throw new BrokerError('payload_too_large');
}

/** Reads to the end of the body, or a little more than this many octets of it; the rest is then still to be read. */
export function readUpTo(request: IncomingMessage, bytes: number): Promise<Begun> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const done = (hasEnded: boolean): void => {
      release();
      resolve({ bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks), hasEnded });
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length <= bytes) return;
      request.pause();
      done(false);
    };
    const onEnd = (): void => done(true);
    const onClose = (): void => {
      release();
      reject(new BrokerError('request_timeout', { detail: 'the client broke off in the middle of the body' }));
    };
    const release = (): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    request.on('data', onData).once('end', onEnd).once('close', onClose).once('error', onClose);
  });
}

/**
 * The rest of a body, preceded by its beginning, as long as it stays within the limit.
 * @param begun what has been read of it
 */
export function wholeStream(request: IncomingMessage, begun: Buffer, maxBytes: number): Transform {
  let left = maxBytes - begun.byteLength;
  const bounded = new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      left -= chunk.byteLength;
      if (left < 0) done(new BrokerError('payload_too_large'));
      else done(null, chunk);
    },
  });
  bounded.push(begun);
  request.once('close', () => {
    if (!request.complete) bounded.destroy(new BrokerError('request_timeout', { detail: 'the client broke off' }));
  });
  return request.pipe(bounded);
}

/** @throws BrokerError `payload_too_large` for a body that declares itself too long */
export function demandLength({ headers }: IncomingMessage, maxBytes: number): void {
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw new BrokerError('payload_too_large');
}
