import { SessionBroker } from '@session-broker/client';

const broker = new SessionBroker({
  url: 'http://127.0.0.1:8080',
  merchant: 'shop',
  auth: process.env.TOKEN,
  onEvent: (event) => console.log(event),
});

const { generation, expiresAt } = await broker.session();
console.log('first', generation, expiresAt);

setTimeout(async () => {
  const { generation, expiresAt } = await broker.session(); // from memory: it came through the event stream
  console.log('after a minute', generation, expiresAt);
  await broker.close();
}, 60_000);
