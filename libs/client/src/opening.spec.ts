import { away, FakeClock, json, problem, ScriptedBroker } from '../../testing/src/index.js';
import { clientOf } from '../fixtures/client-of.js';
import {
  BrokerUnavailable,
  CallAborted,
  ClientClosed,
  ProtocolError,
  RequestRefused,
  Unauthenticated,
} from './errors.js';
import type { SessionBroker } from './session-broker.js';

let clock: FakeClock;
let server: ScriptedBroker;
let broker: SessionBroker;

beforeEach(() => {
  clock = new FakeClock();
  server = new ScriptedBroker();
  broker = clientOf(server, clock);
});
afterEach(() => broker.close());

describe('an answer that the gateway has sealed', () => {
  const opened = async (signal?: AbortSignal): Promise<unknown> => {
    const outcome = broker.decrypt('a.b.c.d.e', { signal }).catch((error: unknown) => error);
    await clock.advance(20_000);
    return outcome;
  };

  it.each<[string, object, number[]]>([
    ['UTF-8', { plaintext: 'é' }, [0xc3, 0xa9]],
    ['UTF-8 that says so', { plaintext: 'é', encoding: 'utf-8' }, [0xc3, 0xa9]],
    ['base64', { plaintext: '/wA=', encoding: 'base64' }, [0xff, 0x00]],
    ['nothing', { plaintext: '' }, []],
  ])('is opened by the broker, as soon as it is back: %s', async (_what, answer, octets) => {
    const answers = [away, () => Promise.resolve(json(answer))];
    server.on('decrypt', () => answers.shift()!());
    expect([...((await opened()) as Uint8Array)]).toEqual(octets);
    expect(server.seen('decrypt')[1]).toMatchObject({
      url: 'http://broker.test/v1/merchants/shop/payloads/decrypt',
      body: '{"jwe":"a.b.c.d.e"}',
    });
  });

  it('says that the bank has the request when it is not opened in time', async () => {
    server.on('decrypt', away);
    const message =
      'The gateway has answered, so that the bank has the request, but its answer was not opened. Keep the ' +
      'merchantRequestId and send it under no other: lookUp, a notification or the bank tells what became of it. ' +
      'The broker cannot be reached: ECONNREFUSED (http://broker.test, merchant "shop")';
    const failure = await opened();
    expect(failure).not.toBeInstanceOf(BrokerUnavailable);
    expect(JSON.parse(JSON.stringify(failure))).toMatchObject({
      ...{ name: 'AnswerUnopened', code: 'answer_unopened', message },
      cause: { name: 'BrokerUnavailable', code: 'network' },
    });
  });

  it.each<[string, abstract new (...parts: never[]) => Error, () => Response]>([
    ['the broker refuses the credential', Unauthenticated, () => problem(401, 'x')],
    ['the broker cannot open it', RequestRefused, () => problem(422, 'x')],
    ['the broker gives something else', ProtocolError, () => json({ plaintext: 5 })],
    ['its base64 is none', ProtocolError, () => json({ plaintext: '%', encoding: 'base64' })],
  ])('says so, too, when %s, and is asked for once', async (_what, kind, answer) => {
    server.on('decrypt', answer);
    expect(await opened()).toMatchObject({ code: 'answer_unopened', cause: expect.any(kind) });
    expect(server.requests).toHaveLength(1);
  });

  it('says so, too, when the caller ends the wait, and when the client is closed', async () => {
    const left = await opened(AbortSignal.abort('the customer went away'));
    expect(left).toMatchObject({ code: 'answer_unopened', cause: expect.any(CallAborted) });
    await broker.close();
    expect(await opened()).toMatchObject({ code: 'answer_unopened', cause: expect.any(ClientClosed) });
    expect(server.requests).toEqual([]);
  });

  it('is no text that is not there', async () => {
    await expect(broker.decrypt(undefined as never)).rejects.toMatchObject({ code: 'jwe_invalid' });
  });
});

describe('a notification', () => {
  const received = { headers: { 'x-encrypted_body': 'true', via: undefined }, body: 'a.b.c.d.e' };
  const told = { kind: 'hosted_page', sealed: true, content: { hppOrderId: 'h-1' } };

  it('is opened by the broker, as it came', async () => {
    server.on('notification', () => json(told));
    expect(await broker.openNotification(received)).toEqual(told);
    expect(server.seen('notification')[0]).toMatchObject({
      url: 'http://broker.test/v1/merchants/shop/notifications/open',
      body: '{"headers":{"x-encrypted_body":"true"},"body":"a.b.c.d.e"}',
    });
  });

  it.each([
    { ...told, kind: 'novel' },
    { ...told, sealed: 1 },
    { ...told, content: [] },
  ])('is not made of %j', async (answer) => {
    server.on('notification', () => json(answer));
    await expect(broker.openNotification(received)).rejects.toThrow(ProtocolError);
  });
});
