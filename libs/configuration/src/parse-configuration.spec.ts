import { CODE, faults, faultsOf, merchant, OTHER_CODE, parse, type Raw } from './configuration-fixtures.js';
import { ConfigurationError } from './fault.js';

const TOKEN = 'ab'.repeat(32);
const OTHER_TOKEN = 'cd'.repeat(32);
const PIN = `sha256/${Buffer.alloc(32, 7).toString('base64')}`;

const testMerchant = (changes: Raw = {}): Raw =>
  merchant({ id: 'demo', serviceCode: OTHER_CODE, clientKeyFiles: ['demo.jwk.json'], gateway: inTest(), ...changes });
const inTest = (changes: Raw = {}): Raw => ({ baseUrl: 'http://sandbox:8081', environment: 'test', ...changes });
const withGateway = (gateway: Raw): Raw => ({
  merchants: [merchant({ gateway: { baseUrl: 'https://gateway.example', ...gateway } })],
});
const withSession = (session: Raw): Raw => ({ merchants: [merchant({ session })] });
const token = { caller: 'checkout', sha256: TOKEN };
const policy = { caller: 'checkout', merchants: ['shop'], allow: ['session:read'] };

describe('parseConfiguration', () => {
  it('fills in every default', () => {
    expect(parse({})).toEqual({
      http: {
        host: '127.0.0.1',
        port: 8080,
        hosts: [],
        docs: true,
        maxWatchers: 10_000,
        connections: {},
        rateLimit: { perSecond: 500, burst: 2_000 },
      },
      management: { host: '127.0.0.1', port: 9464, hosts: [], merchantSeries: 500, statusPage: true },
      store: { type: 'memory', keyPrefix: 'session-broker', sentinels: [], cluster: [] },
      auth: { disabled: false, tokens: [], policies: [], mtls: false },
      audit: { destination: 'stdout', readEvery: 1_000 },
      pkcs11: { modules: [] },
      reload: { watch: true, everyMs: 5_000, maxRemoved: 10 },
      log: { level: 'info' },
      files: [{ path: 'merchants[0].clientKeyFiles[0]', file: 'shop.jwk.json', content: 'secret' }],
      merchants: [
        {
          id: 'shop',
          required: true,
          serviceCode: CODE,
          clientKeyFiles: ['shop.jwk.json'],
          gateway: {
            baseUrl: new URL('https://gateway.example'),
            environment: 'production',
            timeoutMs: 5_000,
            supersedes: true,
            requestData: { attach: 'none' },
            largestClockSkewMs: 300_000,
            tls: { pins: [] },
          },
          session: {
            fallbackLifetimeMs: 28_800_000,
            handoverMs: 1_000,
            budget: [{ calls: 20, perMs: 600_000 }],
            longestLifetimeMs: 86_400_000,
            foreignAuthorizerPauseMs: 600_000,
          },
        },
      ],
      warnings: [],
      certificates: [],
    });
  });

  it('takes lead times as shares or durations, a hand-over of no time, and a digest in capitals', () => {
    const session = { renewBefore: '25%', safetyMargin: '10s', handover: '0s' };
    const parsed = parse({
      auth: { tokens: [{ ...token, sha256: TOKEN.toUpperCase() }], policies: [{ ...policy, merchants: ['*'] }] },
      merchants: [merchant({ session })],
    });
    expect(parsed.auth).toMatchObject({ tokens: [{ sha256: TOKEN }], policies: [{ merchants: ['*'] }] });
    expect(parsed.merchants[0]?.session).toMatchObject({
      renewBefore: { kind: 'share', share: 0.25 },
      safetyMargin: { kind: 'duration', durationMs: 10_000 },
      handoverMs: 0,
    });
  });

  it('says of a setting that is given up why, and what to do', () => {
    const [fault] = faultsOf(() => parse({ store: { onStoreOutage: 'authorize' } }));
    expect(fault).toMatchObject({ path: 'store.onStoreOutage' });
    expect(fault?.problem).toMatch(/^is given up: .*what is held is served until it ends.*; remove it$/);
  });

  it('takes numbers and flags from the environment, and only from there as text', () => {
    const environment = { PORT: '8081', NO: 'false', ID: '42' };
    const raw = {
      http: { port: '${PORT}', docs: '${NO}' },
      merchants: [merchant({ id: '${ID}', required: '${NO}', gateway: { baseUrl: 'https://a', supersedes: '${NO}' } })],
    };
    const parsed = parse(raw, environment);
    expect(parsed.http).toMatchObject({ port: 8081, docs: false });
    expect(parsed.merchants[0]).toMatchObject({ id: '42', required: false, gateway: { supersedes: false } });
    expect(faults({ http: { port: '8081', docs: 'false' } })).toEqual([
      'http.port must be a whole number from 0 to 65535, without quotes',
      'http.docs must be true or false, without quotes',
    ]);
  });

  it.each(['080', '1e3', '8080 ', '0x50', '', '-1', '8080.0'])(
    'does not take %j from the environment for a port',
    (PORT) => {
      expect(faultsOf(() => parse({ http: { port: '${PORT}' } }, { PORT }))).toHaveLength(1);
    },
  );
});

describe('parseConfiguration refuses', () => {
  it.each<[string, Raw, string]>([
    [
      'an unknown setting',
      { htttp: {} },
      'htttp is not a setting; did you mean http? known here: http, management, store, auth, audit, pkcs11, reload, log, merchants',
    ],
    [
      'an unknown setting deep inside',
      withGateway({ tls: { insecure: true } }),
      'merchants[0].gateway.tls.insecure is not a setting; known here: caFile, pins',
    ],
    ['a text for a section', { http: 'x' }, 'http must be a mapping of settings'],
    ['a sequence for a section', { http: [] }, 'http must be a mapping of settings'],
    ['a mapping for a sequence', { auth: { tokens: {} } }, 'auth.tokens must be a sequence'],
    ['a mapping for a text', { http: { host: {} } }, 'http.host must be a single value'],
    [
      'a number for a text',
      { log: { level: 1 } },
      'log.level must be text: one of debug, info, warn, error; put the value in quotes',
    ],
    ['a fraction for a port', { http: { port: 80.5 } }, 'http.port must be a whole number from 0 to 65535'],
    ['a port out of range', { management: { port: 65_536 } }, 'management.port must be a whole number from 0 to 65535'],
    ['equal ports', { management: { port: 8080 } }, 'management.port must differ from http.port'],
    ['no merchant', { merchants: [] }, 'merchants must have at least 1 item'],
    ['no merchants at all', { merchants: undefined }, 'merchants is missing'],
    [
      'a merchant without gateway',
      { merchants: [merchant({ gateway: undefined })] },
      'merchants[0].gateway is missing',
    ],
    [
      'no serviceCode',
      { merchants: [merchant({ serviceCode: undefined })] },
      'merchants[0].serviceCode is missing: give the UUID that the bank assigned, or serviceCodeFile',
    ],
    [
      'serviceCode twice',
      { merchants: [merchant({ serviceCodeFile: 'x' })] },
      'merchants[0].serviceCodeFile is given as well as serviceCode; give only one of them',
    ],
    [
      'the same id twice',
      { merchants: [merchant(), merchant({ serviceCode: OTHER_CODE })] },
      'merchants[1].id is already the id of merchants[0]; ids must be unique',
    ],
    [
      'the same id twice, and not the policy that means the other merchant',
      {
        merchants: [merchant(), merchant({ serviceCode: OTHER_CODE })],
        auth: { tokens: [token], policies: [{ ...policy, merchants: ['shop', 'other'] }] },
      },
      'merchants[1].id is already the id of merchants[0]; ids must be unique',
    ],
    [
      'the same serviceCode twice',
      { merchants: [merchant(), merchant({ id: 'b', serviceCode: CODE.toUpperCase() })] },
      'merchants[1].serviceCode is already the serviceCode of merchants[0]; their sessions would end each other',
    ],
    [
      'http in production',
      withGateway({ baseUrl: 'http://gateway.example' }),
      'merchants[0].gateway.baseUrl must be https, because gateway.environment is production; if this is a test gateway, set it to test',
    ],
    [
      'helpers in production',
      withGateway({ testBaseUrl: 'https://t' }),
      'merchants[0].gateway.testBaseUrl is accepted only with environment: test; remove it',
    ],
    [
      'pins without TLS',
      { merchants: [testMerchant({ gateway: inTest({ tls: { pins: [PIN] } }) })] },
      'merchants[0].gateway.tls has no effect on an http baseUrl; use https, or remove it',
    ],
    [
      'a CA without TLS',
      { merchants: [testMerchant({ gateway: inTest({ tls: { caFile: 'a' } }) })] },
      'merchants[0].gateway.tls has no effect on an http baseUrl; use https, or remove it',
    ],
    [
      'another word for supersedes',
      withGateway({ supersedes: 'maybe' }),
      'merchants[0].gateway.supersedes must be true, false or unknown',
    ],
    [
      'an attachment without recipient',
      withGateway({ requestData: { attach: 'body', name: 'a' } }),
      'merchants[0].gateway.requestData.recipientKeyFile is missing: attach: body needs it',
    ],
    [
      'a name without attachment',
      withGateway({ requestData: { name: 'a' } }),
      'merchants[0].gateway.requestData.name has no effect with attach: none; remove it, or set attach to body or header',
    ],
    [
      'a margin longer than the lead',
      withSession({ renewBefore: '1m', safetyMargin: '2m' }),
      'merchants[0].session.safetyMargin must be less than renewBefore (20% by default)',
    ],
    [
      'a margin over the default lead',
      withSession({ safetyMargin: '20%' }),
      'merchants[0].session.safetyMargin must be less than renewBefore (20% by default)',
    ],
    [
      'a lead under the default margin',
      withSession({ renewBefore: '5%' }),
      'merchants[0].session.renewBefore must be more than safetyMargin (5% by default)',
    ],
    [
      'a lead over the fallback',
      withSession({ renewBefore: '8h' }),
      'merchants[0].session.renewBefore must be shorter than session.fallbackLifetime; shorten it, or raise fallbackLifetime',
    ],
    [
      'a fallback over the longest lifetime',
      withSession({ fallbackLifetime: '25h' }),
      'merchants[0].session.longestLifetime must be at least session.fallbackLifetime; raise it, or shorten fallbackLifetime',
    ],
    [
      'auth disabled for a network',
      { http: { host: '0.0.0.0' }, auth: { disabled: true } },
      'auth.disabled is accepted only while http.host is a loopback address; remove it, or set http.host to 127.0.0.1',
    ],
    [
      'auth disabled beside tokens',
      { auth: { disabled: true, tokens: [token] } },
      'auth.disabled makes tokens, jwt, mtls and policies ineffective; remove either it or them',
    ],
    [
      'no authentication on a network',
      { http: { host: 'broker.internal' } },
      'auth.tokens must have at least one token unless auth.jwt or auth.mtls is set, because http.host is not a loopback address',
    ],
    [
      'one token for two callers',
      { auth: { tokens: [token, { caller: 'b', sha256: TOKEN.toUpperCase() }] } },
      'auth.tokens[1].sha256 is the same token as auth.tokens[0]; every token must belong to one caller',
    ],
    [
      'a policy for an unknown caller',
      { auth: { tokens: [token], policies: [{ ...policy, caller: 'x' }] } },
      'auth.policies[0].caller names a caller that has no token in auth.tokens',
    ],
    [
      'a policy for an unknown merchant',
      { auth: { tokens: [token], policies: [{ ...policy, merchants: ['shop', 'x'] }] } },
      'auth.policies[0].merchants[1] names a merchant that is not configured',
    ],
    [
      'an unknown permission',
      { auth: { tokens: [token], policies: [{ ...policy, allow: ['all'] }] } },
      'auth.policies[0].allow[0] must be one of session:read, session:reject, session:renew, payload:encrypt, payload:decrypt',
    ],
  ])('%s', (_name, raw, expected) => {
    expect(faults(raw)).toEqual([expected]);
  });

  it.each<[string, Raw]>([
    ['auth disabled on IPv6 loopback', { http: { host: '::1' }, auth: { disabled: true } }],
    ['auth disabled on localhost', { http: { host: 'LocalHost' }, auth: { disabled: true } }],
    ['both ports free to choose', { http: { port: 0 }, management: { port: 0 } }],
    [
      'several tokens and policies of one caller',
      { auth: { tokens: [token, { ...token, sha256: OTHER_TOKEN }], policies: [policy, policy] } },
    ],
    ['http in test', { merchants: [testMerchant()] }],
    [
      'a lead and a margin that cannot be compared without a lifetime',
      withSession({ renewBefore: '10%', safetyMargin: '5m' }),
    ],
  ])('nothing about %s', (_name, raw) => expect(faults(raw)).toEqual([]));

  it('everything at once, in the order of the file, each with its path', () => {
    const paths = faultsOf(() =>
      parse({
        http: { host: '0.0.0.0', port: '80', x: 1 },
        auth: { disabled: true, mtls: 1 },
        merchants: [
          5,
          merchant({ gateway: { baseUrl: 'http://a', timeout: '1h', requestData: { attach: 'body' } } }),
          merchant({ id: '${NO_SUCH}', serviceCode: OTHER_CODE, session: { renewBefore: '60%' } }),
        ],
        log: null,
        store: { type: 'radish' },
      }),
    ).map(({ path }) => path);
    expect(paths).toEqual([
      'merchants[0]',
      'merchants[1].gateway.baseUrl',
      'merchants[1].gateway.timeout',
      'merchants[1].gateway.requestData.name',
      'merchants[1].gateway.requestData.recipientKeyFile',
      'merchants[2].id',
      'merchants[2].session.renewBefore',
      'http.port',
      'http.x',
      'auth.disabled',
      'auth.mtls',
      'log',
      'store.type',
    ]);
  });

  it('with two hundred faults at most', () => {
    const unknown = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`x${index}`, 1]));
    expect(faults({ log: unknown })).toHaveLength(200);
  });

  it('with an error that lists the faults in its detail', () => {
    const act = (): unknown => parse({ log: { level: 'loud' } });
    expect(act).toThrow(ConfigurationError);
    expect(act).toThrow('log.level must be one of debug, info, warn, error');
  });
});
