import { FakeClock } from '../../testing/src/index.js';
import { aDocument, json, ScriptedBroker } from '../fixtures/scripted-broker.js';
import { isDeadSession } from './dead-session.js';
import { SessionRejected } from './errors.js';
import { SessionBroker, type WithSessionOptions } from './session-broker.js';

describe('work with a session whose errors nobody explains', () => {
  let server: ScriptedBroker;
  let broker: SessionBroker;

  const errorOf = (status: number, data: unknown): Error =>
    Object.assign(new Error('Request failed'), { response: { status, data } });
  const reasons = (): unknown[] =>
    server.seen('rejections').map(({ body }) => (JSON.parse(body ?? '') as { reason: unknown }).reason);

  /** Fails with the given failure as long as the session is the first one. */
  const run = (failure: unknown, options?: WithSessionOptions): Promise<string> =>
    broker.withSession(({ generation }) => {
      if (generation === 1) throw failure;
      return `paid with ${generation}`;
    }, options);

  beforeEach(() => {
    server = new ScriptedBroker()
      .on('read', () => json(aDocument()))
      .on('rejections', () => json(aDocument({ generation: 2 })));
    const fixed = { url: 'http://b.test', merchant: 'shop', auth: 'token', follow: 'none' as const };
    broker = new SessionBroker({ ...fixed, fetch: server.fetch, time: new FakeClock() });
  });
  afterEach(() => broker.close());

  it.each<[string, unknown, string]>([
    ['an error of a client of HTTP', errorOf(200, { msgCode: 'b_session_doesnt_exist' }), 'b_session_doesnt_exist'],
    ['an error without a code', errorOf(401, ''), 'http_401'],
    ['an answer that is thrown as it is', Response.json({ msgCode: 'b_used_token' }, { status: 400 }), 'b_used_token'],
  ])('finds out by itself that the session is dead: %s', async (_what, failure, reason) => {
    expect(await run(failure)).toBe('paid with 2');
    expect(reasons()).toEqual([reason]);
  });

  it('takes the question itself for an answer', async () => {
    const isRejection = isDeadSession;
    expect(await run(errorOf(401, ''), { isRejection })).toBe('paid with 2');
    expect(reasons()).toEqual(['unspecified']);
  });

  it.each<[string, unknown, WithSessionOptions | undefined]>([
    ['by its code under 401', errorOf(401, { msgCode: 'b_auth_token_expired' }), undefined],
    ['that was called a rejection', new SessionRejected('b_auth_token_expired'), undefined],
    ['though the caller says so', errorOf(401, { msgCode: 'b_auth_token_expired' }), { isRejection: () => true }],
    ['by the code that the caller gives', errorOf(401, ''), { isRejection: () => 'b_auth_token_expired' }],
  ])('never repeats for access that was revoked: %s', async (_how, failure, options) => {
    await expect(run(failure, options)).rejects.toBe(failure);
    expect(reasons()).toEqual([]);
  });

  it('does not take a refusal of the broker for one of the gateway', async () => {
    server.on('decrypt', () => json({ code: 'unauthenticated' }, 401));
    await expect(broker.withSession(() => broker.decryptText('a.b.c.d.e'))).rejects.toMatchObject({
      code: 'answer_unopened',
      status: 401,
    });
    expect(reasons()).toEqual([]);
  });
});
