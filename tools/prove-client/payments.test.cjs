const { SessionBroker, BrokerUnavailable } = require('@session-broker/client');
const { FakeBroker, FakeGateway } = require('@session-broker/client/testing');

test('a payment survives a dead session', async () => {
  const fake = await FakeBroker.start();
  const gateway = await FakeGateway.start(fake);
  const broker = new SessionBroker({ ...fake.options, gateway: gateway.options });
  gateway.on('/refund', ({ sent }) => sent);
  await broker.session();
  gateway.endSession('b_used_token');
  expect(await broker.fetch('/refund', { sealed: { what: 'paid' } })).toEqual({ what: 'paid' });
  expect(fake.rejections).toEqual([{ generation: 1, reason: 'b_used_token' }]);
  await broker.close();
  await gateway.close();
  await fake.close();
  const away = new SessionBroker({ ...fake.options, timeoutMs: 50 });
  await expect(away.session()).rejects.toThrow(BrokerUnavailable);
});
