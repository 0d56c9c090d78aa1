import { endedAfterEach, eventually } from '../../../testing/src/index.js';
import { BrokerUnavailable, Forbidden, RequestRefused } from '../errors.js';
import type { SessionBrokerOptions } from '../options.js';
import { SessionBroker } from '../session-broker.js';
import { FakeBroker } from './fake-broker.js';
import { FakeGateway } from './fake-gateway.js';
import { aNotification } from './fixtures.js';

describe('the fake broker', () => {
  let fake: FakeBroker;

  const started = endedAfterEach();
  beforeEach(async () => {
    fake = started.add(await FakeBroker.start(), (it) => it.close());
  });
  const client = (options: Partial<SessionBrokerOptions> = {}): SessionBroker =>
    started.add(new SessionBroker({ ...fake.options, ...options }), (it) => it.close());
  const asked = (): string[] => fake.requests.map(({ route }) => route);

  it('gives its session, keeps what was asked, and tells of the next one', async () => {
    const broker = client();
    expect(await broker.session()).toEqual(fake.session);
    await eventually(() => asked().length === 2);
    const { generation } = await fake.renew();
    await eventually(() => broker.current()?.generation === generation);
    expect(asked()).toEqual(['read', 'events']);
    expect(fake.requests[0]).toMatchObject({ route: 'read', path: '/v1/merchants/shop/session' });
  });

  it('opens notifications, sealed and not', async () => {
    const broker = client();
    const content = aNotification();
    const sealed = { headers: { 'x-encrypted_body': 'true' }, body: await fake.sealedAnswer(content) };
    expect(await broker.openNotification(sealed)).toEqual({
      kind: 'hosted_page',
      sealed: true,
      content,
    });
    const clear = { headers: {}, body: JSON.stringify(content) };
    expect(await broker.openNotification(clear)).toMatchObject({ sealed: false });
    await expect(broker.openNotification({ headers: {}, body: 'x' })).rejects.toThrow(RequestRefused);
  });

  it.each<[string, Parameters<FakeBroker['fail']>[0]['with'], new (...parts: never[]) => Error]>([
    ['a status', { status: 403, code: 'forbidden' }, Forbidden],
    ['a time to come back', { status: 503, code: 'overloaded', retryAfterS: 60 }, BrokerUnavailable],
    ['a connection that breaks', 'disconnect', BrokerUnavailable],
    ['silence', 'silence', BrokerUnavailable],
  ])('fails on request, with %s, until it recovers', async (_what, how, kind) => {
    fake.fail({ route: 'read', with: how, times: Infinity });
    const broker = client({ timeoutMs: 1_500 });
    await expect(broker.session()).rejects.toThrow(kind);
    fake.recover();
    await eventually(async () => (await broker.session().catch(() => undefined))?.generation === 1);
  });

  it('fails as often as it was asked to', async () => {
    fake.fail({ with: { status: 500, code: 'internal_error' }, times: 2 });
    expect((await client().session()).generation).toBe(1);
    expect(asked().filter((route) => route === 'read')).toHaveLength(3);
  });

  it('has none to serve when that was asked for', async () => {
    fake.endSession();
    await expect(client({ timeoutMs: 900, follow: 'none' }).session()).rejects.toMatchObject({
      code: 'session_unavailable',
      retryAfterMs: 1_000,
    });
  });

  it('lets streams be dropped, which are opened again', async () => {
    await client({ random: () => 0.01 }).session();
    await eventually(() => asked().length === 2);
    fake.dropStreams();
    await eventually(() => asked().length > 2);
  });
});

describe('the fake gateway', () => {
  const REFUND = '/ecom/execute_request/payments/v3/refund';
  const LOOK_UP = '/ecom/execute_request/payments/v1/operation/by_merchant_request_id';
  let fake: FakeBroker;
  let gateway: FakeGateway;
  let broker: SessionBroker;

  const started = endedAfterEach();
  beforeEach(async () => {
    fake = started.add(await FakeBroker.start(), (it) => it.close());
    gateway = started.add(await FakeGateway.start(fake), (it) => it.close());
    const options = { ...fake.options, timeoutMs: 1_000, gateway: { ...gateway.options, timeoutMs: 1_000 } };
    broker = started.add(new SessionBroker(options), (it) => it.close());
  });
  const refund = (): Promise<unknown> => broker.fetch(REFUND, { sealed: { merchantRequestId: 'r-1' } });

  it('takes a refund that is sealed to its session, answers it sealed, and tells what became of it', async () => {
    gateway.on(REFUND, ({ sent }) => ({ ...sent, status: 'PENDING' }));
    gateway.on(LOOK_UP, ({ sent }) => ({ ...sent, status: 'SUCCESS' }));
    expect(await refund()).toEqual({ merchantRequestId: 'r-1', status: 'PENDING' });
    const sent = { merchantRequestId: 'r-1' };
    expect(gateway.requests).toEqual([{ path: REFUND, sent, isSealed: true, generation: 1 }]);
    expect(await broker.lookUp('r-1')).toEqual({ found: true, operation: { ...sent, status: 'SUCCESS' } });
    gateway.on(LOOK_UP, () => Response.json({ msgCode: 'payment_operation_not_found' }, { status: 404 }));
    expect(await broker.lookUp('r-1')).toEqual({ found: false });
  });

  it('answers in clear what comes in clear', async () => {
    gateway.on('/order', () => ({ hppOrderId: 'o-1' }));
    expect(await broker.fetch('/order', { json: { coinAmount: 5 } })).toEqual({ hppOrderId: 'o-1' });
  });

  it('refuses a session that was ended, or that the broker has replaced, until the newer one comes', async () => {
    gateway.on(REFUND, () => ({ status: 'PENDING' }));
    await broker.session();
    gateway.endSession('b_used_token');
    await refund();
    expect(gateway.requests.map(({ generation }) => generation)).toEqual([2]);
    expect(fake.rejections).toEqual([{ generation: 1, reason: 'b_used_token' }]);
  });

  it.each([
    ['a refusal', { msgCode: 'b_terminal_not_found' }, 'b_terminal_not_found'],
    ['a page', new Response('<html>', { status: 502 }), 'answer_unusable'],
    ['a connection that breaks', 'disconnect' as const, 'answer_lost'],
    ['silence', 'silence' as const, 'answer_late'],
  ])('fails as it is scripted to: %s', async (_what, outcome, code) => {
    gateway.on(REFUND, () => outcome);
    await expect(refund()).rejects.toMatchObject({ code });
    expect(gateway.requests).toHaveLength(1);
  });

  it('has no operation that is not scripted, and reads nothing that is sealed to another key', async () => {
    await expect(refund()).rejects.toMatchObject({ code: 'answer_unusable', message: expect.stringContaining('404') });
    gateway.on(REFUND, () => ({}));
    const { deviceId } = await broker.session();
    const headers = { 'content-type': 'text/plain', 'x-device_id': deviceId };
    const answer = await fetch(gateway.options.url + REFUND, { method: 'POST', headers, body: 'a.b.c.d.e' });
    expect(await answer.json()).toMatchObject({ msgCode: 'b_encryptor_failed_decrypt_message' });
  });
});
