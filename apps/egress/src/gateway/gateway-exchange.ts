import { Readable } from 'node:stream';
import type { Clock, ScheduledTask } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { type AnswerHeaders, type Dispatcher, ENCODED, exchangeEndOf, headerOf, isEncoded } from '#libs/outbound';

export interface GatewayRequest {
  readonly origin: string;
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Uint8Array | Readable | null;
}

interface AnswerHead {
  readonly status: number;
  readonly headers: AnswerHeaders;
}

/**
 * `whole`: it ended within the limit. `stream`: it did not, or was not to be held back; includes what was held so far.
 */
export type GatewayAnswer = AnswerHead &
  ({ readonly kind: 'whole'; readonly bytes: Buffer } | { readonly kind: 'stream'; readonly stream: Readable });

export interface ExchangeOptions {
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  /** From the decision to send to the last octet of the answer. */
  readonly timeoutMs: number;
  /** How much of an answer is held back for inspection. A longer one becomes a stream. */
  readonly heldBytes: (answer: AnswerHead) => number;
  /**
   * Ends the exchange as long as nothing has been sent; after that the bank may have the request, and it runs to its
   * end. A connection has one request at a time, so that one exchange at a time hears of it, by `onabort`.
   */
  readonly gone: AbortSignal;
}

/**
 * One request to the gateway, sent once. At every moment, it is known whether anything has been sent: that decides what
 * a failure means for the payer.
 */
export class GatewayExchange implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  readonly #timer: ScheduledTask;
  readonly #answered = Promise.withResolvers<GatewayAnswer>();
  #controller: Dispatcher.DispatchController | undefined;
  #head: AnswerHead | undefined;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #limit = 0;
  #isEncoded = false;
  #stream: Readable | undefined;
  #failure: BrokerError | undefined;

  private constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#timer = options.clock.schedule(options.timeoutMs, () => this.#abort(this.#late()));
    options.gone.onabort = this.#onGone;
  }

  /**
   * @returns the answer, as soon as enough of it has arrived
   * @throws BrokerError `gateway_unreachable` when nothing was sent, `answer_late`, `answer_lost` or `answer_unusable`
   *   when the bank may have the request; the reason of `gone`
   */
  static send(request: GatewayRequest, options: ExchangeOptions): Promise<GatewayAnswer> {
    const exchange = new GatewayExchange(options);
    const { promise } = exchange.#answered;
    if (options.gone.aborted) exchange.#onGone();
    else exchange.#dispatch(request);
    return promise;
  }

  /** Nothing has been written yet; from here on, something may have been. A second start would be a second payment. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#failure !== undefined) return controller.abort(this.#failure);
    if (this.#controller !== undefined) return controller.abort(this.#lost('begun twice'));
    this.#controller = controller;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    if (status < 200) return;
    this.#head = { status, headers };
    this.#limit = this.#options.heldBytes(this.#head);
    this.#isEncoded = isEncoded(headers);
    const isLong = Number(headerOf(headers, 'content-length') ?? 0) > this.#limit || this.#limit === 0;
    if (isLong && !this.#isEncoded) this.#startStream();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isEncoded) return this.#abort(new BrokerError('answer_unusable', { detail: ENCODED }));
    if (this.#stream !== undefined) {
      if (!this.#stream.push(chunk)) controller.pause();
      return;
    }
    this.#held.push(chunk);
    this.#heldBytes += chunk.byteLength;
    if (this.#heldBytes > this.#limit) this.#startStream();
  }

  onResponseEnd(): void {
    this.#end();
    if (this.#stream !== undefined) this.#stream.push(null);
    else if (this.#head !== undefined) this.#whole(this.#head);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error instanceof BrokerError ? error : this.#failureOf(error));
  }

  #dispatch(request: GatewayRequest): void {
    // undici needs no timers of its own: ours ends the whole exchange.
    const untimed = { ...request, headersTimeout: 0, bodyTimeout: 0 };
    try {
      this.#options.dispatcher.dispatch(untimed, this);
    } catch (error) {
      this.#fail(this.#failureOf(error));
    }
  }

  #whole(head: AnswerHead): void {
    const bytes = this.#held.length === 1 ? (this.#held[0] as Buffer) : Buffer.concat(this.#held);
    this.#answered.resolve({ ...head, kind: 'whole', bytes });
  }

  #startStream(): void {
    const head = this.#head as AnswerHead;
    const stream = new Readable({
      read: () => this.#controller?.resume(),
      // The reader has had enough: nothing more is taken from the gateway.
      destroy: (error, done) => {
        this.#end();
        this.#controller?.abort(error ?? new BrokerError('answer_unusable', { detail: 'it is not read to its end' }));
        done(error);
      },
    });
    // When it fails, its reader may not be listening yet.
    stream.on('error', () => undefined);
    for (const chunk of this.#held) stream.push(chunk);
    this.#held = [];
    this.#stream = stream;
    this.#answered.resolve({ ...head, kind: 'stream', stream });
  }

  #abort(failure: BrokerError): void {
    const controller = this.#controller;
    this.#fail(failure);
    controller?.abort(failure);
  }

  #fail(failure: BrokerError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#end();
    this.#answered.reject(failure);
    if (this.#stream?.readableEnded === false) this.#stream.destroy(failure);
  }

  readonly #onGone = (): void => {
    if (this.#controller !== undefined) return;
    this.#end();
    this.#failure = new BrokerError('request_timeout', { detail: 'the client went away before anything was sent' });
    this.#answered.reject(this.#options.gone.reason as Error);
  };

  #end(): void {
    this.#timer.cancel();
    const { gone } = this.#options;
    if (gone.onabort === this.#onGone) gone.onabort = null;
  }

  #late(): BrokerError {
    if (this.#controller === undefined) return unreachable('there was no connection in time');
    return new BrokerError('answer_late', { detail: `no whole answer within ${this.#options.timeoutMs} ms` });
  }

  #failureOf(error: unknown): BrokerError {
    const { kind, mark } = exchangeEndOf(error);
    if (this.#controller === undefined) return unreachable(mark);
    if (kind === 'timeout') return new BrokerError('answer_late', { detail: mark });
    if (kind === 'malformed') return new BrokerError('answer_unusable', { detail: `it is not HTTP (${mark})` });
    return this.#lost(mark);
  }

  #lost(mark: string): BrokerError {
    return new BrokerError('answer_lost', { detail: `the exchange broke off (${mark})` });
  }
}

function unreachable(mark: string): BrokerError {
  return new BrokerError('gateway_unreachable', { detail: `nothing was sent (${mark})` });
}
