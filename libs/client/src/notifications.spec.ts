import { FakeClock } from '../../testing/src/index.js';
import { json, problem, ScriptedBroker } from '../fixtures/scripted-broker.js';
import { ProtocolError } from './errors.js';
import { SessionBroker } from './session-broker.js';

const RECEIVED = { headers: { 'x-encrypted_body': 'true', via: undefined }, body: 'a.b.c.d.e' };
const OPENED = { kind: 'hosted_page', sealed: true, content: { hppOrderId: 'h-1' } };

describe('a notification', () => {
  let clock: FakeClock;
  let server: ScriptedBroker;
  let broker: SessionBroker;

  beforeEach(() => {
    clock = new FakeClock();
    server = new ScriptedBroker();
    const fixed = { url: 'http://b.test', merchant: 'shop', auth: 't', follow: 'none' as const, time: clock };
    broker = new SessionBroker({ ...fixed, fetch: server.fetch, random: () => 0.5 });
  });
  afterEach(() => broker.close());

  it('is opened by the broker, as it came', async () => {
    server.on('notification', () => json(OPENED));
    expect(await broker.openNotification(RECEIVED)).toEqual(OPENED);
    expect(server.seen('notification')[0]).toMatchObject({
      url: 'http://b.test/v1/merchants/shop/notifications/open',
      method: 'POST',
      body: '{"headers":{"x-encrypted_body":"true"},"body":"a.b.c.d.e"}',
    });
  });

  it('that is none is refused once', async () => {
    server.on('notification', () => problem(422, 'notification_invalid'));
    await expect(broker.openNotification(RECEIVED)).rejects.toMatchObject({
      code: 'notification_invalid',
      status: 422,
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([{}, { ...OPENED, kind: 'novel' }, { ...OPENED, sealed: 1 }, { ...OPENED, content: [] }])(
    'is not made of %j',
    async (answer) => {
      server.on('notification', () => json(answer));
      await expect(broker.openNotification(RECEIVED)).rejects.toThrow(ProtocolError);
    },
  );
});
