import { faultsOf, type Raw, written } from './configuration-fixtures.js';
import { parseEgressConfiguration } from './load-configuration.js';

const TOKEN = 'ab'.repeat(32);
const OTHER_TOKEN = 'cd'.repeat(32);
const ALIAS = '337d9304-0368-11ed-b939-0242ac120002';
const OTHER_ALIAS = '437d9304-0368-11ed-b939-0242ac120002';

const shop = (changes: Raw = {}): Raw => ({ name: 'shop', merchant: 'shop', token: { sha256: TOKEN }, ...changes });
const kiosk = (changes: Raw = {}): Raw => ({ name: 'kiosk', merchant: 'shop', ...changes });
const withAlias = { serviceCodeAlias: ALIAS, publicKeyFile: 'shop.pub.jwk.json' };
const tls = { certFile: 'tls.crt', keyFile: 'tls.key' };

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

describe('parseEgressConfiguration', () => {
  it('reads every setting', () => {
    const parsed = parse({
      listen: { host: '0.0.0.0', port: 0, tls: { ...tls, clientCaFile: 'clients.pem' } },
      management: { host: '::1', port: 0 },
      broker: { url: 'https://broker.example/b', tokenFile: 'token', tls: { caFile: 'ca.pem', ...tls } },
      gateway: {
        baseUrl: 'http://sandbox:8081',
        environment: 'test',
        timeout: '2s',
        passedHeaders: ['x-bank-channel'],
        proxy: 'http://u:p@proxy:3128',
      },
      aliasKeyFiles: ['new.jwk.json', 'old.jwk.json'],
      clients: [
        shop({
          formerToken: { sha256: OTHER_TOKEN.toUpperCase() },
          certificate: 'spiffe://example/shop',
          ...withAlias,
        }),
        kiosk({ serviceCodeAliasFile: 'alias', publicKeyFile: 'kiosk.pub.jwk.json' }),
      ],
      routes: [{ path: '/pay', body: 'sealed', encrypted: ['pan'], maxBytes: 1 }],
      audit: { destination: 'none' },
      reload: { watch: false, every: '1m' },
      log: { level: 'debug' },
    });
    expect(parsed).toMatchObject({
      listen: { host: '0.0.0.0', port: 0, tls: { certFile: 'tls.crt', clientCaFile: 'clients.pem' } },
      broker: { url: new URL('https://broker.example/b'), tokenFile: 'token', tls: { caFile: 'ca.pem', ...tls } },
      gateway: { environment: 'test', timeoutMs: 2_000, proxy: new URL('http://u:p@proxy:3128') },
      clients: [
        { formerToken: { sha256: OTHER_TOKEN }, certificate: 'spiffe://example/shop', serviceCodeAlias: ALIAS },
        { name: 'kiosk', serviceCodeAliasFile: 'alias' },
      ],
      routes: [{ path: '/pay', body: 'sealed', encrypted: ['pan'], maxBytes: 1 }],
      audit: { destination: 'none' },
      reload: { watch: false, everyMs: 60_000 },
      log: { level: 'debug' },
      warnings: [],
      certificates: [],
    });
    expect(parsed.files.map(({ path, content }) => `${path} ${content}`)).toEqual([
      'egress.listen.tls.certFile certificates',
      'egress.listen.tls.keyFile secret',
      'egress.listen.tls.clientCaFile certificates',
      'egress.broker.tokenFile secret',
      'egress.broker.tls.caFile certificates',
      'egress.broker.tls.certFile certificates',
      'egress.broker.tls.keyFile secret',
      'egress.aliasKeyFiles[0] secret',
      'egress.aliasKeyFiles[1] secret',
      'egress.clients[0].publicKeyFile public',
      'egress.clients[1].publicKeyFile public',
      'egress.clients[1].serviceCodeAliasFile secret',
    ]);
  });

  it('says of the file of a broker that it is one', () => {
    expect(written(faultsOf(() => parseEgressConfiguration('merchants: []', {})))).toEqual([
      '(file) is the configuration of a broker',
    ]);
  });

  it('says of each section that has no default that it is missing', () => {
    expect(written(faultsOf(() => parseEgressConfiguration('egress: {}', {})))).toEqual([
      'egress.broker is missing',
      'egress.gateway is missing',
      'egress.clients is missing',
    ]);
  });

  it.each<[string, Raw, string]>([
    ['too many routes', { routes: Array(101).fill({}) }, 'egress.routes must have at most 100 items'],
    ['a client that looks like none', { clients: [shop({ name: '_unknown' })] }, 'egress.clients[0].name must be 1 to'],
    [
      'a member that no body has',
      route({ body: 'sealed', encrypted: ['a b'] }),
      'egress.routes[0].encrypted[0] must be 1 to 64',
    ],
  ])('refuses %s', (_what, changes, fault) => {
    expect(faults(changes)).toEqual([expect.stringContaining(fault)]);
  });
});

function route(changes: Raw): Raw {
  return { routes: [{ path: '/pay', body: 'clear', ...changes }] };
}
function gateway(changes: Raw): Raw {
  return { gateway: { baseUrl: 'https://gateway.example', ...changes } };
}
function broker(changes: Raw): Raw {
  return { broker: { url: 'https://broker.example', ...changes } };
}

describe('the addresses of an egress', () => {
  it('must have two ports, or free ones', () => {
    expect(faults({ listen: { port: 9000 }, management: { port: 9000 } })).toEqual([
      'egress.management.port must differ from egress.listen.port',
    ]);
    expect(faults({ listen: { port: 0 }, management: { port: 0 } })).toEqual([]);
  });

  it('are warned of when a network can reach them without TLS', () => {
    expect(warnings({ listen: { host: '0.0.0.0' } })).toEqual([
      expect.stringMatching(/^egress\.listen\.tls is missing, and egress\.listen\.host is not a loopback address/),
    ]);
    expect(warnings({ listen: { host: '0.0.0.0', tls } })).toEqual([]);
    expect(warnings({ listen: { host: '::1' } })).toEqual([]);
  });
});

describe('the way to the broker', () => {
  it('needs a token or a certificate, except on this machine', () => {
    expect(faults(broker({}))).toEqual([
      'egress.broker.tokenFile is missing: name the file with the token of the egress, or give broker.tls a certFile and a keyFile',
    ]);
    expect(faults(broker({ tokenFile: 'token' }))).toEqual([]);
    expect(faults(broker({ tls }))).toEqual([]);
    for (const url of ['http://127.0.0.2:8080', 'http://[::1]:8080', 'https://localhost']) {
      expect(faults(broker({ url }))).toEqual([]);
    }
  });

  it.each(['certFile', 'keyFile'])('says nothing of a missing token when there is a faulty %s', (setting) => {
    const found = faults(broker({ tls: { ...tls, [setting]: 5 } }));
    expect(found).toEqual([`egress.broker.tls.${setting} must be text: the path of a file; put the value in quotes`]);
  });

  it('needs the certificate that belongs to a key', () => {
    expect(faults(broker({ tls: { keyFile: 'tls.key' } }))).toEqual([
      'egress.broker.tls.certFile is missing: certFile and keyFile belong together',
    ]);
  });

  it('has no TLS over http', () => {
    expect(faults({ broker: { url: 'http://localhost:8080', tls: { caFile: 'ca.pem' } } })).toEqual([
      'egress.broker.tls has no effect on an http url; use https, or remove it',
    ]);
  });

  it('is warned of when it is in clear over a network', () => {
    expect(warnings(broker({ url: 'http://broker:8080', tokenFile: 'token' }))).toEqual([
      'egress.broker.url is http to another machine: the token of the egress and the sessions are not encrypted; use https',
    ]);
    expect(warnings(broker({ tokenFile: 'token' }))).toEqual([]);
  });
});

describe('the way to the gateway', () => {
  it('is https in production', () => {
    expect(faults(gateway({ baseUrl: 'http://gateway.example' }))).toEqual([
      'egress.gateway.baseUrl must be https, because gateway.environment is production; if this is a test gateway, set it to test',
    ]);
    expect(faults(gateway({ baseUrl: 'http://gateway.example', environment: 'test' }))).toEqual([]);
  });
});

describe('the routes', () => {
  const clear = (path: string): Raw => ({ path, body: 'clear' });

  it('must each be reached', () => {
    expect(faults({ routes: [clear('/a/*'), clear('/b/**'), clear('/b/c'), clear('/b/*'), clear('/**')] })).toEqual([
      'egress.routes[2].path is never reached: egress.routes[1] comes first and matches all of it; put this one before that, or remove it',
      'egress.routes[3].path is never reached: egress.routes[1] comes first and matches all of it; put this one before that, or remove it',
    ]);
  });

  it('must differ', () => {
    expect(faults({ routes: [clear('/a'), clear('/a')] })).toEqual([
      expect.stringMatching(/^egress\.routes\[1\]\.path is never reached/),
    ]);
  });

  it('hold no sealed body of more than 64 KiB', () => {
    const sealed = (maxBytes: number): Raw => ({ routes: [{ path: '/pay', body: 'sealed', maxBytes }] });
    expect(faults(sealed(65_537))).toEqual(['egress.routes[0].maxBytes must be at most 65536 with body: sealed']);
    expect(faults(sealed(65_536))).toEqual([]);
    expect(faults(route({ maxBytes: 67_108_864 }))).toEqual([]);
  });

  it.each(['X-Bank', 'x-device-id', 'x-refresh_token', 'authorization', 'cookie', 'content-length', 'connection'])(
    'pass no header %s of a client on',
    (name) => {
      expect(faults({ gateway: { baseUrl: 'https://gateway.example', passedHeaders: [name] } })).toEqual([
        expect.stringMatching(/^egress\.gateway\.passedHeaders\[0\] must be the name of a header/),
      ]);
    },
  );
});

describe('the clients', () => {
  const listen = { tls: { ...tls, clientCaFile: 'clients.pem' } };
  const aliasKeyFiles = ['alias.jwk.json'];

  it.each<[string, Raw, Raw]>([
    ['a token', { token: { sha256: OTHER_TOKEN } }, {}],
    ['a certificate', { certificate: 'kiosk' }, { listen }],
    ['an alias', withAlias, { aliasKeyFiles }],
    ['an alias in a file', { serviceCodeAliasFile: 'alias', publicKeyFile: 'k' }, { aliasKeyFiles }],
  ])('may have %s alone', (_credential, changes, rest) => {
    expect(faults({ clients: [shop(), kiosk(changes)], ...rest })).toEqual([]);
  });

  it('need at least one credential', () => {
    expect(faults({ clients: [shop(), kiosk()] })).toEqual([
      'egress.clients[1].token is missing: a client needs at least one of token, certificate and serviceCodeAlias',
    ]);
  });

  it.each<[string, Raw, string]>([
    ['certificate', { certificate: 'a b' }, 'egress.clients[0].certificate must be 1 to 128'],
    ['serviceCodeAlias', { serviceCodeAlias: 'x' }, 'egress.clients[0].serviceCodeAlias must be a UUID'],
    ['serviceCodeAliasFile', { serviceCodeAliasFile: 5 }, 'egress.clients[0].serviceCodeAliasFile must be text'],
    ['token', { token: 5 }, 'egress.clients[0].token must be a mapping'],
    ['formerToken', { formerToken: 5 }, 'egress.clients[0].formerToken must be a mapping'],
  ])('are not said to have no credential when their %s is wrong', (_setting, changes, fault) => {
    expect(faults({ clients: [kiosk(changes)] })).toEqual([expect.stringContaining(fault)]);
  });

  it('need a key with their alias, and an alias with their key', () => {
    expect(faults({ aliasKeyFiles, clients: [shop({ serviceCodeAlias: ALIAS })] })).toEqual([
      'egress.clients[0].publicKeyFile is missing: answers to a client with serviceCodeAlias are sealed to its public key',
    ]);
    expect(faults({ clients: [shop({ publicKeyFile: 'shop.pub.jwk.json' })] })).toEqual([
      'egress.clients[0].serviceCodeAlias is missing: publicKeyFile has no effect without it; give it, or remove publicKeyFile',
    ]);
    expect(faults({ clients: [shop({ publicKeyFile: 'k', serviceCodeAliasFile: 5 })] })).toEqual([
      expect.stringContaining('egress.clients[0].serviceCodeAliasFile must be text'),
    ]);
  });

  it('have one alias each', () => {
    expect(faults({ aliasKeyFiles, clients: [shop({ ...withAlias, serviceCodeAliasFile: 'alias' })] })).toEqual([
      'egress.clients[0].serviceCodeAliasFile is given as well as serviceCodeAlias; give only one of them',
    ]);
  });

  it('need a key of the egress for an alias', () => {
    expect(faults({ clients: [shop(), kiosk(withAlias)] })).toEqual([
      'egress.aliasKeyFiles is missing: the alias session of egress.clients[1] is made from a key of the egress; make one with `keys generate`',
    ]);
    expect(faults({ aliasKeyFiles: 5, clients: [kiosk(withAlias)] })).toEqual([
      'egress.aliasKeyFiles must be a sequence',
    ]);
  });

  it('need an authority for a certificate', () => {
    const clients = [shop({ certificate: 'shop' })];
    const problem = 'is missing: egress.clients[0].certificate needs certFile, keyFile and clientCaFile';
    expect(faults({ clients })).toEqual([`egress.listen.tls ${problem}`]);
    expect(faults({ clients, listen: { tls } })).toEqual([`egress.listen.tls.clientCaFile ${problem}`]);
    expect(faults({ clients, listen: { tls: 5 } })).toEqual(['egress.listen.tls must be a mapping of settings']);
  });

  it('must have names of their own', () => {
    expect(faults({ clients: [shop(), kiosk({ name: 'shop', token: { sha256: OTHER_TOKEN } })] })).toEqual([
      'egress.clients[1].name is already the name of egress.clients[0]; names must be unique',
    ]);
  });

  it('must have tokens of their own, former ones included', () => {
    const problem = (other: string): string => `is the same token as egress.${other}; give each its own, or remove one`;
    const same = { sha256: TOKEN.toUpperCase() };
    expect(faults({ clients: [shop(), kiosk({ token: same })] })).toEqual([
      `egress.clients[1].token.sha256 ${problem('clients[0].token')}`,
    ]);
    expect(faults({ clients: [shop(), kiosk({ token: { sha256: OTHER_TOKEN }, formerToken: same })] })).toEqual([
      `egress.clients[1].formerToken.sha256 ${problem('clients[0].token')}`,
    ]);
    expect(faults({ clients: [shop({ formerToken: same })] })).toEqual([
      `egress.clients[0].formerToken.sha256 ${problem('clients[0].token')}`,
    ]);
  });

  it('must have certificates of their own', () => {
    expect(faults({ listen, clients: [shop({ certificate: 'shop' }), kiosk({ certificate: 'shop' })] })).toEqual([
      'egress.clients[1].certificate is already the certificate of egress.clients[0]; it must name exactly one client',
    ]);
  });

  it('must have aliases of their own, whatever the case', () => {
    const clients = [shop(withAlias), kiosk({ ...withAlias, serviceCodeAlias: ALIAS.toUpperCase() })];
    expect(faults({ aliasKeyFiles, clients })).toEqual([
      'egress.clients[1].serviceCodeAlias is already the alias of egress.clients[0]; an alias must name exactly one client',
    ]);
    expect(
      faults({ aliasKeyFiles, clients: [shop(withAlias), kiosk({ ...withAlias, serviceCodeAlias: OTHER_ALIAS })] }),
    ).toEqual([]);
  });
});
