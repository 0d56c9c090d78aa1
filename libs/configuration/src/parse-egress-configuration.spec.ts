import { faultsOf, type Raw, written } from './configuration-fixtures.js';
import { parseEgressConfiguration } from './load-configuration.js';

const TOKEN = 'ab'.repeat(32);
const ALIAS = '337d9304-0368-11ed-b939-0242ac120002';
const token = { sha256: TOKEN };
const otherToken = { sha256: 'cd'.repeat(32) };

const shop = (changes: Raw = {}): Raw => ({ name: 'shop', merchant: 'shop', token, ...changes });
const kiosk = (changes: Raw = {}): Raw => ({ name: 'kiosk', merchant: 'shop', ...changes });
const withAlias = { serviceCodeAlias: ALIAS, publicKeyFile: 'shop.pub.jwk.json' };
const tls = { certFile: 'tls.crt', keyFile: 'tls.key' };
const listen = { tls: { ...tls, clientCaFile: 'clients.pem' } };
const aliasKeyFiles = ['alias.jwk.json'];

const parse = (changes: Raw = {}): ReturnType<typeof parseEgressConfiguration> => {
  // The order here is also the order in the file.
  const minimal = {
    broker: { url: 'http://127.0.0.1:8080' },
    gateway: { baseUrl: 'https://gateway.example' },
    clients: [shop()],
  };
  return parseEgressConfiguration(JSON.stringify({ egress: { ...minimal, ...changes } }), {});
};
const faults = (changes: Raw): string[] => written(faultsOf(() => parse(changes)));
const warnings = (changes: Raw): string[] => written(parse(changes).warnings);

const route = (changes: Raw): Raw => ({ routes: [{ path: '/pay', body: 'clear', ...changes }] });
const clear = (...paths: string[]): Raw => ({ routes: paths.map((path) => ({ path, body: 'clear' })) });
const broker = (changes: Raw): Raw => ({ broker: { url: 'https://broker.example', ...changes } });
const gateway = (changes: Raw): Raw => ({ gateway: { baseUrl: 'https://gateway.example', ...changes } });
const one = (changes: Raw, rest: Raw = {}): Raw => ({ clients: [shop(changes)], ...rest });
const two = (changes: Raw, rest: Raw = {}): Raw => ({ clients: [shop(), kiosk(changes)], ...rest });

describe('a configuration of an egress', () => {
  it.each<[Raw, string]>([
    [{ routes: Array(101).fill({}) }, 'egress.routes must have at most 100 items'],
    [one({ name: '_unknown' }), 'egress.clients[0].name must be 1 to'],
    [route({ body: 'sealed', encrypted: ['a b'] }), 'egress.routes[0].encrypted[0] must be 1 to 64'],
    [
      { listen: { port: 9000 }, management: { port: 9000 } },
      'egress.management.port must differ from egress.listen.port',
    ],

    [broker({}), 'egress.broker.tokenFile is missing: name the file with the token of the egress'],
    [broker({ tls: { ...tls, certFile: 5 } }), 'egress.broker.tls.certFile must be text: the path of a file'],
    [broker({ tls: { ...tls, keyFile: 5 } }), 'egress.broker.tls.keyFile must be text: the path of a file'],
    [broker({ tls: { keyFile: 'k' } }), 'egress.broker.tls.certFile is missing: certFile and keyFile belong together'],
    [broker({ url: 'http://localhost', tls: { caFile: 'a' } }), 'egress.broker.tls has no effect on an http url'],
    [
      gateway({ baseUrl: 'http://a' }),
      'egress.gateway.baseUrl must be https, because gateway.environment is production',
    ],

    [clear('/a', '/a'), 'egress.routes[1].path is never reached: egress.routes[0] comes first and matches all of it'],
    [clear('/a/*', '/b/**', '/b/c', '/**'), 'egress.routes[2].path is never reached: egress.routes[1] comes first'],
    [route({ body: 'sealed', maxBytes: 65_537 }), 'egress.routes[0].maxBytes must be at most 65536 with body: sealed'],

    [
      two({}),
      'egress.clients[1].token is missing: a client needs at least one of token, certificate and serviceCodeAlias',
    ],
    // What is wrong is not said to be missing as well.
    [two({ certificate: 'a b' }), 'egress.clients[1].certificate must be 1 to 128'],
    [two({ serviceCodeAlias: 'x' }), 'egress.clients[1].serviceCodeAlias must be a UUID'],
    [two({ serviceCodeAliasFile: 5 }), 'egress.clients[1].serviceCodeAliasFile must be text'],
    [two({ token: 5 }), 'egress.clients[1].token must be a mapping'],
    [two({ formerToken: 5 }), 'egress.clients[1].formerToken must be a mapping'],
    [one({ publicKeyFile: 'k', serviceCodeAliasFile: 5 }), 'egress.clients[0].serviceCodeAliasFile must be text'],
    [two(withAlias, { aliasKeyFiles: 5 }), 'egress.aliasKeyFiles must be a sequence'],
    [one({ certificate: 'shop' }, { listen: { tls: 5 } }), 'egress.listen.tls must be a mapping of settings'],

    [one({ serviceCodeAlias: ALIAS }, { aliasKeyFiles }), 'egress.clients[0].publicKeyFile is missing: answers to a'],
    [
      one({ publicKeyFile: 'k' }),
      'egress.clients[0].serviceCodeAlias is missing: publicKeyFile has no effect without it',
    ],
    [
      one({ ...withAlias, serviceCodeAliasFile: 'alias' }, { aliasKeyFiles }),
      'egress.clients[0].serviceCodeAliasFile is given as well as serviceCodeAlias',
    ],
    [two(withAlias), 'egress.aliasKeyFiles is missing: the alias session of egress.clients[1] is made from a key'],
    [
      one({ certificate: 'shop' }),
      'egress.listen.tls is missing: egress.clients[0].certificate needs certFile, keyFile',
    ],
    [one({ certificate: 'shop' }, { listen: { tls } }), 'egress.listen.tls.clientCaFile is missing: egress.clients[0]'],

    [two({ name: 'shop', token: otherToken }), 'egress.clients[1].name is already the name of egress.clients[0]'],
    [
      two({ token: { sha256: TOKEN.toUpperCase() } }),
      'egress.clients[1].token.sha256 is the same token as egress.clients[0].token',
    ],
    [
      two({ token: otherToken, formerToken: token }),
      'egress.clients[1].formerToken.sha256 is the same token as egress.clients[0].token',
    ],
    [one({ formerToken: token }), 'egress.clients[0].formerToken.sha256 is the same token as egress.clients[0].token'],
    [
      { listen, clients: [shop({ certificate: 'a' }), kiosk({ certificate: 'a' })] },
      'egress.clients[1].certificate is already the certificate of egress.clients[0]',
    ],
  ])('is refused for one fault: %j', (changes, expected) => {
    expect(faults(changes)).toEqual([expect.stringContaining(expected)]);
  });

  it.each(['X-Bank', 'x-device-id', 'x-refresh_token', 'authorization', 'cookie', 'content-length', 'connection'])(
    'passes no header %s of a client on',
    (name) => {
      expect(faults(gateway({ passedHeaders: [name] }))).toEqual([
        expect.stringMatching(/^egress\.gateway\.passedHeaders\[0\] must be the name of a header/),
      ]);
    },
  );

  it.each<Raw>([
    { listen: { port: 0 }, management: { port: 0 } },
    broker({ tokenFile: 'token' }),
    broker({ tls }),
    broker({ url: 'http://127.0.0.2:8080' }),
    broker({ url: 'http://[::1]:8080' }),
    broker({ url: 'https://localhost' }),
    gateway({ baseUrl: 'http://gateway.example', environment: 'test' }),
    route({ body: 'sealed', maxBytes: 65_536 }),
    route({ maxBytes: 67_108_864 }),
    two({ token: otherToken }),
    two({ certificate: 'kiosk' }, { listen }),
    two(withAlias, { aliasKeyFiles }),
    two({ serviceCodeAliasFile: 'alias', publicKeyFile: 'k' }, { aliasKeyFiles }),
  ])('is accepted with %j', (changes) => {
    expect(faults(changes)).toEqual([]);
  });

  it('says of the file of a broker that it is one, and of each section without a default that it is missing', () => {
    const faultsIn = (text: string): string[] => written(faultsOf(() => parseEgressConfiguration(text, {})));
    expect(faultsIn('merchants: []')).toEqual(['(file) is the configuration of a broker']);
    expect(faultsIn('egress: {}')).toEqual([
      'egress.broker is missing',
      'egress.gateway is missing',
      'egress.clients is missing',
    ]);
  });

  it('is warned of what is in clear over a network, on either side', () => {
    expect(warnings({ listen: { host: '0.0.0.0' } })).toEqual([
      expect.stringMatching(/^egress\.listen\.tls is missing, and egress\.listen\.host is not a loopback address/),
    ]);
    expect(warnings(broker({ url: 'http://broker:8080', tokenFile: 'token' }))).toEqual([
      expect.stringMatching(/^egress\.broker\.url is http to another machine: .* are not encrypted; use https$/),
    ]);
    expect(warnings({ listen: { host: '0.0.0.0', tls }, ...broker({ tokenFile: 'token' }) })).toEqual([]);
    expect(warnings({ listen: { host: '::1' } })).toEqual([]);
  });
});
