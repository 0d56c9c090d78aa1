import type { IncomingHttpHeaders } from 'node:http';
import { PassThrough, pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { BrokerError } from '#libs/errors';
import type { GatewayAnswer } from '../gateway/gateway-exchange.js';

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

export function isEncoded(headers: IncomingHttpHeaders): boolean {
  return (headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity';
}

/**
 * An answer that can be read: one that arrived encoded, although that was not requested, is decoded.
 * @param heldBytes up to this length it is whole
 * @throws BrokerError `answer_unusable` when it cannot be decoded
 */
export async function decodedAnswer(answer: GatewayAnswer, heldBytes: number): Promise<GatewayAnswer> {
  if (!isEncoded(answer.headers)) return answer;
  if (answer.kind === 'whole' && answer.bytes.byteLength === 0) return answer;
  const decoder = decoders[(answer.headers['content-encoding'] ?? '').toLowerCase()]?.();
  if (decoder === undefined) throw unusable('it is encoded in an unknown way');
  const source = answer.kind === 'stream' ? answer.stream : new PassThrough().end(answer.bytes);
  const stream = pipeline(source, decoder, () => undefined);
  const head = { status: answer.status, headers: answer.headers };
  const begun = await begin(stream, heldBytes);
  if (begun.hasEnded) return { ...head, kind: 'whole', bytes: begun.bytes };
  stream.unshift(begun.bytes);
  return { ...head, kind: 'stream', stream };
}

async function begin(stream: Readable, bytes: number): Promise<{ bytes: Buffer; hasEnded: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    // By default, leaving the loop would destroy the stream, whose rest is still needed.
    const read = stream.iterator({ destroyOnReturn: false });
    for await (const chunk of read as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length > bytes) return { bytes: Buffer.concat(chunks), hasEnded: false };
    }
  } catch (error) {
    if (error instanceof BrokerError) throw error;
    throw unusable('it cannot be decoded');
  }
  return { bytes: Buffer.concat(chunks), hasEnded: true };
}

function unusable(detail: string): BrokerError {
  return new BrokerError('answer_unusable', { detail });
}
