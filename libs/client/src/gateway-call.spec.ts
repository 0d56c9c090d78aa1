import { inspect } from 'node:util';
import { FakeClock } from '../../testing/src/index.js';
import { aDocument, json, problem, ScriptedBroker } from '../fixtures/scripted-broker.js';
import { AnswerLost, AnswerUnopened, GatewayRefused, GatewayUnreachable, SessionRejected } from './errors.js';
import type { Fetch, FetchInit } from './fetch.js';
import type { GatewayOptions } from './options.js';
import { SessionBroker } from './session-broker.js';

const REFUND = '/ecom/execute_request/payments/v3/refund';
const ORDER = '/ecom/execute_request/hpp/v1/create-order';

describe('one call of the gateway', () => {
  let clock: FakeClock;
  let server: ScriptedBroker;
  let broker: SessionBroker;
  let sent: (FetchInit & { url: string })[];
  let answers: (() => Response | Promise<Response>)[];

  const fetch: Fetch = async (url, init) => {
    sent.push({ ...init, url });
    const next = answers.length > 1 ? answers.shift()! : answers[0]!;
    return next();
  };
  const client = (gateway?: Partial<GatewayOptions>): SessionBroker => {
    const fixed = { url: 'http://b.test', merchant: 'shop', auth: 't', follow: 'none', random: () => 0.5 } as const;
    const to = { url: 'https://bank.test/base/', fetch, ...gateway };
    return new SessionBroker({ ...fixed, fetch: server.fetch, time: clock, gateway: to });
  };
  const failureOf = async (call: Promise<unknown>): Promise<Error & Record<string, unknown>> => {
    const failed = call.then(
      (answer) => new Error(`it went well: ${JSON.stringify(answer)}`),
      (error: unknown) => error,
    );
    await clock.settle();
    return (await failed) as Error & Record<string, unknown>;
  };
  const answering = (...given: (() => Response | Promise<Response>)[]): void => void (answers = given);
  const order = (): Promise<unknown> => broker.fetch(ORDER, { json: { coinAmount: 5 } });
  const refund = (): Promise<unknown> => broker.fetch(REFUND, { sealed: { merchantRequestId: 'r-1' } });
  const generations = (): (string | undefined)[] => sent.map(({ headers }) => headers['x-device_id']);

  beforeEach(() => {
    clock = new FakeClock();
    sent = [];
    server = new ScriptedBroker()
      .on('read', () => json(aDocument()))
      .on('rejections', () => json(aDocument({ generation: 2 })))
      .on('decrypt', () => json({ plaintext: '{"status":"PENDING"}' }));
    broker = client();
  });
  afterEach(() => broker.close());

  it('carries the session, to the path below the base URL, and gives what was answered in clear', async () => {
    answering(() => Response.json({ hppOrderId: 'o-1', msgCode: null, jwe: '' }));
    expect(await order()).toEqual({ hppOrderId: 'o-1', msgCode: null, jwe: '' });
    expect(sent).toMatchObject([
      {
        url: `https://bank.test/base${ORDER}`,
        method: 'POST',
        body: '{"coinAmount":5}',
        redirect: 'manual',
        headers: {
          ...{ 'content-type': 'application/json', 'x-api_version': 'V1' },
          ...{ 'x-device_id': 'device-id-1', 'x-refresh_token': 'refresh-token-1' },
        },
      },
    ]);
  });

  it('opens a sealed answer', async () => {
    answering(() => Response.json({ jwe: 'a.b.c.d.e' }));
    expect(await refund()).toEqual({ status: 'PENDING' });
    expect(sent[0]).toMatchObject({ headers: { 'content-type': 'text/plain' } });
    expect(sent[0]!.body).toMatch(/^[\w-]+(?:\.[\w-]*){4}$/);
    expect(server.seen('decrypt')[0]!.body).toBe('{"jwe":"a.b.c.d.e"}');
  });

  it('is sent once more, sealed anew, with a newer session after a dead one, and never a third time', async () => {
    const dead = (): Response => Response.json({ msgCode: 'b_used_token' }, { status: 400 });
    answering(dead, () => Response.json({ jwe: 'a.b.c.d.e' }));
    expect(await refund()).toEqual({ status: 'PENDING' });
    expect(generations()).toEqual(['device-id-1', 'device-id-2']);
    expect(sent[0]!.body).not.toBe(sent[1]!.body);
    answering(dead);
    server.on('rejections', () => json(aDocument({ generation: 3 })));
    expect(await failureOf(refund())).toBeInstanceOf(SessionRejected);
    expect(sent).toHaveLength(4);
  });

  it('is not sent again where the broker has no newer session', async () => {
    server.on('rejections', () => problem(403, 'forbidden'));
    answering(() => new Response('', { status: 401 }));
    expect(await failureOf(refund())).toMatchObject({ code: 'forbidden', rejection: { reason: 'http_401' } });
    expect(sent).toHaveLength(1);
  });

  it.each([
    [200, 'b_operation_not_found'],
    [200, 'VALIDATION_ERROR'],
    [401, 'b_auth_token_expired'],
    [400, 'b_duplicate_field_value'],
  ])(
    'is refused by the code of the bank, and what it says besides is printed nowhere: %d %s',
    async (status, msgCode) => {
      const said = { msgCode, msgText: 'canary' };
      answering(() => Response.json(said, { status }));
      for (const call of [order, refund]) {
        const failure = await failureOf(call());
        expect(failure).toBeInstanceOf(GatewayRefused);
        expect(failure).toMatchObject({ code: msgCode, status, answer: said });
        const has = msgCode === 'b_duplicate_field_value' ? 'The bank has a request' : 'One that was sent before';
        expect(failure.message).toContain(`The gateway refused the request: ${status} ${msgCode}. ${has}`);
        expect(inspect(failure) + JSON.stringify(failure)).not.toContain('canary');
      }
      expect(server.seen('rejections')).toEqual([]);
      expect(sent).toHaveLength(2);
    },
  );

  it.each<[string, () => Response, string]>([
    [
      'a code under 5xx',
      () => Response.json({ msgCode: 'b_x' }, { status: 500 }),
      'status 500, application/json, b_x.',
    ],
    ["the gateway's own doubt", () => Response.json({ msgCode: 'b_unknown_error' }), 'b_unknown_error. Nobody'],
    ['a page', () => new Response('<html>canary', { headers: { 'content-type': 'text/html' } }), '200, text/html.'],
    ['a redirect', () => new Response(null, { status: 307, headers: { location: '/canary' } }), 'status 307. Nobody'],
    ['nothing', () => new Response(null, { status: 204 }), 'status 204. Nobody'],
    ['a code that is none', () => Response.json({ msgCode: ['b_x'] }), 'status 200, application/json. Nobody'],
    ['a list', () => Response.json(['canary']), 'status 200, application/json. Nobody'],
    ['too much', () => new Response(`{"jwe":"${'x'.repeat(1_100_000)}"}`), 'status 200'],
  ])('is one of which nobody knows after %s', async (_what, answer, says) => {
    answering(answer);
    for (const call of [order, refund]) {
      const failure = await failureOf(call());
      expect(failure).toMatchObject({ name: 'AnswerLost', code: 'answer_unusable' });
      expect(failure.message).toContain(says);
      expect(failure.message).toContain('lookUp, a notification or the bank tells');
      expect(inspect(failure, { depth: 10 })).not.toContain('canary');
    }
    expect(sent).toHaveLength(2);
  });

  it('is one of which nobody knows when a sealed request is answered in clear', async () => {
    answering(() => Response.json({ status: 'SUCCESS' }));
    expect(await failureOf(refund())).toMatchObject({ code: 'answer_unusable' });
  });

  const endless = (): Response => new Response(new ReadableStream());
  it.each<[string, () => Response | Promise<Response>]>([
    ['no answer', () => new Promise<Response>(() => undefined)],
    ['an answer that does not end', endless],
  ])('is late after its time, which is not repeated: %s', async (_what, answer) => {
    broker = client({ timeoutMs: 3_000 });
    answering(answer);
    const failing = failureOf(order());
    await clock.advance(3_000);
    const failure = await failing;
    expect(failure).toBeInstanceOf(AnswerLost);
    expect(failure).toMatchObject({ code: 'answer_late' });
    expect(sent).toHaveLength(1);
    expect(sent[0]!.signal.aborted).toBe(true);
    expect(clock.pendingTasks).toBe(0);
  });

  it('is lost when the caller ends it on its way, and was not sent when it was ended before', async () => {
    const leaving = new AbortController();
    answering(endless);
    const failing = failureOf(broker.fetch(ORDER, { json: {}, signal: leaving.signal }));
    await clock.settle();
    leaving.abort('the customer went away');
    expect(await failing).toMatchObject({
      code: 'answer_lost',
      message: expect.stringContaining('AbortError. Nobody'),
    });
    const late = await failureOf(broker.fetch(ORDER, { json: {}, signal: leaving.signal }));
    expect(late).toMatchObject({ code: 'call_aborted', message: expect.stringContaining('has sent nothing') });
    expect(sent).toHaveLength(1);
  });

  it('was not sent without a connection', async () => {
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    answering(() => Promise.reject(new TypeError('fetch failed', { cause: refused })));
    const failure = await failureOf(order());
    expect(failure).toBeInstanceOf(GatewayUnreachable);
    expect(failure.message).toContain('The gateway at https://bank.test cannot be reached: ECONNREFUSED');
  });

  it.each([
    ['the broker does not open', () => problem(422, 'jwe_not_opened'), 'jwe_not_opened'],
    ['is no JSON object', () => json({ plaintext: '"canary"' }), 'not_text'],
  ])('is one that the bank has when its answer %s', async (_what, opened, code) => {
    answering(() => Response.json({ jwe: 'a.b.c.d.e' }));
    server.on('decrypt', opened);
    const failure = await failureOf(refund());
    expect(failure).toBeInstanceOf(AnswerUnopened);
    expect(failure).toMatchObject({ code: 'answer_unopened', cause: { code } });
    expect(failure.message).toContain('lookUp');
    expect(inspect(failure)).not.toContain('canary');
  });

  it.each<[string, [string, object]]>([
    ['Give one object to send', [ORDER, { json: {}, sealed: {} }]],
    ['Give one object to send', [ORDER, {}]],
    ['Give one object to send', [REFUND, { sealed: 'canary' }]],
    ['coinAmount is no number', [ORDER, { json: { coinAmount: NaN } }]],
    ['coinAmount is no number', [REFUND, { sealed: { of: [{ coinAmount: Infinity }] } }]],
    ['the path must begin with one /', ['//canary.test/', { json: {} }]],
    ['the path must begin with one /', ['https://canary.test/', { json: {} }]],
  ])('is refused before anything is asked: %s', async (says, parts) => {
    const failure = await failureOf(broker.fetch(...parts));
    expect(failure).toMatchObject({ name: 'InvalidInput', message: expect.stringContaining(says) });
    expect(failure.message).not.toContain('canary');
    expect(server.requests).toEqual([]);
  });

  it('needs to know where the gateway is', async () => {
    const without = new SessionBroker({ url: 'http://b.test', merchant: 'shop', fetch: server.fetch });
    expect((await failureOf(without.fetch(ORDER, { json: {} }))).message).toContain('the option gateway is missing');
    expect(() => client({ url: '' })).toThrow('gateway.url is missing');
    expect(() => client({ timeoutMs: 0 })).toThrow('timeoutMs must be');
    expect(() => client({ uri: 1 } as object)).toThrow('There is no option "uri"');
  });

  describe('that looks up what became of another', () => {
    it('finds the operation', async () => {
      answering(() => Response.json({ jwe: 'a.b.c.d.e' }));
      expect(await broker.lookUp('r-1')).toEqual({ found: true, operation: { status: 'PENDING' } });
      expect(sent[0]!.url).toMatch(/\/ecom\/execute_request\/payments\/v1\/operation\/by_merchant_request_id$/);
    });

    it.each([
      [200, 'b_operation_not_found'],
      [404, 'payment_operation_not_found'],
    ])('finds none: %d %s', async (status, msgCode) => {
      answering(() => Response.json({ msgCode }, { status }));
      expect(await broker.lookUp('r-1')).toEqual({ found: false });
    });

    it.each([
      [404, 'b_operation_not_found'],
      [404, 'b_service_unavailable'],
    ])('takes nothing else for none: %d %s', async (status, msgCode) => {
      answering(() => Response.json({ msgCode }, { status }));
      expect(await failureOf(broker.lookUp('r-1'))).toBeInstanceOf(GatewayRefused);
      answering(() => new Response('', { status }));
      expect(await failureOf(broker.lookUp('r-1'))).toBeInstanceOf(AnswerLost);
    });

    it('asks for nothing without an id', async () => {
      expect((await failureOf(broker.lookUp(''))).message).toBe('merchantRequestId is missing');
    });
  });
});
