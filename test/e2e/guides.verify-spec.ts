import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWith, endedAfterAll, endedAfterEach, eventually, freePort } from '#libs/testing';
import { RunningEgress } from '../egress/running-egress.js';
import { type Guide, GuidePrograms, type Language } from './guide-programs.js';
import { RunningBroker, TOKENS } from './running-broker.js';

/** A caller whose payments are sent, but whose answers the broker does not open. */
const MAY_SEAL = '  - { caller: checkout, merchants: [shop], allow: [session:reject, payload:encrypt] }';
/** No session ends by itself while a program runs. */
const PATIENT = { merchant: { supersedes: true, lifetimeMs: 3_600_000 }, timeout: '60s' };
const LANGUAGES: readonly Language[] = ['ts', 'python', 'sh'];
/** All guides that pay with the session. */
const PAYING = (['hosted-page', 'refund'] as const).flatMap((guide) =>
  LANGUAGES.map((language): [Guide, Language] => [guide, language]),
);

interface Operation {
  readonly operationId: string;
  readonly ecomOperationId: string;
}

describeWith(['curl', 'jq', 'python3'], 'every program of the guides, at the sandbox', () => {
  let programs: GuidePrograms;
  let broker: RunningBroker;
  let env: Readonly<Record<string, string>>;

  const started = endedAfterAll();
  beforeAll(async () => {
    programs = started.add(await GuidePrograms.copied(), (it) => it.remove());
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
  const newOrder = async (language: Language, more: Readonly<Record<string, string>> = {}): Promise<string> => {
    const printed = await programs.output('hosted-page', language, { ...env, ...more });
    expect(printed).toMatch(/^send the customer to http\S+\norder \S+ is CREATED with 0 operations\n$/);
    return /order (\S+) is/.exec(printed)?.[1] ?? '';
  };
  const pay = async (order: string): Promise<Operation> =>
    (await broker.control('POST', `/orders/${order}/pay`, {})) as Operation;
  const paidOnce = async (): Promise<string> => (await pay(await newOrder('sh'))).operationId;

  it('compile in TypeScript under the strictest settings', async () => {
    expect(await programs.compilerFaults()).toBe('');
  });

  it.each<[Guide, Language, RegExp]>([
    ['hosted-page', 'ts', /Unauthenticated: The broker does not accept the credential \(401\)/],
    ['hosted-page', 'python', /^the broker refuses \/session: 401 unauthenticated/m],
    ['hosted-page', 'sh', /^the broker refuses \/session: .*"unauthenticated"/m],
    ['refund', 'python', /^the broker refuses \/session: 401 unauthenticated/m],
    ['refund', 'sh', /^the broker refuses \/session: .*"unauthenticated"/m],
    ['notifications', 'sh', /^the broker refuses \/notifications\/open: .*"unauthenticated"/m],
  ])('say that it is the broker who refuses a token: %s, %s', async (guide, language, says) => {
    const file = join(broker.folder, 'notification');
    await writeFile(file, '{}');
    const wanted = { ...env, BROKER_TOKEN: 'another', OPERATION_ID: randomUUID(), NOTIFICATION_FILE: file };
    await expect(programs.output(guide, language, wanted)).rejects.toThrow(says);
  });

  it.each<[Guide, string]>([
    ['hosted-page', 'BROKER_URL'],
    ['hosted-page', 'GATEWAY_URL'],
    ['refund', 'BROKER_URL'],
    ['refund', 'GATEWAY_URL'],
    ['notifications', 'BROKER_URL'],
  ])('name what is empty: %s, %s', async (guide, name) => {
    const wanted = { ...env, [name]: '', OPERATION_ID: randomUUID(), NOTIFICATION_FILE: '/dev/null' };
    for (const language of ['python', 'sh'] as const) {
      await expect(programs.output(guide, language, wanted)).rejects.toThrow(`set ${name}: it begins with http://`);
    }
  });

  it.each<[Guide, Language]>([
    ['hosted-page', 'python'],
    ['hosted-page', 'sh'],
    ['refund', 'python'],
    ['refund', 'sh'],
    ['notifications', 'python'],
    ['notifications', 'sh'],
  ])('print no token that has a line break within: %s, %s', async (guide, language) => {
    const wanted = { ...env, OPERATION_ID: randomUUID(), NOTIFICATION_FILE: '/dev/null' };
    for (const BROKER_TOKEN of ['canary\nof-a-token', '']) {
      const printing = programs.output(guide, language, { ...wanted, BROKER_TOKEN });
      await expect(printing).rejects.toThrow(/^set BROKER_TOKEN: /m);
      await expect(printing).rejects.not.toThrow('canary');
    }
  });

  it.each<Language>(['python', 'sh'])('take a token with a line break at its end: %s', async (language) => {
    const BROKER_TOKEN = `${TOKENS.payments}\n`;
    await newOrder(language, { BROKER_TOKEN });
    const printed = await programs.output('refund', language, {
      ...env,
      BROKER_TOKEN,
      OPERATION_ID: await paidOnce(),
    });
    expect(printed).toMatch(/^refund \S+ is PENDING\n$/);
  });

  it.each<[Guide, Language, RegExp]>([
    ['hosted-page', 'ts', /GatewayUnreachable: .*cannot be reached: ERR_SSL_WRONG_VERSION_NUMBER.*was not sent/],
    ['hosted-page', 'python', /^it was not sent: .*GATEWAY_URL.*does it begin with http:\/\/\?/m],
    ['hosted-page', 'sh', /^it was not sent: .*GATEWAY_URL.*does it begin with http:\/\/\?/m],
    ['refund', 'python', /^it was not sent: .*GATEWAY_URL.*does it begin with http:\/\/\?/m],
    ['refund', 'sh', /^it was not sent: .*GATEWAY_URL.*does it begin with http:\/\/\?/m],
  ])('say that nothing was sent to a gateway that speaks no TLS: %s, %s', async (guide, language, says) => {
    const GATEWAY_URL = broker.sandboxUrl.replace('http:', 'https:');
    const wanted = { ...env, GATEWAY_URL, OPERATION_ID: randomUUID() };
    await expect(programs.output(guide, language, wanted)).rejects.toThrow(says);
  });

  it.each<[Language, RegExp]>([
    ['ts', /AnswerUnopened: The gateway has answered, so that the bank has the request/],
    ['python', /^the bank HAS the refund, but its answer was not opened: the broker refuses/m],
    ['sh', /^the bank HAS the refund, but its answer was not opened/m],
  ])('say that the bank has a refund whose answer was not opened: %s', async (language, says) => {
    const wanted = { ...env, BROKER_TOKEN: TOKENS.checkout, OPERATION_ID: await paidOnce() };
    await expect(programs.output('refund', language, wanted)).rejects.toThrow(says);
  });

  it.each<[Language, RegExp]>([
    [
      'ts',
      /GatewayUnreachable: The gateway at http:\/\/127\.0\.0\.1:\d+ cannot be reached: ECONNREFUSED\. The request was not sent/,
    ],
    ['python', /^it was not sent: nothing answers at GATEWAY_URL that is trusted: .*refused; it may be sent again/m],
    ['sh', /^it was not sent: nothing answers at GATEWAY_URL that is trusted; it may be sent again/m],
  ])('say that a refund was not sent when no gateway listens: %s', async (language, says) => {
    const wanted = { ...env, GATEWAY_URL: `http://127.0.0.1:${await freePort()}`, OPERATION_ID: randomUUID() };
    await expect(programs.output('refund', language, wanted)).rejects.toThrow(says);
  });

  it.each<[Language, RegExp]>([
    [
      'ts',
      /GatewayUnreachable: The gateway at http:\/\/127\.0\.0\.1:\d+ cannot be reached: ECONNREFUSED\. The request was not sent/,
    ],
    ['python', /^it was not sent: nothing answers at GATEWAY_URL/m],
    ['sh', /^it was not sent: nothing answers at GATEWAY_URL/m],
  ])('say that an order was not sent when no gateway listens: %s', async (language, says) => {
    const wanted = { ...env, GATEWAY_URL: `http://127.0.0.1:${await freePort()}` };
    await expect(programs.output('hosted-page', language, wanted)).rejects.toThrow(says);
  });

  it.each(LANGUAGES)('send an order again under the id that they are given: %s', async (language) => {
    const MERCHANT_REQUEST_ID = randomUUID();
    await newOrder(language, { MERCHANT_REQUEST_ID });
    const again = programs.output('hosted-page', language, { ...env, MERCHANT_REQUEST_ID });
    await expect(again).rejects.toThrow(/: 400 b_duplicate_field_value/);
    await expect(again).rejects.toThrow(`sending the order ${MERCHANT_REQUEST_ID}\n`);
  });

  it('say with which msgCode the bank refuses what a merchant SDK wants', async () => {
    const wanted = { ...env, OPERATION_ID: randomUUID() };
    await expect(programs.output('merchant-sdk', 'ts', wanted)).rejects.toThrow(/"msgCode":"b_/);
  });

  it('say that a refund of a merchant SDK was not sent when no gateway listens', async () => {
    const wanted = { ...env, GATEWAY_URL: `http://127.0.0.1:${await freePort()}`, OPERATION_ID: randomUUID() };
    await expect(programs.output('merchant-sdk', 'ts', wanted)).rejects.toThrow(
      /GatewayUnreachable: The gateway cannot be reached: ECONNREFUSED/,
    );
  });

  it('say that the bank has a refund of a merchant SDK whose answer was not opened', async () => {
    const wanted = { ...env, BROKER_TOKEN: TOKENS.checkout, OPERATION_ID: await paidOnce() };
    await expect(programs.output('merchant-sdk', 'ts', wanted)).rejects.toThrow(
      /\nAnswerUnopened: The gateway has answered/,
    );
  });

  it('name a refund of a merchant SDK before it is sent, so that it can be found after a failure', async () => {
    const MERCHANT_REQUEST_ID = randomUUID();
    const wanted = { ...env, MERCHANT_REQUEST_ID, OPERATION_ID: randomUUID() };
    await expect(programs.output('merchant-sdk', 'ts', wanted)).rejects.toThrow(
      `sending the refund ${MERCHANT_REQUEST_ID}\n`,
    );
    const { MERCHANT_REQUEST_ID: _given, ...unnamed } = wanted;
    await expect(programs.output('merchant-sdk', 'ts', unnamed)).rejects.toThrow(/sending the refund [0-9a-f-]{36}\n/);
  });

  it('name the URL at which no broker gives a merchant SDK its client key', async () => {
    const BROKER_URL = `http://127.0.0.1:${await freePort()}`;
    await expect(
      programs.output('merchant-sdk', 'ts', { ...env, BROKER_URL, OPERATION_ID: randomUUID() }),
    ).rejects.toThrow(`no client key: no broker answers at BROKER_URL (${BROKER_URL}); nothing was sent to the bank`);
  });

  it('say why the broker gives a merchant SDK no client key', async () => {
    const wanted = { ...env, BROKER_TOKEN: 'another', OPERATION_ID: randomUUID() };
    await expect(programs.output('merchant-sdk', 'ts', wanted)).rejects.toThrow(
      /no client key: 401 .*"unauthenticated"/,
    );
  });

  it.each<Language>(['ts', 'python'])('receive notifications, sealed or not: %s', async (language) => {
    const receiver = await programs.start('notifications', language, env);
    try {
      const port = receiver.lines[0]?.replace('port ', '') ?? '';
      const url = `http://127.0.0.1:${port}/notifications`;
      const { ecomOperationId } = await pay(await newOrder('sh', { NOTIFICATION_URL: url }));
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

    it.each(LANGUAGES)('create an order on the hosted page: %s', async (language) => {
      await newOrder(language);
      expect(await broker.createCalls()).toBe(2);
    });

    it.each(LANGUAGES)('create an order when the session is dead, once: %s', async (language) => {
      await endSession();
      await newOrder(language);
      expect(await broker.createCalls()).toBe(3);
    });

    it.each(LANGUAGES)('give back what was paid: %s', async (language) => {
      const printed = await programs.output('refund', language, { ...env, OPERATION_ID: await paidOnce() });
      expect(printed).toMatch(/^refund \S+ is PENDING\n$/);
      expect(await broker.createCalls()).toBe(2);
    });

    it.each(LANGUAGES)('give back what was paid when the session is dead, sealed anew: %s', async (language) => {
      const operationId = await paidOnce();
      await endSession();
      const printed = await programs.output('refund', language, { ...env, OPERATION_ID: operationId });
      expect(printed).toMatch(/^refund \S+ is PENDING\n$/);
      expect(await broker.createCalls()).toBe(3);
    });

    it('send nothing when the broker seals nothing: sh', async () => {
      const wanted = { ...env, BROKER_TOKEN: TOKENS.admin, OPERATION_ID: randomUUID() };
      await expect(programs.output('refund', 'sh', wanted)).rejects.toThrow(
        /the broker refuses \/payloads\/encrypt: .*"forbidden"/,
      );
      expect(await broker.control('GET', '/calls?operation=refund')).toMatchObject({ matching: 0 });
    });

    it.each(PAYING)(
      'report no session when an egress or a broker answers at GATEWAY_URL: %s, %s',
      async (guide, language) => {
        const asked = { url: broker.url, token: TOKENS.payments };
        const egress = await RunningEgress.start({ broker: asked, gatewayUrl: broker.sandboxUrl });
        ofEach.add(egress, (it) => it.close());
        for (const GATEWAY_URL of [egress.url, broker.url]) {
          const wanted = { ...env, GATEWAY_URL, OPERATION_ID: randomUUID() };
          await expect(programs.output(guide, language, wanted)).rejects.toThrow(/an egress.* no gateway.* sent/);
        }
        expect(await broker.createCalls()).toBe(2);
        expect(broker.lines.filter((line) => line.includes('a consumer reports'))).toEqual([]);
      },
    );

    it.each(['alive', 'dead'])('give back through a merchant SDK when the session is %s', async (state) => {
      const operationId = await paidOnce();
      if (state === 'dead') await endSession();
      const printed = await programs.output('merchant-sdk', 'ts', { ...env, OPERATION_ID: operationId });
      expect(printed).toMatch(/^refund \S+ is PENDING\n$/);
      expect(await broker.createCalls()).toBe(state === 'dead' ? 3 : 2);
    });
  });
});
