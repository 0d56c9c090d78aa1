import { endedAfterEach, eventually } from '../../../testing/src/index.js';
import { BrokerUnavailable, Forbidden, RequestRefused, Unauthenticated } from '../errors.js';
import { isDeadSession } from '../dead-session.js';
import type { SessionBrokerOptions } from '../options.js';
import { SessionBroker } from '../session-broker.js';
import { FakeBroker } from './fake-broker.js';
import { aDeadSessionAnswer, aNotification, aSession } from './fixtures.js';

describe('the fake broker', () => {
  let fake: FakeBroker;

  const started = endedAfterEach();
  beforeEach(async () => {
    fake = started.add(await FakeBroker.start(), (it) => it.close());
  });
  const client = (options: Partial<SessionBrokerOptions> = {}): SessionBroker =>
    started.add(new SessionBroker({ ...fake.options, ...options }), (it) => it.close());

  it('gives its session, counts who asked, and tells of the next one', async () => {
    const broker = client();
    expect(await broker.session()).toEqual(fake.session);
    await eventually(() => fake.counts.events === 1);
    const { generation } = await fake.renew();
    await eventually(() => broker.current()?.generation === generation);
    expect(fake.counts).toMatchObject({ read: 1, events: 1, rejections: 0 });
    expect(fake.requests[0]).toMatchObject({ route: 'read', path: '/v1/merchants/shop/session' });
  });

  it('tells by long poll, too', async () => {
    const broker = client({ follow: 'poll' });
    await broker.session();
    await eventually(() => fake.counts.read === 2);
    const { generation } = await fake.renew();
    await eventually(() => broker.current()?.generation === generation);
  });

  it('replaces a session that is rejected, and keeps what was said', async () => {
    const seen: number[] = [];
    await client().withSession(({ generation }) => {
      seen.push(generation);
      if (generation === 1) throw Object.assign(new Error('dead'), { response: aDeadSessionAnswer() });
    });
    expect(seen).toEqual([1, 2]);
    expect(fake.rejections).toEqual([{ generation: 1, reason: 'b_session_doesnt_exist' }]);
  });

  it('is believed by its clients when it begins again with lower generations', async () => {
    const begunAgain = started.add(await FakeBroker.start(), (it) => it.close());
    await fake.renew();
    let { url } = fake;
    const broker = client({ fetch: (asked, init) => fetch(asked.replace(fake.url, url), init) });
    await broker.session();
    ({ url } = begunAgain);
    const seen: number[] = [];
    await broker.withSession(({ generation }) => {
      seen.push(generation);
      if (generation === 2) throw Object.assign(new Error('dead'), { response: aDeadSessionAnswer() });
    });
    expect([seen, broker.current()?.generation]).toEqual([[2, 1], 1]);
  });

  it('opens what was sealed to its sessions, and what the gateway would answer', async () => {
    const broker = client();
    const { jwe } = await broker.encrypt('{"coinAmount":100}');
    await fake.renew();
    expect(await fake.opened(jwe)).toBe('{"coinAmount":100}');
    expect(await fake.opened('a.b.c.d.e')).toBeUndefined();
    expect(await broker.decryptText(await fake.sealedAnswer({ status: 'PENDING' }))).toBe('{"status":"PENDING"}');
    await expect(broker.decrypt(jwe)).rejects.toMatchObject({ cause: { code: 'jwe_not_opened' } });
    await expect(broker.decrypt('a.b')).rejects.toMatchObject({ cause: { code: 'jwe_malformed' } });
  });

  it('plays a broker that goes away between a payment and the opening of its answer', async () => {
    const broker = client();
    const jwe = await broker.withSession(() => fake.sealedAnswer({ status: 'PENDING' }));
    fake.fail({ route: 'decrypt', with: 'disconnect', times: Infinity });
    await expect(client({ timeoutMs: 1_000 }).decryptText(jwe)).rejects.toMatchObject({
      code: 'answer_unopened',
      cause: expect.any(BrokerUnavailable),
    });
    fake.recover();
    expect(await broker.decryptText(jwe)).toBe('{"status":"PENDING"}');
  });

  it('opens notifications, sealed and not', async () => {
    const broker = client();
    const content = aNotification();
    const sealed = { headers: { 'x-encrypted_body': 'true' }, body: await fake.sealedAnswer(content) };
    expect(await broker.openNotification(sealed)).toEqual({
      kind: 'hosted_page',
      sealed: true,
      repeated: false,
      content,
    });
    const clear = { headers: {}, body: JSON.stringify(content) };
    expect(await broker.openNotification(clear)).toMatchObject({ sealed: false, repeated: true });
    await expect(broker.openNotification({ headers: {}, body: 'x' })).rejects.toThrow(RequestRefused);
  });

  it.each<[string, Parameters<FakeBroker['fail']>[0]['with'], new (...parts: never[]) => Error]>([
    ['a status', { status: 403, code: 'forbidden' }, Forbidden],
    ['another status', { status: 401, code: 'unauthenticated' }, Unauthenticated],
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
    expect(fake.counts.read).toBe(3);
  });

  it.each<[string, object, string]>([
    ['a route that is none', { route: 'reads', with: 'silence' }, 'There is no route "reads": there are read, '],
    ['another name', { rotue: 'read', with: 'silence' }, 'There is no option "rotue": there are route'],
    ['another way to fail', { with: 'disconect' }, 'There is no failure "disconect": there are disconnect'],
    ['no way to fail', {}, "with must be { status, code, retryAfterS }, 'disconnect' or 'silence'"],
    ['nothing', undefined as never, 'The options must be an object'],
    ['another name of a status', { with: { stauts: 503, code: 'overloaded' } }, 'There is no option "stauts"'],
    ['a status that is none', { with: { status: 5030, code: 'overloaded' } }, 'a whole number from 400 to 599'],
    ['success', { with: { status: 200, code: 'overloaded' } }, 'status of a failure must be a whole number from 400'],
    ['no code', { with: { status: 503 } }, 'code must be one of docs/errors.md'],
    [
      'a time that is none',
      { with: { status: 503, code: 'overloaded', retryAfterS: -1 } },
      'retryAfterS must be whole seconds',
    ],
    ['no times', { with: 'silence', times: 0 }, 'times must be a whole number'],
  ])('refuses to fail with %s, which would prove nothing', async (_what, failure, says) => {
    expect(() => fake.fail(failure as never)).toThrow(says);
    expect((await client().session()).generation).toBe(1);
  });

  it.each<[object, string]>([
    [{ lifetime: 5 }, 'There is no option "lifetime": there are merchant, token, lifetimeMs'],
    [{ lifetimeMs: '5' }, 'lifetimeMs must be whole milliseconds'],
    [{ lifetimeMs: Infinity }, 'lifetimeMs must be whole milliseconds'],
    [{ merchant: '' }, 'merchant must be the id of a merchant'],
    [{ token: 'two words' }, 'it has white space or a line break in it'],
    [null as never, 'The options must be an object'],
  ])('refuses to start with %j', async (options, says) => {
    await expect(FakeBroker.start(options as never)).rejects.toThrow(says);
  });

  it('has none to serve when that was asked for, and gives one with more time left', async () => {
    fake.endSession();
    await expect(client({ timeoutMs: 900, follow: 'none' }).session()).rejects.toMatchObject({
      code: 'session_unavailable',
      retryAfterMs: 1_000,
    });
    const short = started.add(await FakeBroker.start({ lifetimeMs: 30_000 }), (it) => it.close());
    const broker = started.add(new SessionBroker({ ...short.options, follow: 'none' }), (it) => it.close());
    expect((await broker.session({ minRemainingMs: 60_000 })).generation).toBe(2);
  });

  it('refuses another token and another merchant', async () => {
    await expect(client({ auth: 'other' }).session()).rejects.toThrow(Unauthenticated);
    await expect(client({ merchant: 'other' }).session()).rejects.toThrow(Forbidden);
  });

  it('lets streams be dropped, which are opened again', async () => {
    await client().session();
    await eventually(() => fake.counts.events === 1);
    fake.dropStreams();
    await eventually(() => fake.counts.events > 1);
  });
});

describe('the fixtures', () => {
  it('are a session that is valid, and an answer that says that one is dead', async () => {
    const session = aSession({ merchant: 'other', generation: 5, lifetimeMs: 1_000 });
    expect(session).toMatchObject({ merchant: 'other', generation: 5, deviceId: 'device-id-5' });
    expect(Date.parse(session.expiresAt) - Date.parse(session.createdAt)).toBe(1_000);
    expect(await isDeadSession(aDeadSessionAnswer())).toBe(true);
    expect(await isDeadSession(aDeadSessionAnswer('b_auth_token_expired'))).toBe(false);
  });
  it.each<[object, string]>([
    [{ generatoin: 5 }, 'There is no member "generatoin": there are lifetimeMs'],
    [{ lifetime: 5 }, 'There is no member "lifetime"'],
    [{ token: 'x' }, 'There is no member "token": there are lifetimeMs, merchant, '],
  ])('are refused with a member that no session has: %j', (wish, says) => {
    expect(() => aSession(wish)).toThrow(says);
  });
});
