const { SessionBroker, BrokerUnavailable } = require('@session-broker/client');
const { FakeBroker } = require('@session-broker/client/testing');

test('a payment survives a dead session', async () => {
  const fake = await FakeBroker.start();
  const broker = new SessionBroker(fake.options);
  const seen = await broker.withSession(async (session) => {
    const { jwe } = await broker.encrypt('paid', { session });
    if (session.generation === 1) throw Object.assign(new Error('dead'), { msgCode: 'b_used_token' });
    return fake.opened(jwe);
  });
  expect(seen).toBe('paid');
  expect(fake.rejections).toEqual([{ generation: 1, reason: 'b_used_token' }]);
  await broker.close();
  await fake.close();
  const away = new SessionBroker({ ...fake.options, timeoutMs: 50 });
  await expect(away.session()).rejects.toThrow(BrokerUnavailable);
});
