import { endedAfterAll, eventually } from '#libs/testing';
import { GuidePrograms } from './guide-programs.js';
import { RunningBroker, TOKENS } from './running-broker.js';

/** The way of each guide; other languages, and what each program says of failures, are asked by `verify`. */
describe('the programs of the guides', () => {
  let programs: GuidePrograms;
  let broker: RunningBroker;
  let env: Readonly<Record<string, string>>;

  const started = endedAfterAll();
  beforeAll(async () => {
    programs = started.add(await GuidePrograms.copied(), (it) => it.remove());
    const merchant = { supersedes: true, lifetimeMs: 3_600_000 };
    broker = started.add(await RunningBroker.start({ merchant, timeout: '60s' }), (it) => it.close());
    await eventually(async () => (await broker.get('/v1/merchants/shop/session')).ok);
    env = {
      BROKER_URL: broker.url,
      BROKER_TOKEN: TOKENS.payments,
      GATEWAY_URL: broker.sandboxUrl,
      MERCHANT_ID: 'terminal-1',
    };
  });

  const newOrder = async (more: Readonly<Record<string, string>> = {}): Promise<string> => {
    const printed = await programs.output('hosted-page', 'ts', { ...env, ...more });
    expect(printed).toMatch(/^send the customer to http\S+\norder \S+ is CREATED with 0 operations\n$/);
    return /order (\S+) is/.exec(printed)?.[1] ?? '';
  };
  const paid = async (order: string): Promise<Readonly<Record<'operationId' | 'ecomOperationId', string>>> =>
    (await broker.control('POST', `/orders/${order}/pay`, {})) as Record<'operationId' | 'ecomOperationId', string>;

  it('tell of a payment on the hosted page once it is paid', async () => {
    const receiver = await programs.start('notifications', 'ts', env);
    try {
      const port = receiver.lines[0]?.replace('port ', '') ?? '';
      const order = await newOrder({ NOTIFICATION_URL: `http://127.0.0.1:${port}/notifications` });
      const { ecomOperationId } = await paid(order);
      await eventually(() => receiver.lines.length > 1);
      expect(receiver.lines[1]).toBe(`hosted_page ${ecomOperationId} is SUCCESS`);
    } finally {
      await receiver.end();
    }
  });

  it('give back what was paid', async () => {
    const { operationId: OPERATION_ID } = await paid(await newOrder());
    const printed = await programs.output('refund', 'ts', { ...env, OPERATION_ID });
    expect(printed).toMatch(/^refund \S+ is PENDING\n$/);
  });

  it('give back through a merchant SDK though the session is dead, sealed anew, at one create call', async () => {
    const { operationId: OPERATION_ID } = await paid(await newOrder());
    const before = await broker.createCalls();
    await broker.control('DELETE', '/sessions?merchant=shop&msgCode=b_session_doesnt_exist');
    const printed = await programs.output('merchant-sdk', 'ts', { ...env, OPERATION_ID });
    expect(printed).toMatch(/^refund \S+ is PENDING\n$/);
    expect(await broker.createCalls()).toBe(before + 1);
  });
});
