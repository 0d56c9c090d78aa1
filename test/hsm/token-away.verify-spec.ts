import { describeWith, endedAfterAll, eventually } from '#libs/testing';
import { HsmBroker } from './hsm-broker.js';
import { pkcs11js, privateJwkOn, SoftToken } from './soft-token.js';

const LIFETIME_MS = 20_000;

describeWith(['softhsm', pkcs11js], 'a broker whose client key is in a token', () => {
  let token: SoftToken;
  let broker: HsmBroker;
  const started = endedAfterAll();
  const privateJwk = privateJwkOn('P-384');

  beforeAll(async () => {
    token = started.add(await SoftToken.create(), (it) => it.remove());
    await token.keep({ label: 'shop', privateJwk });
    const keyFiles = [token.keyFile('shop', privateJwk)];
    const { environment } = token;
    broker = started.add(
      await HsmBroker.start({ privateJwk, keyFiles, module: token.module, environment, lifetimeMs: LIFETIME_MS }),
      (it) => it.end(),
    );
  });

  it('opens sessions and payloads', async () => {
    expect((await broker.session()).status).toBe(200);
    expect((await broker.decrypt('from the bank')).body).toEqual({ plaintext: 'from the bank', encoding: 'utf8' });
  });

  it('serves its session on while the token is away, makes no create call that it could not open, and says why', async () => {
    const calls = await broker.createCalls();
    const generation = await broker.generation();
    await token.goAway();
    const refused = await broker.decrypt('from the bank');
    expect([refused.status, refused.retryAfter, refused.body['code']]).toEqual([503, '1', 'client_key_unavailable']);
    expect(JSON.stringify(refused.body)).not.toContain('CKR_');
    await eventually(async () => JSON.stringify((await broker.merchant())['lastFailure'])?.includes('key_unavailable'));
    expect(await broker.session()).toMatchObject({ status: 200, body: { generation } });
    expect(await broker.createCalls()).toBe(calls);
    await eventually(async () => (await broker.session()).status === 503);
    expect((await broker.session()).body).toMatchObject({ code: 'session_unavailable', reason: 'key_unavailable' });
    expect(await broker.createCalls()).toBe(calls);
    expect(broker.process.out).toContain('module_failed [CKR_GENERAL_ERROR]');
  });

  it('renews by itself once the token is back', async () => {
    await token.comeBack();
    await eventually(async () => (await broker.session()).status === 200);
    expect((await broker.decrypt('again')).status).toBe(200);
  });

  it('ends on SIGTERM, and takes the process that talks to the token with it', async () => {
    broker.process.signal('SIGTERM');
    expect(await broker.process.ended).toBe(0);
    expect(broker.process.err).toBe('');
  });
});
