import { type StoreConfiguration, storeConfiguration } from './broker-configuration.js';
import { CODE, faults, faultsOf, merchant, OTHER_CODE, parse, type Raw } from './configuration-fixtures.js';
import { ConfigurationError } from './fault.js';

const TOKEN = 'ab'.repeat(32);
const PIN = `sha256/${Buffer.alloc(32, 7).toString('base64')}`;

const token = { caller: 'checkout', sha256: TOKEN };
const policy = { caller: 'checkout', merchants: ['shop'], allow: ['session:read'] };
const withPolicy = (changes: Raw): Raw => ({ auth: { tokens: [token], policies: [{ ...policy, ...changes }] } });
const jwt = { issuer: 'https://issuer.example', audience: 'session-broker', jwksUri: 'https://issuer.example/jwks' };
const withJwt = (changes: Raw): Raw => ({ auth: { jwt: { ...jwt, ...changes } } });
const tls = { certFile: 'tls.crt', keyFile: 'tls.key' };
const night = { from: '03:00', to: '05:00', timeZone: 'Europe/Kyiv' };

const withMerchant = (changes: Raw): Raw => ({ merchants: [merchant(changes)] });
const withGateway = (gateway: Raw): Raw =>
  withMerchant({ gateway: { baseUrl: 'https://gateway.example', ...gateway } });
const inTest = (gateway: Raw): Raw => withGateway({ baseUrl: 'http://sandbox:8081', environment: 'test', ...gateway });
const withSession = (session: Raw): Raw => withMerchant({ session });
const asleep = (changes: Raw): Raw => withSession({ quietHours: { ...night, ...changes } });
const beside = (changes: Raw): Raw => ({ merchants: [merchant(), merchant({ id: 'b', ...changes })] });
const sameId = beside({ id: 'shop', serviceCode: OTHER_CODE });
const redis = (store: Raw): Raw => ({ store: { type: 'redis', ...store } });

describe('a configuration of a broker', () => {
  it.each<[Raw, string]>([
    [{ htttp: {} }, 'htttp is not a setting; did you mean http? known here: http, management, store, auth, audit'],
    [
      withGateway({ tls: { insecure: true } }),
      'merchants[0].gateway.tls.insecure is not a setting; known here: caFile',
    ],
    [{ http: 'x' }, 'http must be a mapping of settings'],
    [{ http: [] }, 'http must be a mapping of settings'],
    [{ auth: { tokens: {} } }, 'auth.tokens must be a sequence'],
    [{ http: { host: {} } }, 'http.host must be a single value'],
    [{ log: { level: 1 } }, 'log.level must be text: one of debug, info, warn, error; put the value in quotes'],
    [{ http: { port: 80.5 } }, 'http.port must be a whole number from 0 to 65535'],
    [{ management: { port: 65_536 } }, 'management.port must be a whole number from 0 to 65535'],
    [{ management: { port: 8080 } }, 'management.port must differ from http.port'],
    [{ merchants: [] }, 'merchants must have at least 1 item'],
    [{ merchants: undefined }, 'merchants is missing'],
    [{ store: { onStoreOutage: 'authorize' } }, 'store.onStoreOutage is given up: '],

    [withMerchant({ gateway: undefined }), 'merchants[0].gateway is missing'],
    [withMerchant({ serviceCode: undefined }), 'merchants[0].serviceCode is missing: give the UUID'],
    [withMerchant({ serviceCodeFile: 'x' }), 'merchants[0].serviceCodeFile is given as well as serviceCode'],
    // And not for the policy that means the other merchant.
    [{ ...sameId, ...withPolicy({ merchants: ['shop', 'b'] }) }, 'merchants[1].id is already the id of merchants[0]'],
    [
      beside({ serviceCode: CODE.toUpperCase() }),
      'merchants[1].serviceCode is already the serviceCode of merchants[0]',
    ],
    [withGateway({ baseUrl: 'http://a' }), 'baseUrl must be https, because gateway.environment is production'],
    [withGateway({ testBaseUrl: 'https://t' }), 'testBaseUrl is accepted only with environment: test'],
    [inTest({ tls: { pins: [PIN] } }), 'merchants[0].gateway.tls has no effect on an http baseUrl'],
    [inTest({ tls: { caFile: 'a' } }), 'merchants[0].gateway.tls has no effect on an http baseUrl'],
    [withGateway({ supersedes: 'maybe' }), 'merchants[0].gateway.supersedes must be true, false or unknown'],
    [withGateway({ requestData: { attach: 'body', name: 'a' } }), 'recipientKeyFile is missing: attach: body needs it'],
    [withGateway({ requestData: { name: 'a' } }), 'requestData.name has no effect with attach: none'],

    [withSession({ renewBefore: '1m', safetyMargin: '2m' }), 'safetyMargin must be less than renewBefore'],
    [withSession({ safetyMargin: '20%' }), 'safetyMargin must be less than renewBefore (20% by default)'],
    [withSession({ renewBefore: '5%' }), 'renewBefore must be more than safetyMargin (5% by default)'],
    [withSession({ renewBefore: '8h' }), 'renewBefore must be shorter than session.fallbackLifetime'],
    [withSession({ fallbackLifetime: '25h' }), 'longestLifetime must be at least session.fallbackLifetime'],
    [withSession({ renewEvery: '15m', renewBefore: '8m' }), 'renewEvery must be at least twice renewBefore'],
    [asleep({ from: '3:00' }), 'quietHours.from must be a time of day from 00:00 to 23:59, in quotes'],
    [asleep({ to: '03:00' }), 'merchants[0].session.quietHours.to must not be the same time as from'],
    [asleep({ timeZone: 'secret-of-mine' }), 'quietHours.timeZone must be the name of a time zone'],
    [asleep({ timeZone: '+02:00' }), 'quietHours.timeZone must be the name of a time zone'],

    [
      { http: { host: '0.0.0.0' }, auth: { disabled: true } },
      'auth.disabled is accepted only while http.host is a loo',
    ],
    [{ auth: { disabled: true, tokens: [token] } }, 'auth.disabled makes tokens, jwt, mtls and policies ineffective'],
    [{ auth: { disabled: true, jwt } }, 'auth.disabled makes tokens, jwt, mtls and policies ineffective'],
    [{ http: { host: 'broker.internal' } }, 'auth.tokens must have at least one token unless auth.jwt or auth.mtls is'],
    [{ auth: { tokens: [token, { caller: 'b', sha256: TOKEN.toUpperCase() }] } }, 'auth.tokens[1].sha256 is the same'],
    [withPolicy({ caller: 'x' }), 'auth.policies[0].caller names a caller that has no token in auth.tokens'],
    [withPolicy({ merchants: ['shop', 'x'] }), 'auth.policies[0].merchants[1] names a merchant that is not configured'],
    [withPolicy({ allow: ['all'] }), 'auth.policies[0].allow[0] must be one of session:read, session:reject'],
    [withJwt({ jwksUri: undefined }), 'auth.jwt.jwksUri is missing: the keys of the issuer come from'],
    [withJwt({ jwksFile: 'jwks.json' }), 'auth.jwt.jwksFile is given as well as auth.jwt.jwksUri'],
    [withJwt({ jwksUri: 'http://issuer.example/jwks' }), 'auth.jwt.jwksUri must be an https URL'],
    [withJwt({ types: ['at jwt'] }), "auth.jwt.types[0] must be a type of token, such as 'at+jwt'"],
    [{ auth: { mtls: true } }, 'http.tls is missing: auth.mtls needs certFile, keyFile and clientCaFile'],
    [{ http: { tls }, auth: { mtls: true } }, 'http.tls.clientCaFile is missing: auth.mtls needs certFile'],
    [{ http: { tls: { ...tls, clientCaFile: 'a' } } }, 'http.tls.clientCaFile has no effect without auth.mtls'],
    [{ http: { tls: { certFile: 'tls.crt' } } }, 'http.tls.keyFile is missing: it must be the path of a file'],

    [redis({}), 'store.url is missing'],
    [redis({ url: 'redis://a', cluster: ['b:7000'] }), 'store.cluster is given as well as store.url'],
    [{ store: { url: 'redis://a' } }, 'store.url has no effect with store.type memory'],
    [{ store: { tls: {} } }, 'store.tls has no effect with store.type memory'],
    [redis({ url: 'http://a' }), 'store.url must be a URL such as redis://host:6379/0'],
    [redis({ url: 'redis://a?db=1' }), 'store.url must be a URL such as'],
    [redis({ url: 'redis://a/one' }), 'store.url must be a URL such as'],
    [redis({ cluster: ['a'] }), 'store.cluster[0] must be host:port'],
    [redis({ cluster: ['a:0'] }), 'store.cluster[0] must be host:port'],
    [redis({ sentinels: ['a:1'] }), 'store.name is missing'],
    [redis({ url: 'redis://a', username: 'x' }), 'store.passwordFile is missing'],
    [redis({ url: 'redis://u:p@a', passwordFile: 'x' }), 'store.url has a user or password as well as username or'],
    [redis({ url: 'redis://a', tls: {} }), 'store.tls has no effect on a redis: URL'],
    [redis({ url: 'rediss://a', tls: { certFile: 'x' } }), 'store.tls.keyFile is missing'],
  ])('is refused for one fault: %j', (raw, expected) => {
    expect(faults(raw)).toEqual([expect.stringContaining(expected)]);
  });

  it.each<Raw>([
    { http: { host: '::1' }, auth: { disabled: true } },
    { http: { host: 'LocalHost' }, auth: { disabled: true } },
    { http: { host: '0.0.0.0', tls: { ...tls, clientCaFile: 'ca.pem' } }, auth: { mtls: true, policies: [policy] } },
    { http: { host: '0.0.0.0', tls }, auth: { jwt, policies: [policy] } },
    { http: { port: 0 }, management: { port: 0 } },
    { auth: { tokens: [token, { ...token, sha256: 'cd'.repeat(32) }], policies: [policy, policy] } },
    withPolicy({ merchants: ['*'] }),
    inTest({}),
    // They cannot be compared without a lifetime.
    withSession({ renewBefore: '10%', safetyMargin: '5m' }),
    withSession({ renewEvery: '8h', renewBefore: '20%' }),
    asleep({ from: '23:00', to: '01:00' }),
  ])('is accepted with %j', (raw) => {
    expect(faults(raw)).toEqual([]);
  });

  it('has texts, shares, durations and a digest as the program works with them', () => {
    const session = { renewBefore: '25%', safetyMargin: '10s', handover: '0s', renewEvery: '12h', quietHours: night };
    const parsed = parse({
      auth: { tokens: [{ ...token, sha256: TOKEN.toUpperCase() }], policies: [policy] },
      ...withSession(session),
    });
    expect(parsed.auth).toMatchObject({ tokens: [{ sha256: TOKEN }] });
    expect(parsed.merchants[0]?.session).toMatchObject({
      renewBefore: { kind: 'share', share: 0.25 },
      safetyMargin: { kind: 'duration', durationMs: 10_000 },
      handoverMs: 0,
      renewEveryMs: 43_200_000,
      quietHours: night,
    });
  });

  it('is warned of where a network can reach the API without TLS', () => {
    const warnings = (http: object): string[] => parse({ http, ...withPolicy({}) }).warnings.map(({ path }) => path);
    expect([warnings({ host: '0.0.0.0' }), warnings({ host: '::' })]).toEqual([['http.tls'], ['http.tls']]);
    expect([warnings({ host: '0.0.0.0', tls }), warnings({ host: '127.0.0.1' })]).toEqual([[], []]);
  });

  it('takes numbers and flags from the environment, and only from there as text', () => {
    const environment = { PORT: '8081', NO: 'false', ID: '42' };
    const gateway = { baseUrl: 'https://a', supersedes: '${NO}' };
    const raw = {
      http: { port: '${PORT}', docs: '${NO}' },
      merchants: [merchant({ id: '${ID}', required: '${NO}', gateway })],
    };
    const parsed = parse(raw, environment);
    expect(parsed.http).toMatchObject({ port: 8081, docs: false });
    expect(parsed.merchants[0]).toMatchObject({ id: '42', required: false, gateway: { supersedes: false } });
    expect(faults({ http: { port: '8081', docs: 'false' } })).toEqual([
      'http.port must be a whole number from 0 to 65535, without quotes',
      'http.docs must be true or false, without quotes',
    ]);
    for (const PORT of ['080', '1e3', '8080 ', '0x50', '', '-1', '8080.0']) {
      expect([PORT, faultsOf(() => parse({ http: { port: '${PORT}' } }, { PORT }))]).toEqual([
        PORT,
        [expect.anything()],
      ]);
    }
  });

  it.each(['auth', 'auth.disabled', 'auth.jwt', 'auth.mtls', 'auth.tokens'])(
    'is told of %s from a variable that is not set which one, and nothing that follows from it',
    (path) => {
      const [, setting] = path.split('.');
      const auth = setting === undefined ? '${HIDDEN}' : { [setting]: '${HIDDEN}' };
      expect(faults({ http: { host: '0.0.0.0' }, auth })).toEqual([
        `${path} needs the environment variable HIDDEN, which is not set`,
      ]);
    },
  );

  it('is refused by an error that lists the faults in its detail', () => {
    const act = (): unknown => parse({ store: { type: 'radish' } });
    expect(act).toThrow(ConfigurationError);
    expect(act).toThrow('store.type must be one of memory, redis');
  });

  it('is refused for two hundred faults at most', () => {
    const unknown = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`x${index}`, 1]));
    expect(faults({ log: unknown })).toHaveLength(200);
  });
});

describe('the settings of the store', () => {
  /** Where the store is, as if each of its files held its own name. */
  const stored = (store: Raw): StoreConfiguration => storeConfiguration(parse(redis(store)).store);

  it('name a single Redis, sentinels and the primary that they watch, or some nodes of a cluster', () => {
    const url = 'rediss://user:secret@redis.example:6380/2';
    expect(stored({ url, keyPrefix: 'p' })).toEqual({ type: 'redis', keyPrefix: 'p', place: { kind: 'url', url } });
    const sentinels = ['sentinel-0:26379', '[::1]:26380'];
    expect(stored({ sentinels, name: 'primary', username: 'broker', passwordFile: 'password' })).toEqual({
      type: 'redis',
      keyPrefix: 'session-broker',
      place: {
        kind: 'sentinel',
        sentinels: [
          { host: 'sentinel-0', port: 26_379 },
          { host: '::1', port: 26_380 },
        ],
        name: 'primary',
      },
      username: 'broker',
      passwordFile: 'password',
    });
    expect(
      stored({ cluster: ['10.0.0.1:7000'], tls: { caFile: 'ca.pem', servername: 'redis.example' } }),
    ).toMatchObject({
      place: { kind: 'cluster', nodes: [{ host: '10.0.0.1', port: 7_000 }] },
      tls: { caFile: 'ca.pem', servername: 'redis.example' },
    });
  });

  it('never quote a password in a fault', () => {
    const found = faults(redis({ url: 'redis://user:canary@host/not-a-number', name: 'x' }));
    expect(found.length).toBeGreaterThan(0);
    expect(found.join()).not.toContain('canary');
  });
});
