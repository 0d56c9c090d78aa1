import type { ClientEvent } from './client-event.js';
import { AnswerLost, BrokerUnavailable, ClientClosed, Forbidden, ProtocolError, SessionRejected } from './errors.js';
import type { SessionBroker } from './session-broker.js';
import type { Session } from './session.js';
import {
  aSessionDocument as aDocument,
  away,
  FakeClock,
  json,
  problem,
  ScriptedBroker,
} from '../../testing/src/index.js';
import { clientOf } from '../fixtures/client-of.js';

describe('work with a session', () => {
  let clock: FakeClock;
  let server: ScriptedBroker;
  let broker: SessionBroker;
  let events: ClientEvent[];

  /** Acts as the gateway: it accepts sessions from this generation on. */
  const gateway = (from: number) => {
    const seen: number[] = [];
    const pay = (session: Session): string => {
      seen.push(session.generation);
      if (session.generation < from) throw new SessionRejected('b_expired_token');
      return `paid with ${session.generation}`;
    };
    return { seen, pay };
  };
  const reported = (): unknown[] => server.seen('rejections').map(({ body }) => JSON.parse(body ?? '') as unknown);

  beforeEach(() => {
    clock = new FakeClock();
    events = [];
    server = new ScriptedBroker().on('read', () => json(aDocument()));
    broker = clientOf(server, clock, { onEvent: (event) => void events.push(event) });
  });
  afterEach(() => broker.close());

  it('reports a rejected session and runs once more with the newer one', async () => {
    server.on('rejections', () => json(aDocument({ generation: 2 })));
    const { pay, seen } = gateway(2);
    expect(await broker.withSession(pay)).toBe('paid with 2');
    expect(seen).toEqual([1, 2]);
    expect(reported()).toEqual([{ generation: 1, reason: 'b_expired_token' }]);
    expect(server.seen('rejections')[0]).toMatchObject({
      url: 'http://broker.test/v1/merchants/shop/session/rejections',
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer token' },
    });
    expect((await broker.session()).generation).toBe(2);
    expect(events).toContainEqual({ type: 'rejection', generation: 1, reason: 'b_expired_token' });
  });

  it('says of a second session that was rejected what there is to look at, and that nothing was carried out', async () => {
    server.on('rejections', () => json(aDocument({ generation: 2 })));
    const failure: unknown = await broker.withSession(gateway(9).pay).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      name: 'SessionRejected',
      code: 'session_rejected',
      reason: 'b_expired_token',
      rejection: { generation: 2, reason: 'b_expired_token' },
      cause: expect.any(SessionRejected),
    });
    expect((failure as Error).message).toBe(
      'The gateway rejected the session twice, with two sessions (b_expired_token), so that the bank has not carried it out. ' +
        'Are the gateway\'s URL and environment right? (http://broker.test, merchant "shop")',
    );
  });

  it.each([
    ['what became of the repetition where the bank may have it', new AnswerLost('answer_lost', 'x')],
    ['access that was revoked meanwhile', new SessionRejected('b_auth_token_expired')],
  ])('leaves %s as it was told', async (_what, told) => {
    server.on('rejections', () => json(aDocument({ generation: 2 })));
    const pay = ({ generation }: Session): never => {
      throw generation === 1 ? new SessionRejected('b_expired_token') : told;
    };
    await expect(broker.withSession(pay)).rejects.toBe(told);
    await expect(broker.withSession(() => Promise.reject(told))).rejects.toBe(told);
    expect(reported()).toHaveLength(1);
  });

  it('does not run again for an error of another kind', async () => {
    let runs = 0;
    const failing = (): Promise<never> => {
      runs += 1;
      return Promise.reject(new Error('the card was declined'));
    };
    await expect(broker.withSession(failing)).rejects.toThrow('the card was declined');
    expect(runs).toBe(1);
    expect(reported()).toEqual([]);
  });

  it('reports a session once, however many operations find it dead at the same time', async () => {
    server.on('rejections', () => json(aDocument({ generation: 2 })));
    const runs = Array.from({ length: 50 }, () => gateway(2));
    expect(await Promise.all(runs.map(({ pay }) => broker.withSession(pay)))).toEqual(runs.map(() => 'paid with 2'));
    expect(reported()).toHaveLength(1);
  });

  it('takes the newer session without a report when it is there already', async () => {
    server.on('rejections', () => json(aDocument({ generation: 2 })));
    const { pay } = gateway(2);
    const slow = async (session: Session): Promise<string> => {
      if (session.generation === 1) await broker.withSession(pay);
      return pay(session);
    };
    expect(await broker.withSession(slow)).toBe('paid with 2');
    expect(reported()).toHaveLength(1);
  });

  it('lets those who ask for a session meanwhile wait for the newer one', async () => {
    let answer = (_: Response): void => undefined;
    server.on('rejections', () => new Promise((resolve) => (answer = resolve)));
    const paid = broker.withSession(gateway(2).pay);
    await clock.settle();
    const asked = broker.session();
    await clock.settle();
    answer(json(aDocument({ generation: 2 })));
    expect((await asked).generation).toBe(2);
    expect(await paid).toBe('paid with 2');
  });

  it('presents to nobody what the gateway has just called dead: the next calls wait for a newer session, and then fail', async () => {
    server.on('rejections', () => problem(503, 'session_unavailable', { 'retry-after': '60' }));
    const { pay, seen } = gateway(2);
    const outcome = (): Promise<unknown> => broker.withSession(pay).catch((error: unknown) => error);
    const failure = await outcome();
    expect(failure).toBeInstanceOf(BrokerUnavailable);
    expect(failure).toMatchObject({
      ...{ code: 'session_unavailable', retryAfterMs: 60_000, rejection: { generation: 1 } },
      cause: expect.any(SessionRejected),
    });
    expect((await broker.session()).generation).toBe(1);
    expect(await Promise.all([outcome(), outcome()])).toEqual([
      expect.objectContaining({ code: 'session_unavailable', rejection: undefined }),
      expect.objectContaining({ code: 'session_unavailable', rejection: undefined }),
    ]);
    expect([seen, reported()]).toEqual([[1], [expect.anything(), expect.anything()]]);
    server.on('rejections', () => json(aDocument({ generation: 2 })));
    expect([await outcome(), seen]).toEqual(['paid with 2', [1, 2]]);
  });

  it('presents it again after ten seconds without a newer one, as a code may be a mistake of the gateway', async () => {
    server.on('rejections', () => problem(503, 'session_unavailable', { 'retry-after': '60' }));
    await broker.withSession(gateway(2).pay).catch(() => undefined);
    await clock.advance(10_000);
    expect(await broker.withSession(gateway(1).pay)).toBe('paid with 1');
  });

  it('never runs again with the session that was refused, even where the newer one is over by our clock', async () => {
    server.on('rejections', () => json(aDocument({ generation: 2, lifetimeMs: 0 })));
    const { pay, seen } = gateway(2);
    await broker.withSession(pay);
    expect(seen).toEqual([1, 2]);
  });

  const unauthorized = (): never => {
    throw new SessionRejected('http_401');
  };

  it.each<[string, () => Promise<Response>, string]>([
    ['cannot be reached', away, 'The broker cannot be reached: ECONNREFUSED'],
    ['does not allow a report', () => Promise.resolve(problem(403, 'forbidden')), 'The broker does not allow'],
  ])('says that one request went out and was refused when the broker %s', async (_what, answer, says) => {
    server.on('rejections', answer);
    const failing = broker.withSession(unauthorized).catch((error: unknown) => error);
    await clock.advance(15_000);
    const failure = (await failing) as BrokerUnavailable;
    expect(failure).toMatchObject({ rejection: { generation: 1, reason: 'http_401' } });
    expect(failure.message.startsWith(says)).toBe(true);
    expect(failure.message).toContain(
      '(http://broker.test, merchant "shop"). A request was sent before: the gateway refused it with its session ' +
        '(http_401); the answer had no code of the bank, and may come from something in between, such as a proxy: that the ' +
        "bank has not carried it out is what the gateway's interface says of a 401",
    );
    expect(JSON.parse(JSON.stringify(failure))).toMatchObject({ rejection: { generation: 1, reason: 'http_401' } });
  });

  it('says so when the client is closed meanwhile, or was before', async () => {
    await broker.session();
    server.on('rejections', () => new Promise(() => undefined));
    const failing = broker.withSession(unauthorized).catch((error: unknown) => error);
    const late = broker.withSession(() => broker.close().then(unauthorized)).catch((error: unknown) => error);
    for (const failure of [await failing, await late]) {
      expect(failure).toBeInstanceOf(ClientClosed);
      expect(failure).toMatchObject({ rejection: { generation: 1, reason: 'http_401' }, cause: expect.any(Error) });
    }
  });

  it('says nothing of a request where none was sent', async () => {
    server.on('read', () => problem(403, 'forbidden'));
    const failure: unknown = await broker.withSession(unauthorized).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Forbidden);
    expect(failure).toMatchObject({ rejection: undefined, message: expect.not.stringContaining('was sent') });
  });

  it('fails at once when it is given a session that is not newer', async () => {
    server.on('rejections', () => json(aDocument()));
    await expect(broker.withSession(gateway(2).pay)).rejects.toThrow(ProtocolError);
    expect(reported()).toHaveLength(1);
  });

  it.each<[string, object, string]>([
    ['the broker is away', {}, 'The broker cannot be reached: ECONNREFUSED (http://broker.test, merchant "shop")'],
    [
      'its caller has aborted it',
      { signal: AbortSignal.abort('the customer went away') },
      'The caller aborted the call',
    ],
  ])('says that nothing was sent when it did not begin, as %s', async (_what, options, why) => {
    server.on('read', away);
    const failed = broker.withSession(gateway(1).pay, options).catch((error: unknown) => error);
    await clock.advance(20_000);
    expect(await failed).toMatchObject({ message: `${why}. This call has sent nothing to the gateway` });
  });

  it('ends by the signal, between the runs too', async () => {
    const leaving = new AbortController();
    const seen: ScriptedBroker['requests'] = [];
    server.on('rejections', (request) => {
      seen.push(request);
      return new Promise(() => undefined);
    });
    const { pay, seen: runs } = gateway(2);
    const paid = broker.withSession(pay, { signal: leaving.signal });
    await clock.settle();
    leaving.abort(new Error('the customer went away'));
    await expect(paid).rejects.toMatchObject({
      code: 'call_aborted',
      message:
        'The caller aborted the call. A request was sent before: the gateway refused it ' +
        'with its session (b_expired_token), so that the bank has not carried it out',
      rejection: { generation: 1, reason: 'b_expired_token' },
    });
    await clock.settle();
    expect(runs).toEqual([1]);
    expect(seen[0]?.signal.aborted).toBe(true);
    expect(clock.pendingTasks).toBe(0);
  });
});
