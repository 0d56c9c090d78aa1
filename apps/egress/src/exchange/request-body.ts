import type { IncomingMessage } from 'node:http';
import type { Clock } from '#libs/clock';
import { BrokerError } from '#libs/errors';

interface Reading {
  readonly maxBytes: number;
  readonly withinMs: number;
  readonly clock: Clock;
  /** Asks for the body, if the client waits to be asked. */
  readonly wantBody: () => void;
}

/**
 * Reads a whole body.
 * @throws BrokerError `payload_too_large`, or `request_timeout` when it is late or the client breaks off
 */
export async function readWhole(
  request: IncomingMessage,
  { maxBytes, withinMs, clock, wantBody }: Reading,
): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    throw new BrokerError('payload_too_large');
  }
  wantBody();
  // What came together with the head has been parsed by then, and most bodies do: nothing has to be awaited.
  await Promise.resolve();
  if (request.destroyed) throw brokenOff();
  if (request.complete) return wholeOf(request.read() as Buffer | null, maxBytes);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length > maxBytes) fail(new BrokerError('payload_too_large'));
    };
    const onEnd = (): void => {
      release();
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    };
    const onClose = (): void => fail(brokenOff());
    const late = clock.schedule(withinMs, () =>
      fail(new BrokerError('request_timeout', { detail: `the body did not come within ${withinMs} ms` })),
    );
    const release = (): void => {
      late.cancel();
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    const fail = (failure: BrokerError): void => {
      release();
      request.pause();
      reject(failure);
    };
    request.on('data', onData).once('end', onEnd).once('close', onClose).once('error', onClose);
  });
}

function wholeOf(body: Buffer | null, maxBytes: number): Buffer {
  if (body !== null && body.byteLength > maxBytes) throw new BrokerError('payload_too_large');
  return body ?? Buffer.alloc(0);
}

function brokenOff(): BrokerError {
  return new BrokerError('request_timeout', { detail: 'the client broke off in the middle of the body' });
}
