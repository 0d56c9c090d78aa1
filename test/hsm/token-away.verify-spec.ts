import { describeWith, endedAfterAll, eventually } from '#libs/testing';
import { TOKEN, type WatchedReplicas } from '../observability/watched-replicas.js';
import { decrypt, endHsmBroker, processOf, sessionOf, startHsmBroker } from './hsm-broker.js';
import { pkcs11js, privateJwkOn, SoftToken } from './soft-token.js';

const LIFETIME_MS = 20_000;

describeWith(['softhsm', pkcs11js], 'a broker whose client key is in a token', () => {
  let token: SoftToken;
  let broker: WatchedReplicas;
  const started = endedAfterAll();
  const privateJwk = privateJwkOn('P-384');

  beforeAll(async () => {
    token = started.add(await SoftToken.create(), (it) => it.remove());
    await token.keep({ label: 'shop', privateJwk });
    const { environment, module } = token;
    const keyFile = token.keyFile('shop', privateJwk);
    const setUp = { privateJwk, keyFile, module, environment, lifetimeMs: LIFETIME_MS };
    broker = started.add(await startHsmBroker(setUp), endHsmBroker);
  });

  /** What the broker tells about its merchant. */
  async function merchants(): Promise<string> {
    const headers = { authorization: `Bearer ${TOKEN}` };
    return (await fetch(`${broker.replicas[0]?.url}/v1/merchants`, { headers })).text();
  }

  it('opens sessions and payloads', async () => {
    expect((await sessionOf(broker)).status).toBe(200);
    expect((await decrypt(broker, 'from the bank')).body).toEqual({ plaintext: 'from the bank', encoding: 'utf8' });
  });

  it('serves its session on while the token is away, makes no create call that it could not open, and says why', async () => {
    const calls = await broker.createCalls();
    const generation = await broker.generationOf('shop');
    await token.goAway();
    const refused = await decrypt(broker, 'from the bank');
    expect([refused.status, refused.retryAfter, refused.body['code']]).toEqual([503, '1', 'client_key_unavailable']);
    expect(JSON.stringify(refused.body)).not.toContain('CKR_');
    await eventually(async () => /"lastFailure":\{[^}]*key_unavailable/.test(await merchants()));
    expect(await sessionOf(broker)).toMatchObject({ status: 200, body: { generation } });
    expect(await broker.createCalls()).toBe(calls);
    await eventually(async () => (await sessionOf(broker)).status === 503);
    expect((await sessionOf(broker)).body).toMatchObject({ code: 'session_unavailable', reason: 'key_unavailable' });
    expect(await broker.createCalls()).toBe(calls);
    expect(processOf(broker).out).toContain('module_failed [CKR_GENERAL_ERROR]');
  });

  it('renews by itself once the token is back', async () => {
    await token.comeBack();
    await eventually(async () => (await sessionOf(broker)).status === 200);
    expect((await decrypt(broker, 'again')).status).toBe(200);
  });

  it('ends on SIGTERM, and takes the process that talks to the token with it', async () => {
    processOf(broker).signal('SIGTERM');
    expect(await processOf(broker).ended).toBe(0);
    expect(processOf(broker).err).toBe('');
  });
});
