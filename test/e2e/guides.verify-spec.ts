import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWith, endedAfterAll, endedAfterEach, eventually } from '#libs/testing';
import { RunningEgress } from '../egress/running-egress.js';
import { type Guide, GuidePrograms, type Language } from './guide-programs.js';
import { RunningBroker, TOKENS } from './running-broker.js';

/** No session ends by itself while a program runs. */
const PATIENT = { merchant: { supersedes: true, lifetimeMs: 3_600_000 }, timeout: '60s' };
/** Those in TypeScript send by the client package, whose own tests have that; what is theirs is in guides.e2e-spec.ts. */
const LANGUAGES: readonly Language[] = ['python', 'sh'];
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
    const own = await RunningBroker.start(PATIENT);
    await own.get('/v1/merchants/shop/session', { prefer: 'wait=5' });
    return own;
  }

  function use(running: RunningBroker): void {
    broker = running;
    env = {
      BROKER_URL: broker.url,
      // A variable may end in a line break.
      BROKER_TOKEN: `${TOKENS.payments}\n`,
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

  it('receive notifications, sealed or not: python', async () => {
    const receiver = await programs.start('notifications', 'python', env);
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

    it.each(LANGUAGES)(
      'create an order, and one when the session is dead, at one create call: %s',
      async (language) => {
        await newOrder(language);
        expect(await broker.createCalls()).toBe(2);
        await endSession();
        await newOrder(language);
        expect(await broker.createCalls()).toBe(3);
      },
    );

    it.each(LANGUAGES)('give back what was paid, sealed anew when the session is dead: %s', async (language) => {
      const operations = [await paidOnce(), await paidOnce()];
      for (const [index, OPERATION_ID] of operations.entries()) {
        const printed = await programs.output('refund', language, { ...env, OPERATION_ID });
        expect(printed).toMatch(/^refund \S+ is PENDING\n$/);
        expect(await broker.createCalls()).toBe(2 + index);
        await endSession();
      }
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
  });
});
