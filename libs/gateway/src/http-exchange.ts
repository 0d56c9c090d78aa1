import { type Clock, plusMs } from '#libs/clock';
import { type Dispatcher, isEncoded } from '#libs/outbound';
import type { AnswerBody, GatewayAnswer } from './gateway-answer.js';

/** A request to the gateway. Everything that the interface describes is a POST with a body. */
export interface GatewayRequest {
  readonly method?: 'GET';
  readonly origin: string;
  /** With the query, percent-encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface ExchangeOptions {
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  /** Ends the exchange wherever it is: connecting, waiting for headers, or in the middle of the body. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A session takes about 1 KiB. A longer answer is not read any further. */
export const MAX_BODY_BYTES = 262_144;

/** How much later than the deadline undici's own, coarse timers would end a call. They never should. */
const BACKSTOP_MS = 5_000;

/**
 * Sends one request, once, and reads the answer within bounds. undici neither retries a POST nor follows a redirect
 * unless an interceptor asks it to, and none is installed here.
 * @throws whatever ended the exchange: the signal's reason, or an error of undici, TLS or the network
 */
export async function exchange(request: GatewayRequest, options: ExchangeOptions): Promise<GatewayAnswer> {
  const { dispatcher, clock, signal, timeoutMs } = options;
  signal.throwIfAborted();
  const sentAtMs = clock.monotonicMs();
  const backstopMs = timeoutMs + BACKSTOP_MS;
  const response = await unlessAborted(
    dispatcher.request({
      method: 'POST',
      ...request,
      signal,
      headersTimeout: backstopMs,
      bodyTimeout: backstopMs,
    }),
    signal,
  );
  const body = await readBounded(response);
  const receivedAt = clock.now();
  // Not read from the wall clock: setting that during the call would look like skew of the gateway's clock.
  const sentAt = plusMs(receivedAt, -Math.ceil(clock.monotonicMs() - sentAtMs));
  return { httpStatus: response.statusCode, headers: response.headers, body, sentAt, receivedAt };
}

/**
 * undici respects the signal only once it has a connection: a gateway that accepts the TCP connection and never
 * completes the TLS handshake would outlast the deadline. The request is held back meanwhile, and dropped unsent if the
 * connection is made after all.
 */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  return Promise.race([work, aborted]);
}

/** Leaving the loop early ends the connection, so that nothing more is read from it. */
async function readBounded({ headers, body }: Dispatcher.ResponseData): Promise<AnswerBody> {
  const encoded = isEncoded(headers);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    if (encoded) return { kind: 'refused', reason: 'encoded' };
    length += chunk.byteLength;
    if (length > MAX_BODY_BYTES) return { kind: 'refused', reason: 'too_large' };
    chunks.push(chunk);
  }
  return { kind: 'complete', bytes: Buffer.concat(chunks) };
}
