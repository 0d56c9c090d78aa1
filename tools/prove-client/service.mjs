import { SessionBroker } from '@session-broker/client';
import { fileToken } from '@session-broker/client/file-token';
import { FakeBroker } from '@session-broker/client/testing';

async function main() {
  const fake = await FakeBroker.start();
  const broker = new SessionBroker(fake.options);
  const paid = await broker.withSession(async (session) => {
    const { jwe } = await broker.encrypt('a payment', { session });
    if ((await fake.opened(jwe)) !== 'a payment') throw new Error('it was not sealed');
    if (session.generation === 1) throw Object.assign(new Error('dead'), { msgCode: 'b_used_token' });
    return broker.decryptText(await fake.sealedAnswer(`paid with generation ${session.generation}`));
  });
  if (broker.current() === undefined || typeof fileToken !== 'function') throw new Error('something is missing');
  const refused = new SessionBroker({ ...fake.options, auth: 'other', follow: 'none' });
  const { name, message } = await refused.session().catch((error) => error);
  if (name !== 'Unauthenticated' || !message.includes(fake.url)) throw new Error(message);
  await broker.close();
  await fake.close();
  console.log(paid);
}

main();
