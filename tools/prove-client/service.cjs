const { SessionBroker } = require('@session-broker/client');
const { fileToken } = require('@session-broker/client/file-token');
const { FakeBroker } = require('@session-broker/client/testing');

async function main() {
  const fake = await FakeBroker.start();
  const broker = new SessionBroker(fake.options);
  const paid = await broker.withSession(async (session) => {
    const { jwe } = await broker.encrypt('a payment', { session });
    if ((await fake.opened(jwe)) !== 'a payment') throw new Error('it was not sealed');
    if (session.generation === 1) throw Object.assign(new Error('dead'), { msgCode: 'b_used_token' });
    return `paid with generation ${session.generation}`;
  });
  if (broker.current() === undefined || typeof fileToken !== 'function') throw new Error('something is missing');
  await broker[Symbol.asyncDispose]();
  await fake.close();
  console.log(paid);
}

main();
