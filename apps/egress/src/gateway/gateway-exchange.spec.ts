import { text } from 'node:stream/consumers';
import { BrokerError } from '#libs/errors';
import type { Dispatcher } from '#libs/outbound';
import { FakeClock } from '#libs/testing';
import { type GatewayAnswer, GatewayExchange } from './gateway-exchange.js';

const TIMEOUT_MS = 30_000;
const request = { origin: 'http://gateway.test', path: '/a', method: 'POST', headers: {}, body: null };

/** A dispatcher controlled by the test: nothing happens by itself. */
class PlayedDispatcher {
  readonly aborted: Error[] = [];
  isPaused = false;
  handler: Dispatcher.DispatchHandler | undefined;
  readonly #controller = {
    abort: (reason: Error) => void this.aborted.push(reason),
    pause: () => void (this.isPaused = true),
    resume: () => void (this.isPaused = false),
  } as Partial<Dispatcher.DispatchController> as Dispatcher.DispatchController;

  dispatch(_options: object, handler: Dispatcher.DispatchHandler): boolean {
    this.handler = handler;
    return true;
  }

  begins(): void {
    this.handler?.onRequestStart?.(this.#controller, {});
  }

  answers(status: number, headers: Record<string, string> = {}): void {
    this.handler?.onResponseStart?.(this.#controller, status, headers);
  }

  sends(octets: string): void {
    this.handler?.onResponseData?.(this.#controller, Buffer.from(octets));
  }

  ends(): void {
    this.handler?.onResponseEnd?.(this.#controller, {});
  }

  fails(code: string): void {
    this.handler?.onResponseError?.(this.#controller, Object.assign(new Error('failed'), { code }));
  }
}

describe('an exchange with the gateway', () => {
  let clock: FakeClock;
  let wire: PlayedDispatcher;
  let client: AbortController;
  let heldBytes: number;

  beforeEach(() => {
    clock = new FakeClock();
    wire = new PlayedDispatcher();
    client = new AbortController();
    heldBytes = 100;
  });
  afterEach(() => expect(clock.pendingTasks).toBe(0));

  const send = (): Promise<GatewayAnswer> =>
    GatewayExchange.send(request, {
      dispatcher: wire as object as Dispatcher,
      clock,
      timeoutMs: TIMEOUT_MS,
      heldBytes: () => heldBytes,
      gone: client.signal,
    });
  const failureOf = (answer: Promise<unknown>): Promise<string> =>
    answer.then(
      () => 'no failure',
      (error: unknown) => (error instanceof BrokerError ? error.code : 'another error'),
    );
  const streamOf = (answer: GatewayAnswer) => {
    if (answer.kind !== 'stream') throw new Error('the answer is whole');
    return answer.stream;
  };
  /** An answer of which nothing is held back. */
  const streamed = async () => {
    heldBytes = 0;
    const answer = send();
    wire.begins();
    wire.answers(200);
    return streamOf(await answer);
  };

  it('passes over what comes before the answer', async () => {
    const answer = send();
    wire.begins();
    wire.answers(103);
    wire.answers(204);
    wire.ends();
    expect(await answer).toMatchObject({ status: 204, kind: 'whole' });
  });

  it('takes no more from the gateway than its reader takes', async () => {
    const stream = await streamed();
    wire.sends('a'.repeat(100_000));
    expect(wire.isPaused).toBe(true);
    const read = text(stream);
    await clock.settle();
    expect(wire.isPaused).toBe(false);
    wire.ends();
    expect(await read).toHaveLength(100_000);
  });

  describe('that fails', () => {
    it('before it began is unreachable, whatever it was', async () => {
      const answer = send();
      wire.fails('UND_ERR_SOCKET');
      expect(await failureOf(answer)).toBe('gateway_unreachable');
    });

    it.each([
      ['ECONNREFUSED', 'answer_lost'],
      ['UND_ERR_HEADERS_TIMEOUT', 'answer_late'],
    ])('after it began is never unreachable: %s is %s', async (code, expected) => {
      const answer = send();
      wire.begins();
      wire.fails(code);
      expect(await failureOf(answer)).toBe(expected);
    });
  });

  describe('whose time is over', () => {
    it('while it waits for a connection is unreachable, and is not begun any more', async () => {
      const answer = send();
      const failure = failureOf(answer);
      await clock.advance(TIMEOUT_MS);
      expect(await failure).toBe('gateway_unreachable');
      wire.begins();
      expect(wire.aborted).toMatchObject([{ code: 'gateway_unreachable' }]);
    });

    it('before an answer is late, and its connection ends', async () => {
      const failure = failureOf(send());
      wire.begins();
      await clock.advance(TIMEOUT_MS - 1);
      expect(wire.aborted).toEqual([]);
      await clock.advance(1);
      expect(await failure).toBe('answer_late');
      expect(wire.aborted).toMatchObject([{ code: 'answer_late' }]);
    });

    it('in the middle of a stream breaks it off', async () => {
      const failure = failureOf(text(await streamed()));
      wire.sends('drip');
      await clock.advance(TIMEOUT_MS);
      expect(await failure).toBe('answer_late');
    });
  });

  it('that is begun a second time is not sent a second time', async () => {
    const answer = send();
    wire.begins();
    wire.begins();
    expect(wire.aborted).toMatchObject([{ code: 'answer_lost' }]);
    wire.fails('UND_ERR_SOCKET');
    expect(await failureOf(answer)).toBe('answer_lost');
  });

  it('ends with the connection when nobody reads its stream to the end', async () => {
    (await streamed()).destroy();
    await clock.settle();
    expect(wire.aborted).toHaveLength(1);
  });

  describe('whose client goes away', () => {
    const left = new BrokerError('request_timeout');

    it('before it began is never begun', async () => {
      const failure = failureOf(send());
      client.abort(left);
      expect(await failure).toBe('request_timeout');
      wire.begins();
      expect(wire.aborted).toHaveLength(1);
    });

    it('before it was asked for is not asked for', async () => {
      client.abort(left);
      expect(await failureOf(send())).toBe('request_timeout');
      expect(wire.handler).toBeUndefined();
    });

    it('after it began runs to its end', async () => {
      const answer = send();
      wire.begins();
      client.abort(left);
      wire.answers(200);
      wire.ends();
      expect(await answer).toMatchObject({ status: 200 });
      expect(wire.aborted).toEqual([]);
    });
  });
});
