import request, { type Test } from 'supertest';
import { generateClientKey, importPaymentKey, sealJwe } from '#libs/jwe';
import { endedAfterAll } from '#libs/testing';
import { problem, RunningBroker, TOKENS } from './running-broker.js';

const OPEN = '/v1/merchants/shop/notifications/open';

interface Opened {
  readonly kind: string;
  readonly sealed: boolean;
  readonly content: Record<string, unknown>;
}

let operations = 0;

/** An operation that no other test uses. */
const anOperation = (members: object = {}): Record<string, unknown> => ({
  type: 'PURCHASE',
  coinAmount: 100,
  merchantId: 'm-1',
  ecomOperationId: `canary-operation-${(operations += 1)}`,
  status: 'SUCCESS',
  transactionCurrency: '980',
  hppOrderId: 'h-1',
  transactionResponseInfo: { actionCode: '0' },
  ...members,
});
const anOrder = (operation = anOperation()): Record<string, unknown> => ({
  ecomOrderId: 'o-1',
  coinAmount: 100,
  merchantId: 'm-1',
  statusUrl: 'https://bank.example/s',
  redirectUrl: 'https://bank.example/r',
  notificationUrl: 'https://shop.example/n',
  notificationEncryption: true,
  hppOrderId: 'h-1',
  merchantRequestId: 'r-1',
  paymentMethods: ['CARD'],
  orderStatus: 'SUCCESS',
  operation,
});

const IN_CLEAR = { 'content-type': 'application/json' };
const SEALED = { 'content-type': 'text/plain', 'x-encrypted_body': 'true' };

const asCame = (content: object): object => ({ headers: IN_CLEAR, body: JSON.stringify(content) });
const ask = (url: string, notification: object, token = TOKENS.payments): Test =>
  request(url).post(OPEN).set('authorization', `Bearer ${token}`).send(notification);
const open = (url: string, notification: object): Promise<Opened> =>
  ask(url, notification)
    .expect(200)
    .expect('cache-control', 'no-store')
    .then(({ body }) => body as Opened);

describe('notifications', () => {
  let broker: RunningBroker;
  const started = endedAfterAll();
  beforeAll(async () => {
    broker = started.add(await RunningBroker.start(), (it) => it.close());
  });

  const sealed = async (text: string, jwk?: object): Promise<string> => {
    const { body } = await broker.as(TOKENS.payments).get('/v1/merchants/shop/client-key');
    return sealJwe(Buffer.from(text), await importPaymentKey(jwk ?? (body as { jwk: object }).jwk));
  };

  it('are passed on as they are when they came in clear', async () => {
    const content = anOrder();
    expect(await open(broker.url, asCame(content))).toEqual({
      kind: 'hosted_page',
      sealed: false,
      content,
    });
  });

  it('are opened when they came sealed, with any key of the merchant', async () => {
    const content = anOperation();
    const jwe = await sealed(JSON.stringify(content));
    const opened = { kind: 'direct_payment', sealed: true, content };
    expect(await open(broker.url, { headers: SEALED, body: jwe })).toEqual(opened);
    const older = await sealed(JSON.stringify(content), broker.olderPublicJwk);
    const unmarked = { headers: { 'Content-Type': 'text/plain' }, body: older };
    expect(await open(broker.url, unmarked)).toEqual(opened);
  });

  it('are opened for callers who may decrypt, and for nobody else', async () => {
    await ask(broker.url, asCame(anOrder()), TOKENS.checkout).expect(403).expect(problem('forbidden'));
    await ask(broker.url, asCame(anOrder()), 'wrong').expect(401);
  });

  it('are refused by the name of a faulty member, and by their seal when it is not for this merchant', async () => {
    const { ecomOperationId: _, ...nameless } = anOperation();
    const refused = await ask(broker.url, asCame(anOrder(nameless))).expect(422);
    expect(refused.body).toMatchObject({
      code: 'notification_invalid',
      detail: 'operation.ecomOperationId must be a text that is not empty',
    });
    const foreign = await sealed('{}', (await generateClientKey()).publicJwk);
    await ask(broker.url, { headers: SEALED, body: foreign }).expect(422).expect(problem('jwe_not_opened'));
    await ask(broker.url, { headers: SEALED, body: '{}' }).expect(400).expect(problem('jwe_malformed'));
    await ask(broker.url, { headers: SEALED }).expect(400).expect(problem('invalid_request'));
    await ask(broker.url, { headers: IN_CLEAR, body: 'a'.repeat(65_537) }).expect(413);
    const bytes = await sealJwe(Buffer.from([0xff]), await importPaymentKey(broker.olderPublicJwk));
    await ask(broker.url, { headers: SEALED, body: bytes }).expect(422).expect(problem('notification_invalid'));
  });

  it('may be 64 KiB long, sealed', async () => {
    const content = anOperation({ novel: 'x'.repeat(65_000) });
    expect((await open(broker.url, { headers: SEALED, body: await sealed(JSON.stringify(content)) })).content).toEqual(
      content,
    );
  });

  it('leave nothing of themselves in the log', () => {
    expect(broker.lines.filter((line) => line.includes('canary-operation'))).toEqual([]);
  });
});
