import { inspect } from 'node:util';
import { aSessionDocument as aDocument, FakeClock, json, ScriptedBroker } from '../../testing/src/index.js';
import { clientOf } from '../fixtures/client-of.js';
import { AnswerLost, AnswerUnopened, GatewayRefused, GatewayUnreachable, SessionRejected } from './errors.js';
import { answerLost, deadSessionCode } from './gateway-call.js';
import type { Fetch, FetchInit } from './fetch.js';
import type { GatewayOptions } from './options.js';
import type { SessionBroker } from './session-broker.js';

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
    return clientOf(server, clock, { gateway: { url: 'https://bank.test/base/', fetch, ...gateway } });
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
    ['a code that is none', () => Response.json({ msgCode: ['b_x'] }), 'status 200, application/json. Nobody'],
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

  it.each<[number, object]>([
    [401, { serviceId: 'session-egress', msgCode: 'b_session_doesnt_exist' }],
    [401, { type: 'urn:session-broker:problem:unauthenticated' }],
    [404, { type: 'urn:session-broker:problem:route_not_found' }],
  ])('was not sent where a broker or an egress answers in the place of the gateway: %d %j', async (status, said) => {
    answering(() => Response.json(said, { status }));
    const failure = await failureOf(order());
    expect(failure).toMatchObject({ name: 'GatewayUnreachable', code: 'not_the_gateway' });
    expect(failure.message).toContain(
      `It is a broker or an egress that answers at https://bank.test (status ${status}, application/json),`,
    );
    expect(server.seen('rejections')).toEqual([]);
  });

  it.each<[number, object]>([
    [502, { type: 'urn:session-broker:problem:answer_lost', code: 'answer_lost' }],
    [400, { serviceId: 'session-egress', msgCode: 'b_invalid_request' }],
  ])('is one of which nobody knows where an egress passed it on: %d %j', async (status, said) => {
    answering(() => Response.json(said, { status }));
    expect(await failureOf(order())).toMatchObject({ code: 'answer_unusable' });
  });

  it('is one of which nobody knows after half an answer, whatever the code', async () => {
    const cut = new ReadableStream({
      pull: (controller) => controller.error(Object.assign(new Error('canary'), { code: 'ECONNREFUSED' })),
    });
    answering(() => new Response(cut, { headers: { 'content-type': 'text/html; canary' } }));
    const message = expect.stringContaining('used: status 200, text/html, ECONNREFUSED. Nobody') as string;
    expect(await failureOf(order())).toMatchObject({ name: 'AnswerLost', code: 'answer_lost', message });
  });

  it('is one that the bank has when its answer is no JSON object', async () => {
    answering(() => Response.json({ jwe: 'a.b.c.d.e' }));
    server.on('decrypt', () => json({ plaintext: '"canary"' }));
    const failure = await failureOf(refund());
    expect(failure).toBeInstanceOf(AnswerUnopened);
    expect(failure).toMatchObject({ code: 'answer_unopened', cause: { code: 'not_text' } });
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
    const without = clientOf(server, clock);
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

describe('a dead session', () => {
  const ofAnEgress = { serviceId: 'session-egress', msgCode: 'b_session_doesnt_exist' };

  it.each([
    ...['b_expired_token', 'b_used_token', 'b_previous_auth_token_expired', 'b_unknown_device'],
    ...['b_session_doesnt_exist', 'b_session_doesnt_exists'],
  ])('is known by its code, whatever the status: %s', (msgCode) => {
    for (const status of [undefined, 400, 401, 500]) expect(deadSessionCode({ msgCode }, status)).toBe(msgCode);
  });

  it.each([[{ msgCode: 'b_unheard_of' }], ['<html>'], [undefined]])('is known by HTTP 401, with %j', (body) => {
    expect([200, 400, 401, 500].map((status) => deadSessionCode(body, status))).toEqual([
      ...[undefined, undefined, 'http_401', undefined],
    ]);
  });

  it.each<[string, unknown]>([
    ['access that was revoked', { msgCode: 'b_auth_token_expired' }],
    ['what an egress in the place of the gateway says', ofAnEgress],
    ['what a broker says', { type: 'urn:session-broker:problem:unauthenticated', code: 'unauthenticated' }],
  ])('is not %s, even under 401', (_what, body) => {
    expect([200, 401].map((status) => deadSessionCode(body, status))).toEqual([undefined, undefined]);
  });

  it('is not a code further down, in a list or in a text', () => {
    const body = { msgCode: 'b_used_token' };
    expect([{ operation: body }, [body], JSON.stringify(body)].map((each) => deadSessionCode(each))).toEqual([
      ...[undefined, undefined, undefined],
    ]);
  });
});

describe('a request to the gateway for which fetch threw', () => {
  const system = (code: string, syscall?: string): Error => Object.assign(new Error('canary'), { code, syscall });
  const fetchFailed = (cause: unknown): TypeError => new TypeError('fetch failed', { cause });
  const thrownBy = (cause: unknown): Error => {
    try {
      return answerLost(cause);
    } catch (error) {
      return error as Error;
    }
  };

  it.each<[string, unknown]>(
    [
      ...['ERR_INVALID_URL', 'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED'],
      ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE'],
    ].map((code): [string, unknown] => [code, fetchFailed(system(code))]),
  )('was not sent: %s', (code, cause) => {
    expect(thrownBy(cause)).toMatchObject({ name: 'GatewayUnreachable', code: 'gateway_unreachable', cause });
    expect(thrownBy(cause).message).toContain(`cannot be reached: ${code}. The request was not sent`);
  });

  it.each<[string, unknown]>([
    ['one address', system('EHOSTUNREACH', 'connect')],
    ['any address', new AggregateError([system('ETIMEDOUT', 'connect'), system('ENETUNREACH', 'connect')])],
  ])('was not sent where the system could not connect to %s', (_what, cause) => {
    expect(thrownBy(fetchFailed(cause))).toBeInstanceOf(GatewayUnreachable);
  });

  const ofItself = new Error('canary');
  ofItself.cause = ofItself;
  const mixed = new AggregateError([system('ECONNREFUSED', 'connect'), system('ECONNRESET', 'read')]);

  it.each<[string, unknown, string, string]>([
    ['a connection that broke', fetchFailed(system('ECONNRESET', 'read')), 'answer_lost', 'used: ECONNRESET. Nobody'],
    ['one address refused and one that broke', fetchFailed(mixed), 'answer_lost', 'used. Nobody'],
    ['a port that fetch never asks', fetchFailed(new Error('bad port')), 'answer_lost', 'used. Nobody'],
    ['a time-out', new DOMException('canary', 'TimeoutError'), 'answer_late', 'used: TimeoutError. Nobody'],
    ["undici's own", fetchFailed(system('UND_ERR_HEADERS_TIMEOUT')), 'answer_late', 'UND_ERR_HEADERS_TIMEOUT. Nobody'],
    ['an abort', new DOMException('canary', 'AbortError'), 'answer_lost', 'used: AbortError. Nobody'],
    ['an error that is its own cause', ofItself, 'answer_lost', 'used. Nobody'],
    ['what is no error', 'canary', 'answer_lost', 'used. Nobody'],
    ['nothing', undefined, 'answer_lost', 'used. Nobody'],
  ])('is one of which nobody knows after %s', (...[, cause, code, says]) => {
    const failure = thrownBy(cause);
    expect(failure).toMatchObject({ name: 'AnswerLost', code, message: expect.stringContaining(says) });
    expect(failure.cause).toBe(cause);
    expect(failure.message).not.toContain('canary');
  });

  it('is what this package has said already', () => {
    const said = new AnswerUnopened('answer_unopened', 'x');
    expect(thrownBy(said)).toBe(said);
  });
});
