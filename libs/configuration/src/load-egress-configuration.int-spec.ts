import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateClientKey } from '#libs/jwe';
import { FakeClock, TestAuthority } from '#libs/testing';
import { type Raw, refusal, written } from './configuration-fixtures.js';
import type { EgressConfiguration } from './egress-configuration.js';
import { loadConfiguration, loadEgressConfiguration } from './load-configuration.js';

const clock = new FakeClock();

const TOKEN = 'ab'.repeat(32);
const FORMER_TOKEN = 'cd'.repeat(32);
const ALIAS = '337d9304-0368-11ed-b939-0242ac120002';
const OTHER_ALIAS = '437d9304-0368-11ed-b939-0242ac120002';

describe('the configuration of an egress in files', () => {
  let folder: string;
  let file: string;
  let aliasKey: Awaited<ReturnType<typeof generateClientKey>>;
  let clientKey: Awaited<ReturnType<typeof generateClientKey>>;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'egress-'));
    file = join(folder, 'egress.yaml');
    [aliasKey, clientKey] = await Promise.all([generateClientKey(), generateClientKey()]);
    await put('alias.jwk.json', JSON.stringify(aliasKey.privateJwk));
    await put('shop.pub.jwk.json', JSON.stringify(clientKey.publicJwk), 0o644);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const put = async (name: string, content: string, mode = 0o600): Promise<void> => {
    await writeFile(join(folder, name), content);
    await chmod(join(folder, name), mode);
  };
  const shop = (changes: Raw = {}): Raw => ({
    name: 'shop',
    merchant: 'shop',
    serviceCodeAlias: ALIAS,
    publicKeyFile: 'shop.pub.jwk.json',
    ...changes,
  });
  const write = (changes: Raw = {}): Promise<void> => {
    const egress = {
      broker: { url: 'http://127.0.0.1:8080' },
      gateway: { baseUrl: 'https://gateway.example' },
      aliasKeyFiles: ['alias.jwk.json'],
      clients: [shop()],
    };
    return put('egress.yaml', JSON.stringify({ egress: { ...egress, ...changes } }));
  };
  const load = async (changes: Raw = {}): Promise<EgressConfiguration> => {
    await write(changes);
    return loadEgressConfiguration(file, { environment: {}, clock });
  };
  const faultsOf = async (loading: Promise<unknown>): Promise<string[]> => written(await refusal(loading));

  it('is what the egress works by, and nothing of the settings as they are written', async () => {
    expect(await load()).toEqual({
      listen: { host: '127.0.0.1', port: 8090, connections: {} },
      management: { host: '127.0.0.1', port: 9466, hosts: [] },
      broker: { url: new URL('http://127.0.0.1:8080'), tls: {} },
      gateway: {
        baseUrl: new URL('https://gateway.example'),
        environment: 'production',
        timeoutMs: 30_000,
        passedHeaders: [],
        tls: { pins: [] },
      },
      aliasKeys: [expect.objectContaining({ thumbprint: aliasKey.thumbprint })],
      clients: [
        {
          name: 'shop',
          merchant: 'shop',
          tokenDigests: [],
          alias: {
            serviceCode: ALIAS,
            publicKey: expect.objectContaining({ thumbprint: clientKey.thumbprint }) as object,
          },
        },
      ],
      routes: [
        { path: '/ecom/execute_request/hpp/**', body: 'clear', encrypted: [], maxBytes: 1_048_576 },
        { path: '/ecom/execute_request/**', body: 'sealed', encrypted: [], maxBytes: 65_536 },
      ],
      audit: { destination: 'stdout' },
      reload: { watch: true, everyMs: 5_000, maxRemoved: 10 },
      log: { level: 'info' },
      files: [
        { path: 'egress.aliasKeyFiles[0]', file: 'alias.jwk.json', content: 'secret' },
        { path: 'egress.clients[0].publicKeyFile', file: 'shop.pub.jwk.json', content: 'public' },
      ],
      warnings: [],
      certificates: [],
    });
  });

  it('holds certificates and keys as texts, and the token of the egress as a path', async () => {
    const authority = new TestAuthority();
    const own = authority.issue({ names: ['egress'] });
    await Promise.all([put('ca.pem', authority.cert), put('tls.crt', own.cert), put('tls.key', own.key)]);
    const pair = { certFile: 'tls.crt', keyFile: 'tls.key' };
    const token = { sha256: TOKEN.toUpperCase() };
    const { listen, broker, clients, gateway } = await load({
      listen: { tls: { ...pair, clientCaFile: 'ca.pem' } },
      broker: { url: 'https://broker.example', tokenFile: 'token', tls: { ...pair, caFile: 'ca.pem' } },
      gateway: { baseUrl: 'https://gateway.example', tls: { caFile: 'ca.pem' } },
      clients: [shop({ token, formerToken: { sha256: FORMER_TOKEN }, certificate: 'shop' })],
    });
    expect(listen.tls).toEqual({ cert: own.cert, key: own.key, clientCa: authority.cert });
    expect(broker).toEqual({
      url: new URL('https://broker.example'),
      tokenFile: join(folder, 'token'),
      tls: { ca: authority.cert, cert: own.cert, key: own.key },
    });
    expect(gateway.tls).toEqual({ ca: authority.cert, pins: [] });
    expect(clients[0]).toMatchObject({ tokenDigests: [TOKEN, FORMER_TOKEN], certificate: 'shop' });
  });

  it.each([
    ['\n', 'names a file that holds no token: it is empty'],
    ['{"token": "Zk7canaryQ"}', 'names a file that holds no token: it has characters that no token has'],
  ])(
    'refuses a file that is there and has no token for the broker, and quotes nothing of it',
    async (text, problem) => {
      await put('token', text);
      const broker = { url: 'https://broker.example', tokenFile: 'token' };
      expect(await faultsOf(load({ broker }))).toEqual([`egress.broker.tokenFile ${problem}`]);
    },
  );

  it('refuses a key that does not belong to its certificate, on either side', async () => {
    const authority = new TestAuthority();
    const [own, other] = [authority.issue({ names: ['a'] }), authority.issue({ names: ['b'] })];
    await Promise.all([put('tls.crt', own.cert), put('tls.key', other.key)]);
    const tls = { certFile: 'tls.crt', keyFile: 'tls.key' };
    expect(await faultsOf(load({ broker: { url: 'https://broker.example', tls }, listen: { tls } }))).toEqual([
      'egress.broker.tls.keyFile names a key that does not belong to the certificate',
      'egress.listen.tls.keyFile names a key that does not belong to the certificate',
    ]);
  });

  it('reads an alias from a file, and takes it in lower case', async () => {
    await put('alias', `${ALIAS.toUpperCase()}\n`);
    const { clients } = await load({ clients: [shop({ serviceCodeAlias: undefined, serviceCodeAliasFile: 'alias' })] });
    expect(clients[0]?.alias?.serviceCode).toBe(ALIAS);
    await put('alias', 'Zk7canaryQ');
    expect(await faultsOf(loadEgressConfiguration(file, { environment: {}, clock }))).toEqual([
      'egress.clients[0].serviceCodeAliasFile must hold a UUID, made for this client alone, and nothing else',
    ]);
  });

  it('refuses an alias that two clients have, in a file or not', async () => {
    await put('alias', ALIAS.toUpperCase());
    const inFile = { name: 'kiosk', serviceCodeAlias: undefined, serviceCodeAliasFile: 'alias' };
    expect(await faultsOf(load({ clients: [shop(), shop(inFile)] }))).toEqual([
      'egress.clients[1].serviceCodeAlias is already the alias of egress.clients[0]; an alias must name exactly one client',
    ]);
    await put('alias', OTHER_ALIAS);
    expect((await load({ clients: [shop(), shop(inFile)] })).clients).toHaveLength(2);
  });

  it('is not a configuration of a broker', async () => {
    await write();
    expect(await faultsOf(loadConfiguration(file, { environment: {}, clock }))).toEqual([
      '(file) is the configuration of an egress',
    ]);
  });
});
