import { SystemClock } from '#libs/clock';
import { endedAfterEach, LoopbackServer } from '#libs/testing';
import { RunningSandbox } from '../sandbox/running-sandbox.js';
import { Examined, messagesOf, SERVICE_CODE } from './examined.js';

let examined: Examined;
let sandbox: RunningSandbox;

const started = endedAfterEach();
beforeEach(async () => {
  examined = started.add(await Examined.create(), (it) => it.remove());
  sandbox = started.add(await RunningSandbox.start(new SystemClock()), (it) => it.close());
  await register();
  await configure();
});

/** The merchant at the gateway. */
const register = (members: object = {}): Promise<unknown> =>
  sandbox.register({ serviceCode: SERVICE_CODE, publicJwk: examined.key.publicJwk, ...members });

/** The same merchant in the configuration. */
const configure = (gateway = ''): Promise<void> =>
  examined.configure([
    {
      gatewayUrl: sandbox.url,
      gateway: `testBaseUrl: "${sandbox.url}"${gateway === '' ? '' : `, ${gateway}`}`,
    },
  ]);

const created = async (): Promise<number> => (await sandbox.calls('?operation=authorize')).matching;

describe('doctor --create-session', () => {
  it('makes one call, and tells form, names, lifetime and lead time', async () => {
    await register({ lifetimeMs: 900_000 });
    const { code, check } = await examined.doctor('--create-session');
    expect(await created()).toBe(1);
    expect(check('session.create')).toMatchObject({
      subject: 'shop',
      status: 'warned',
      facts: {
        form: 'full',
        fields: expect.arrayContaining(['authToken', 'deviceId', 'refreshToken', 'serverPublic']),
        expiryNamed: true,
        leadTimeSuffices: true,
      },
    });
    expect(messagesOf(check('session.create'), 'fact').join()).toContain('lifetime 15m, as the gateway names it');
    expect(code).toBe(0);
  });

  it.each<[object, object | undefined, RegExp]>([
    [{ lifetimeMs: 864_000_000 }, undefined, /^a lifetime of \w+ is not believed: it is more than 1d/],
    [
      {},
      { kind: 'clock_skew', operation: 'authorize', skewMs: 3_600_000 },
      /^a clock difference of \w+ is not believed/,
    ],
    [{ lifetimeMs: 10_000 }, undefined, /the lead time is .*s, but two attempts .* take 5s/],
  ])('warns of times that are not believed, or do not suffice: %j %j', async (merchant, fault, expected) => {
    await register(merchant);
    if (fault !== undefined) await sandbox.fault(fault);
    const { check } = await examined.doctor('--create-session');
    expect(messagesOf(check('session.create'), 'warning')).toContainEqual(expect.stringMatching(expected));
  });

  it.each<[object, number, string]>([
    [{ kind: 'error', status: 200, msgCode: 'b_merchant_not_found' }, 3, 'compare serviceCode'],
    [{ kind: 'error', status: 503, msgCode: 'b_server_is_overloaded' }, 4, 'wait: it is asked again'],
    [{ kind: 'garbage_jwe' }, 5, 'show the bank the gatewayRequestId'],
  ])('ends with the class of the fault, and says what helps: %j', async (fault, expected, remedy) => {
    await sandbox.fault({ operation: 'authorize', ...fault });
    const { code, check } = await examined.doctor('--create-session');
    expect([check('session.create').status, code]).toEqual(['failed', expected]);
    expect(JSON.stringify(check('session.create'))).toContain(remedy);
    expect(await created()).toBe(1);
  });

  it('shows no secret in either form, whatever is asked for', async () => {
    const seen = [];
    for (const json of [['--json'], []]) {
      seen.push(
        await examined.cli('doctor', '--config', examined.config, '--create-session', '--cross-check', ...json),
      );
    }
    expect(await sandbox.control('/sessions', { method: 'GET' })).toHaveLength(2);
    const text = seen.map((each) => each.text).join('\n');
    expect(text).toContain('session.create');
    expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i);
    expect(text).not.toMatch(/eyJ|"d"/);
    expect(text).not.toContain(examined.key.privateJwk['d']);
  });
});

describe('doctor --cross-check', () => {
  it('passes with a gateway that keeps to the interface, and sends no configured key', async () => {
    const { code, check } = await examined.doctor('--cross-check');
    expect(check('cipher.cross_check').status).toBe('passed');
    expect((await sandbox.calls('?operation=decrypt')).matching).toBe(3);
    expect((await sandbox.calls('?operation=encrypt')).matching).toBe(3);
    expect(code).toBe(0);
    expect(await created()).toBe(0);
  });

  it('fails when the gateway opens something else, or seals what we do not open', async () => {
    const wrong = await LoopbackServer.http((request, response) => {
      response.end(request.url?.startsWith('/cipher/') === true ? 'something else' : '');
    });
    try {
      await examined.configure([{ gatewayUrl: sandbox.url, gateway: `testBaseUrl: "http://127.0.0.1:${wrong.port}"` }]);
      const { code, check } = await examined.doctor('--cross-check');
      expect(messagesOf(check('cipher.cross_check'), 'fault')).toHaveLength(6);
      expect(code).toBe(5);
    } finally {
      await wrong.close();
    }
  });
});

describe('doctor in production', () => {
  let gateway: LoopbackServer;
  const started = endedAfterEach();
  beforeEach(async () => {
    gateway = started.add(await LoopbackServer.tcp((socket) => void socket.destroy()), (it) => it.close());
    const url = `https://127.0.0.1:${gateway.port}`;
    await examined.configure([{ gatewayUrl: url, environment: 'production' }]);
  });

  it('refuses --cross-check before a byte is sent', async () => {
    const { code, text } = await examined.doctor('--cross-check');
    expect(code).toBe(2);
    expect(JSON.parse(text)).toMatchObject({ ok: false, error: { code: 'invalid_request' } });
    expect(gateway.connections).toBe(0);
  });

  it('makes the create call for those who mean it', async () => {
    expect((await examined.doctor('--create-session')).text).toContain('--yes');
    expect(gateway.connections).toBe(0);
    const { code, check } = await examined.doctor('--create-session', '--yes');
    expect(check('session.create').status).toBe('failed');
    expect(code).toBe(4);
  });

  it('needs to be told for which merchant, when there are several', async () => {
    const other = { id: 'other', serviceCode: 'c0ffee00-0368-41ed-b939-0242ac120003' };
    await examined.configure([{ gatewayUrl: sandbox.url }, { ...other, gatewayUrl: sandbox.url }]);
    const { code, text } = await examined.doctor('--create-session');
    expect(code).toBe(2);
    expect(text).toContain('--merchant');
    expect((await examined.doctor('--merchant', 'nobody')).text).toContain(
      'the configuration has none named nobody; it has shop, other',
    );
    expect((await examined.doctor('--create-session', '--merchant', 'shop')).check('session.create').subject).toBe(
      'shop',
    );
    expect(await created()).toBe(1);
  });
});
