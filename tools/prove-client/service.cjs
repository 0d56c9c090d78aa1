const { SessionBroker } = require('@session-broker/client');
const { fileToken } = require('@session-broker/client/file-token');
const { FakeBroker, FakeGateway } = require('@session-broker/client/testing');

async function main() {
  const fake = await FakeBroker.start();
  const gateway = await FakeGateway.start(fake);
  const broker = new SessionBroker({ ...fake.options, gateway: gateway.options });
  gateway.on('/refund', ({ sent, generation }) => ({ status: `${sent.what} with generation ${generation}` }));
  await broker.session();
  gateway.endSession();
  const { status: paid } = await broker.fetch('/refund', { sealed: { what: 'paid' } });
  if (broker.current() === undefined || typeof fileToken !== 'function') throw new Error('something is missing');
  await broker[Symbol.asyncDispose]();
  await gateway.close();
  await fake.close();
  console.log(paid);
}

main();
