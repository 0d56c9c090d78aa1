import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWith, endedAfterAll, endedAfterEach, eventually, freePort, LoopbackServer } from '#libs/testing';
import { type Answer, dead, json, page, serverPublic, session } from './guide-answers.js';
import { type Guide, GuidePrograms, type Language } from './guide-programs.js';
import { RunningBroker, TOKENS } from './running-broker.js';

/** A caller whose payments are sent, but whose answers the broker does not open. */
const MAY_SEAL = '  - { caller: checkout, merchants: [shop], allow: [session:reject, payload:encrypt] }';
/** No session ends by itself while a program runs. */
const PATIENT = { merchant: { supersedes: true, lifetimeMs: 3_600_000 }, timeout: '60s' };
const ORDER = { hppOrderId: 'order-of-the-bank', orderStatus: 'CREATED', redirectUrl: 'https://bank.example/pay' };

type Environment = Readonly<Record<string, string>>;

const theirs = endedAfterAll();
let programs: GuidePrograms;

beforeAll(async () => {
  programs = theirs.add(await GuidePrograms.copied(), (it) => it.remove());
});

describeWith(['curl', 'python3'], 'every program of the guides, at the sandbox', () => {
  let broker: RunningBroker;
  let env: Environment;

  const started = endedAfterAll();
  beforeAll(async () => {
    use(started.add(await brokerWithSession(), (it) => it.close()));
  });

  async function brokerWithSession(): Promise<RunningBroker> {
    const own = await RunningBroker.start({ ...PATIENT, auth: [MAY_SEAL] });
    await own.get('/v1/merchants/shop/session', { prefer: 'wait=5' });
    return own;
  }

  function use(running: RunningBroker): void {
    broker = running;
    env = {
      BROKER_URL: broker.url,
      BROKER_TOKEN: TOKENS.payments,
      GATEWAY_URL: broker.sandboxUrl,
      MERCHANT_ID: 'terminal-1',
    };
  }

  const endSession = (): Promise<unknown> =>
    broker.control('DELETE', '/sessions?merchant=shop&msgCode=b_session_doesnt_exist');
  const newOrder = async (more: Environment = {}): Promise<string> => {
    const printed = await programs.output('hosted-page', 'ts', { ...env, ...more });
    expect(printed).toMatch(/^send the customer to http\S+\norder \S+ is CREATED with 0 operations\n$/);
    return /order (\S+) is/.exec(printed)?.[1] ?? '';
  };
  const pay = async (order: string): Promise<Readonly<Record<'operationId' | 'ecomOperationId', string>>> =>
    (await broker.control('POST', `/orders/${order}/pay`, {})) as Record<'operationId' | 'ecomOperationId', string>;
  const paidOnce = async (): Promise<string> => (await pay(await newOrder())).operationId;

  it('compile in TypeScript under the strictest settings', async () => {
    expect(await programs.compilerFaults()).toBe('');
  });

  it('send an order again under the id that they are given', async () => {
    const MERCHANT_REQUEST_ID = randomUUID();
    await newOrder({ MERCHANT_REQUEST_ID });
    const again = programs.output('hosted-page', 'ts', { ...env, MERCHANT_REQUEST_ID });
    await expect(again).rejects.toThrow(/: 400 b_duplicate_field_value/);
    await expect(again).rejects.toThrow(`sending the order ${MERCHANT_REQUEST_ID}\n`);
  });

  it.each<[string, () => Promise<Environment>, RegExp | string]>([
    [
      'no gateway listens',
      async () => ({ GATEWAY_URL: `http://127.0.0.1:${await freePort()}` }),
      /GatewayUnreachable: The gateway cannot be reached: ECONNREFUSED/,
    ],
    [
      'its answer is not opened',
      async () => ({ BROKER_TOKEN: TOKENS.checkout, OPERATION_ID: await paidOnce() }),
      /\nAnswerUnopened: The gateway has answered/,
    ],
    [
      'no broker listens',
      async () => ({ BROKER_URL: `http://127.0.0.1:${await freePort()}` }),
      /no client key: no broker answers at BROKER_URL \(http:\S+\); nothing was sent to the bank/,
    ],
    ['it was named', async () => ({ MERCHANT_REQUEST_ID: 'of-a-shop' }), 'sending the refund of-a-shop\n'],
  ])('say what became of a refund of a merchant SDK when %s', async (_what, variables, says) => {
    const wanted = { ...env, OPERATION_ID: randomUUID(), ...(await variables()) };
    await expect(programs.output('merchant-sdk', 'ts', wanted)).rejects.toThrow(says);
  });

  it('receive notifications, sealed or not: python', async () => {
    const receiver = await programs.start('notifications', 'python', env);
    try {
      const port = receiver.lines[0]?.replace('port ', '') ?? '';
      const url = `http://127.0.0.1:${port}/notifications`;
      const { ecomOperationId } = await pay(await newOrder({ NOTIFICATION_URL: url }));
      await eventually(() => receiver.lines.length > 1);
      expect(receiver.lines[1]).toBe(`hosted_page ${ecomOperationId} is SUCCESS`);
      expect((await fetch(url, { method: 'POST', body: 'no notification' })).status).toBe(400);
    } finally {
      await receiver.end();
    }
  });

  it.each<Language>(['ts', 'python'])('acknowledge no notification while no broker listens: %s', async (language) => {
    const wanted = { ...env, BROKER_URL: `http://127.0.0.1:${await freePort()}` };
    const receiver = await programs.start('notifications', language, wanted);
    try {
      const url = `http://127.0.0.1:${receiver.lines[0]?.replace('port ', '')}/`;
      expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(503);
      await eventually(() => receiver.lines.length > 1);
      expect(receiver.lines[1]).toMatch(/^not opened: .*refused/i);
    } finally {
      await receiver.end();
    }
  });

  it('open a notification that was kept: sh', async () => {
    const operation = { type: 'PURCHASE', coinAmount: 1, merchantId: 'm', ecomOperationId: 'kept-1', status: 'FAIL' };
    const order = { ecomOrderId: 'o', coinAmount: 1, merchantId: 'm', hppOrderId: 'h', merchantRequestId: 'r' };
    const file = join(broker.folder, 'notification');
    await writeFile(file, JSON.stringify({ ...order, orderStatus: 'FAIL', operation }));
    const printed = await programs.output('notifications', 'sh', { ...env, NOTIFICATION_FILE: file });
    expect(printed).toBe('hosted_page kept-1 is FAIL\n');
    const refused = programs.output('notifications', 'sh', {
      ...env,
      BROKER_TOKEN: 'another',
      NOTIFICATION_FILE: file,
    });
    await expect(refused).rejects.toThrow(/^the broker refuses \/notifications\/open: .*"unauthenticated"/m);
  });

  it.each<Language>(['python', 'sh'])('print no token that is none: notifications, %s', async (language) => {
    for (const BROKER_TOKEN of ['canary\nof-a-token', '']) {
      const printing = programs.output('notifications', language, {
        ...env,
        BROKER_TOKEN,
        NOTIFICATION_FILE: '/dev/null',
      });
      await expect(printing).rejects.toThrow(/^set BROKER_TOKEN: /m);
      await expect(printing).rejects.not.toThrow('canary');
    }
  });

  /** Calls are counted, and sessions are replaced for a rejection only once in ten seconds. */
  describe('each with a broker of its own', () => {
    const ofEach = endedAfterEach();
    let shared: RunningBroker;
    beforeEach(async () => {
      shared = broker;
      use(ofEach.add(await brokerWithSession(), (it) => it.close()));
    });
    afterEach(() => use(shared));

    it('create an order when the session is dead, once', async () => {
      await endSession();
      await newOrder();
      expect(await broker.createCalls()).toBe(3);
    });

    it('give back what was paid when the session is dead, sealed anew', async () => {
      const operationId = await paidOnce();
      await endSession();
      const printed = await programs.output('refund', 'ts', { ...env, OPERATION_ID: operationId });
      expect(printed).toMatch(/^refund \S+ is PENDING\n$/);
      expect(await broker.createCalls()).toBe(3);
    });
  });
});

describeWith(['python3'], 'the programs of the guides, when something fails', () => {
  let broker: LoopbackServer;
  let gateway: LoopbackServer;
  let env: Environment;
  /** By the end of the path: what the broker or the gateway answers. */
  let answers: Record<string, Answer>;

  const ofEach = endedAfterEach();
  beforeEach(async () => {
    answers = {
      '/client-key': json(200, { jwk: serverPublic }),
      '/session': session(1),
      '/session/rejections': session(2),
      '/create-order': json(200, ORDER),
    };
    broker = ofEach.add(await LoopbackServer.http(answer), (it) => it.close());
    gateway = ofEach.add(await LoopbackServer.http(answer), (it) => it.close());
    env = {
      BROKER_URL: `http://127.0.0.1:${broker.port}`,
      BROKER_TOKEN: 'token',
      GATEWAY_URL: `http://127.0.0.1:${gateway.port}`,
      MERCHANT_ID: 'terminal-1',
      OPERATION_ID: randomUUID(),
    };
  });

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const found = Object.keys(answers).find((path) => request.url?.endsWith(path));
    request.resume();
    void once(request, 'end').then(() => (found === undefined ? page(404) : answers[found]!)(response));
  }

  /** What a program says about its failure. */
  async function failure(guide: Guide, more: Environment = {}): Promise<string> {
    const failed = await programs.output(guide, 'ts', { ...env, ...more }).catch((error: unknown) => error);
    expect(failed).toHaveProperty('stderr');
    return (failed as { stderr: string }).stderr;
  }

  it('say that there is nowhere to send the customer to', async () => {
    for (const redirectUrl of [undefined, null, '']) {
      answers['/create-order'] = json(200, { ...ORDER, redirectUrl });
      const said = await failure('hosted-page');
      expect(said).toMatch(/the bank HAS the order order-of-the-bank, but names no redirectUrl .*ask the bank/);
    }
  });

  it('say that nobody knows whether the bank has an order that it does not name', async () => {
    answers['/create-order'] = json(200, { ...ORDER, hppOrderId: '' });
    expect(await failure('hosted-page')).toMatch(/No hppOrderId: nobody knows whether the bank has the order/);
  });

  it('say that the bank has the order when only the question what became of it fails', async () => {
    answers['/operations'] = json(500, { msgCode: 'b_unknown_error' });
    const says = /the bank HAS the order order-of-the-bank, and only the question .*do not send the order again/;
    expect(await failure('hosted-page')).toMatch(says);
  });

  it.each<[string, Answer]>([
    ['refuses the client key', json(403, { code: 'forbidden', detail: 'ask for the merchant' })],
    ['is a page', page(200)],
  ])('say that a merchant SDK has sent nothing where the broker %s', async (_what, answered) => {
    answers['/client-key'] = answered;
    const said = await failure('merchant-sdk');
    expect(said).toMatch(
      /no client key: (?:403 .*ask for the merchant|200|302).*nothing was sent to the bank, and it may be sent again/,
    );
    expect(said).toContain('are BROKER_URL and BROKER_TOKEN right? Is the merchant called shop there');
    expect(gateway.connections).toBe(0);
  });

  it.each<[string, Answer, RegExp]>([
    [
      'refused as not valid',
      json(400, { msgCode: 'VALIDATION_ERROR' }),
      /\nError: the gateway says to the refund, under 400, .*\[500\].*VALIDATION_ERROR.*: it was refused, while one that was sent before with the same id may be there\n/,
    ],
    [
      'one that the bank has already',
      json(200, { msgCode: 'b_duplicate_field_value' }),
      /\nError: .*b_duplicate.*: the bank has a request with this id already; keep \S+: the notification/,
    ],
    [
      'one without an answer',
      (response) => response.destroy(),
      /\nAnswerLost: .*what became of it; it is [\w-]{36}; does GATEWAY_URL begin with https:\/\/\?\n/,
    ],
    [
      'one whose sessions are both rejected',
      dead,
      /\nSessionRejected: The gateway rejected the session twice.*\(b_session_doesnt_exist\)[^]*\[cause\]: SdkError: /,
    ],
  ])('say of a refund of a merchant SDK that it is %s', async (_what, answered, says) => {
    answers['/refund'] = answered;
    expect(await failure('merchant-sdk')).toMatch(says);
  });

  it('say that the bank has a refund of a merchant SDK, and quote nothing, when what was opened is no JSON', async () => {
    answers['/refund'] = json(200, { jwe: 'a.b.c.d.e' });
    answers['/payloads/decrypt'] = json(200, { plaintext: 'canary' });
    const said = await failure('merchant-sdk');
    expect(said).toMatch(/\nAnswerUnopened: The gateway has answered, so that the bank has the request, but /);
    expect(said).not.toMatch(/nobody knows|canary/i);
  });

  it.each<[Guide, string, string]>([
    ['merchant-sdk', 'MERCHANT_ID', ' '],
    ['merchant-sdk', 'GATEWAY_URL', 'http://127.0.0.1:99999'],
    ['notifications', 'BROKER_TOKEN', ''],
    ['merchant-sdk', 'BROKER_URL', 'http://127.0.0.1:8080/v1/'],
  ])('name what is not set, or no address: %s, %s, "%s"', async (guide, name, value) => {
    expect(await failure(guide, { [name]: value })).toMatch(new RegExp(`set ${name}: `));
    expect(broker.connections + gateway.connections).toBe(0);
  });

  it('follow no redirect of a broker', async () => {
    const elsewhere = ofEach.add(await LoopbackServer.http(answer), (it) => it.close());
    const location = `http://127.0.0.1:${elsewhere.port}/`;
    const away: Answer = (response) => response.writeHead(302, { location }).end();
    Object.assign(answers, { '/client-key': away, '/session': away, '/notifications/open': away });
    for (const guide of ['hosted-page', 'refund', 'merchant-sdk'] as const) await failure(guide);
    for (const language of ['ts', 'python'] as const) {
      const receiver = await programs.start('notifications', language, env);
      try {
        const url = `http://127.0.0.1:${receiver.lines[0]?.replace('port ', '')}/`;
        expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(503);
      } finally {
        await receiver.end();
      }
    }
    expect(elsewhere.connections).toBe(0);
  });
});
