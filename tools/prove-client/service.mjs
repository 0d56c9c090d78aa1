import { SessionBroker } from '@session-broker/client';
import { fileToken } from '@session-broker/client/file-token';
import { FakeBroker, FakeGateway } from '@session-broker/client/testing';

async function main() {
  const fake = await FakeBroker.start();
  const gateway = await FakeGateway.start(fake);
  const broker = new SessionBroker({ ...fake.options, gateway: gateway.options });
  gateway.on('/refund', ({ sent, generation }) => ({ status: `${sent.what} with generation ${generation}` }));
  await broker.session();
  gateway.endSession();
  const { status: paid } = await broker.fetch('/refund', { sealed: { what: 'paid' } });
  if (broker.current() === undefined || typeof fileToken !== 'function') throw new Error('something is missing');
  const refused = new SessionBroker({ ...fake.options, auth: 'other', follow: 'none' });
  const { name, message } = await refused.session().catch((error) => error);
  if (name !== 'Unauthenticated' || !message.includes(fake.url)) throw new Error(message);
  await broker.close();
  await gateway.close();
  await fake.close();
  console.log(paid);
}

main();
