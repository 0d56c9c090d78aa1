import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { BrokerError } from '#libs/errors';
import { answerHeaders } from '../gateway/answer-headers.js';
import type { GatewayAnswer } from '../gateway/gateway-exchange.js';

interface PassOnOptions {
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly maxBytes: number;
}

/** Statuses without a body (RFC 9110 section 6.4.1). */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

/**
 * Gives the gateway's answer to its client, unchanged.
 * @throws BrokerError `request_timeout` when the client has gone; `answer_unusable` for a redirect, which would lead
 *   the client past the egress, and for an answer that is too long; whatever ended a stream halfway
 */
export async function passOn(answer: GatewayAnswer, { response, requestId, maxBytes }: PassOnOptions): Promise<void> {
  const { status, headers } = answer;
  assertWaiting(answer, response);
  if (isRedirect(status)) throw unusable(answer, `it is a redirect (${status})`);
  const outgoing = answerHeaders(headers, { requestId, body: 'same' });
  if (BODILESS.has(status)) {
    discard(answer);
    response.writeHead(status, outgoing).end();
    return;
  }
  const length = answer.kind === 'whole' ? answer.bytes.byteLength : Number(outgoing['content-length'] ?? 0);
  if (length > maxBytes) throw unusable(answer, `it is longer than ${maxBytes} bytes`);
  if (answer.kind === 'whole') {
    // As text, octet for octet, so that head and body go out in one write: a second one would cost as much as all the
    // rest here.
    outgoing['content-length'] = length;
    response.writeHead(status, outgoing).end(answer.bytes.toString('latin1'), 'latin1');
  } else {
    await stream(answer.stream, response.writeHead(status, outgoing), maxBytes);
  }
}

/** If the client has gone before the answer, its close is not announced again: waiting for it would never end. */
function assertWaiting(answer: GatewayAnswer, response: ServerResponse): void {
  if (!response.destroyed) return;
  discard(answer);
  throw clientGone();
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/** An answer that breaks off leaves the client with a broken answer, never with one that looks whole. */
async function stream(source: Readable, response: ServerResponse, maxBytes: number): Promise<void> {
  let left = maxBytes;
  response.once('close', () => source.destroy());
  response.flushHeaders();
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      left -= chunk.byteLength;
      if (left < 0) throw new BrokerError('answer_unusable', { detail: `it is longer than ${maxBytes} bytes` });
      if (!response.write(chunk)) await drained(response);
      if (response.destroyed) throw clientGone();
    }
    // A stream that ends because no one reads it any more ends without an error.
    if (response.destroyed) throw clientGone();
    response.end();
  } catch (error) {
    const isGone = response.destroyed;
    response.destroy();
    throw isGone && !(error instanceof BrokerError) ? clientGone() : error;
  }
}

function drained(response: ServerResponse): Promise<void> {
  // If the client has already gone, its close is not announced again.
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });
}

function discard(answer: GatewayAnswer): void {
  if (answer.kind === 'stream') answer.stream.destroy();
}

function clientGone(): BrokerError {
  return new BrokerError('request_timeout', { detail: 'the client went away before the end of its answer' });
}

function unusable(answer: GatewayAnswer, detail: string): BrokerError {
  discard(answer);
  return new BrokerError('answer_unusable', { detail });
}
