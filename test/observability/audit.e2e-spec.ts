import { generateClientKey, importPaymentKey, sealJwe } from '#libs/jwe';
import { endedAfterAll, eventually } from '#libs/testing';
import { ObservedBroker } from './observed-broker.js';

describe('the audit records of a broker', () => {
  let broker: ObservedBroker;

  const started = endedAfterAll();
  beforeAll(async () => {
    broker = started.add(await ObservedBroker.start({}, { sections: 'audit: { readEvery: 10 }' }), (it) => it.stop());
  });

  const records = (): Record<string, unknown>[] => broker.lines.filter(({ stream }) => stream === 'audit');
  const of = (action: string): Record<string, unknown>[] => records().filter((record) => record['action'] === action);

  it('say who read which session, the first time and every so often', async () => {
    const { generation } = await broker.session();
    for (let count = 0; count < 24; count += 1) await broker.read();
    await eventually(() => of('session.read').length >= 3);
    const seen = of('session.read').map(({ caller, merchant, generation: of, count }) => [caller, merchant, of, count]);
    expect(seen).toEqual([
      ['checkout', 'shop', generation, undefined],
      ['checkout', 'shop', generation, 10],
      ['checkout', 'shop', generation, 10],
    ]);
  });

  it('say in full who rejected what, and who was refused', async () => {
    const { generation } = await broker.session();
    await broker.reject(generation, { 'x-request-id': 'rejection-1' });
    await broker.read({ authorization: 'Bearer wrong' });
    await eventually(() => of('GET /v1/merchants/:merchant/session').length === 1);
    expect(of('session.reject')).toEqual([
      expect.objectContaining({
        outcome: 'allowed',
        caller: 'checkout',
        merchant: 'shop',
        generation,
        reason: 'b_expired_token',
        requestId: 'rejection-1',
      }),
    ]);
    expect(of('GET /v1/merchants/:merchant/session')).toEqual([
      expect.objectContaining({ outcome: 'refused', merchant: 'shop', reason: 'unauthenticated' }),
    ]);
  });

  it('say who wanted a newer session, and which one it is', async () => {
    expect(await broker.renew()).toBe(200);
    await eventually(() => of('session.renew').length === 1);
    const { generation } = await broker.session();
    const who = { outcome: 'allowed', caller: 'checkout', merchant: 'shop' };
    expect(of('session.renew')).toEqual([expect.objectContaining({ ...who, generation })]);
  });

  it('say which payload was not opened and which notification, and which rejection was refused', async () => {
    const { generation } = await broker.session();
    const { publicJwk } = await generateClientKey();
    const jwe = await sealJwe(Buffer.from('{}'), await importPaymentKey(publicJwk), { maxBytes: 100 });
    expect([await broker.decrypt(jwe), await broker.open(jwe)]).toEqual([422, 422]);
    await broker.reject(generation + 1);
    await eventually(() => of('session.reject').some(({ outcome }) => outcome === 'refused'));
    const who = { outcome: 'refused', caller: 'checkout', merchant: 'shop' };
    const notOpened = { ...who, reason: 'jwe_not_opened', requestId: expect.any(String) as string };
    expect(of('payload.decrypt')).toEqual([expect.objectContaining(notOpened)]);
    expect(of('notification.open')).toEqual([expect.objectContaining(notOpened)]);
    const refused = { ...who, generation: generation + 1, reason: 'invalid_request' };
    expect(of('session.reject').at(-1)).toEqual(expect.objectContaining(refused));
  });

  it('begin with the configuration, are numbered without a gap, and hold no secret', () => {
    const all = records();
    expect(all[0]).toMatchObject({ action: 'configuration.load', sequence: 1, version: 1 });
    expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_record, index) => index + 1));
    const text = JSON.stringify(all);
    expect(broker.secrets.filter((secret) => text.includes(secret))).toEqual([]);
  });
});

describe('the audit records of a broker that has ended', () => {
  it('account for every read', async () => {
    const broker = await ObservedBroker.start({}, { sections: 'audit: { readEvery: 10 }' });
    await broker.session();
    for (let count = 0; count < 6; count += 1) await broker.read();
    expect(await broker.stop()).toBe(0);
    const reads = broker.lines.filter(({ stream, action }) => stream === 'audit' && action === 'session.read');
    expect(reads.map(({ count }) => count)).toEqual([undefined, 6]);
  });
});
