import { generateKeyPairSync } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateClientKey } from '#libs/jwe';
import { FakeClock, TestAuthority } from '#libs/testing';
import { CODE, merchant, OTHER_CODE, type Raw, refusal, written } from './configuration-fixtures.js';
import type { Fault } from './fault.js';
import { checkConfiguration, loadConfiguration } from './load-configuration.js';

const clock = new FakeClock();

const CANARY = 'Zk7canaryQ';

const CERTIFICATE = `-----BEGIN CERTIFICATE-----
CERTIFICATE_BODY
-----END CERTIFICATE-----
`;

describe('loadConfiguration', () => {
  let folder: string;
  let key: Awaited<ReturnType<typeof generateClientKey>>;
  let bank: Awaited<ReturnType<typeof generateClientKey>>;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'configuration-'));
    [key, bank] = await Promise.all([generateClientKey(), generateClientKey()]);
    await put('shop.jwk.json', JSON.stringify(key.privateJwk));
    await put('bank.jwk.json', JSON.stringify(bank.publicJwk), 0o644);
    await put('code', `${CODE}\n`);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const put = async (name: string, content: string | Uint8Array, mode = 0o600): Promise<void> => {
    await writeFile(join(folder, name), content);
    await chmod(join(folder, name), mode);
  };
  const loadText = async (raw: Raw): ReturnType<typeof loadConfiguration> => {
    await put('broker.yaml', JSON.stringify(raw));
    return loadConfiguration(join(folder, 'broker.yaml'), { environment: {}, clock });
  };
  const load = (...merchants: Raw[]): ReturnType<typeof loadConfiguration> =>
    loadText({ auth: { disabled: true }, merchants });
  const faultsOf = async (loading: Promise<unknown>): Promise<readonly Fault[]> =>
    (await refusal(loading)).map(({ path, problem }) => ({ path, problem }));
  const withGateway = (gateway: Raw): Raw => merchant({ gateway: { baseUrl: 'https://gateway.example', ...gateway } });

  it('imports keys, code and recipient from files beside the configuration', async () => {
    const requestData = { attach: 'body', name: 'jwe', recipientKeyFile: './bank.jwk.json' };
    const loaded = await load({ ...withGateway({ requestData }), serviceCode: undefined, serviceCodeFile: 'code' });
    expect(loaded.merchants[0]).toMatchObject({
      id: 'shop',
      serviceCode: CODE,
      clientKeys: [{ thumbprint: key.thumbprint }],
      gateway: {
        requestData: { attach: 'body', name: 'jwe', recipient: { thumbprint: bank.thumbprint } },
        tls: { pins: [] },
      },
    });
    expect(loaded.warnings).toEqual([]);
  });

  it('keeps the order of client keys, newest first, and follows links', async () => {
    const older = await generateClientKey();
    await put('old.jwk.json', JSON.stringify(older.privateJwk));
    await symlink(join(folder, 'shop.jwk.json'), join(folder, 'link.json'));
    const loaded = await load(merchant({ clientKeyFiles: ['link.json', join(folder, 'old.jwk.json')] }));
    expect(loaded.merchants[0]?.clientKeys.map(({ thumbprint }) => thumbprint)).toEqual([
      key.thumbprint,
      older.thumbprint,
    ]);
  });

  it('warns of each secret file that others can open, and loads it', async () => {
    await chmod(join(folder, 'shop.jwk.json'), 0o604);
    await chmod(join(folder, 'code'), 0o604);
    const problem = 'names a secret file that is open to every user of the machine; set its mode to 0600 or 0400';
    const loaded = await load(merchant({ serviceCode: undefined, serviceCodeFile: 'code' }));
    expect(loaded.warnings).toEqual([
      { path: 'merchants[0].serviceCodeFile', problem, line: 1 },
      { path: 'merchants[0].clientKeyFiles[0]', problem, line: 1 },
    ]);
  });

  describe('a certificate', () => {
    const day = (days: number): Date => new Date(clock.now() + days * 86_400_000);

    it.each([
      ['and no more', { notAfter: day(15) }, undefined],
      [
        'where that is soon',
        { notAfter: day(13) },
        'names a certificate that expires on 2026-01-14T00:00:00.000Z, in less than 14 days; replace it before then',
      ],
      [
        'where it has ended',
        { notAfter: day(0) },
        'names a certificate that expired on 2026-01-01T00:00:00.000Z: connections that are verified by it fail; replace it now',
      ],
      [
        'where it has not begun',
        { notBefore: day(1), notAfter: day(90) },
        'names a certificate that is not valid before 2026-01-02T00:00:00.000Z; replace it, or correct the clock of this machine',
      ],
    ])('is said to end when it ends, %s, once for all that name it', async (_when, dates, problem) => {
      const { cert, key: privateKey } = new TestAuthority().issue({ names: ['broker'], ...dates });
      await put('tls.crt', cert, 0o644);
      await put('tls.key', privateKey);
      const tls = { certFile: 'tls.crt', keyFile: 'tls.key', clientCaFile: 'tls.crt' };
      const loaded = await loadText({ auth: { mtls: true }, http: { tls }, merchants: [merchant()] });
      expect(loaded.certificates).toEqual([{ setting: 'http.tls.certFile', endsAt: dates.notAfter.getTime() }]);
      expect(loaded.warnings).toEqual(problem === undefined ? [] : [{ path: 'http.tls.certFile', line: 1, problem }]);
    });
  });

  it('warns of a file of authorities only where none of them is valid for long', async () => {
    const { cert: ended } = new TestAuthority().issue({ names: [], notAfter: new Date('2021-01-01T00:00:00Z') });
    await put('ended.pem', ended, 0o644);
    await put('two.pem', `${ended}\n${new TestAuthority().cert}`, 0o644);
    const withCa = (caFile: string): Raw => withGateway({ tls: { caFile } });
    expect((await load(withCa('two.pem'))).warnings).toEqual([]);
    expect((await load(withCa('ended.pem'))).warnings).toMatchObject([
      {
        path: 'merchants[0].gateway.tls.caFile',
        problem: expect.stringContaining('expired on 2021-01-01T00:00:00.000Z'),
      },
    ]);
  });

  it('lists the faults of all files of all merchants at once, in the order of the file', async () => {
    const notAcceptable = 'names a key that is not acceptable';
    const keyFiles: readonly (readonly [file: string, fault: string, content?: string | Uint8Array])[] = [
      ['missing.json', 'names a file that does not exist'],
      ['public.json', `${notAcceptable}: "d" is missing`, JSON.stringify(key.publicJwk)],
      ['no.json', 'names a file that is not JSON; expected a JWK', `{"d": "${CANARY}`],
      ['list.json', notAcceptable, '[]'],
      ['wrong.json', notAcceptable, JSON.stringify({ ...bank.privateJwk, d: key.privateJwk['d'] })],
      ['big.json', 'names a file that is larger than 65536 bytes', ' '.repeat(70_000)],
      ['binary.json', 'names a file that is not UTF-8 text', Uint8Array.of(0xff, 0xfe)],
      ['folder', 'names a file that is not a regular file'],
      ['code/x', 'names a file that does not exist; a part of its path'],
      ['pipe', `names a file that is not a regular file; relative paths begin at ${folder}`],
    ];
    for (const [file, , content] of keyFiles) if (content !== undefined) await put(file, content);
    await mkdir(join(folder, 'folder'));
    // Nobody writes to it: it is not waited for.
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await put('bad-code', CANARY);
    await put('ca.pem', 'no certificate');
    await put('damaged.pem', CERTIFICATE);
    await put('key.pem', '-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n');
    const requestData = { attach: 'body', name: 'jwe', recipientKeyFile: 'shop.jwk.json' };
    const ofFile = { serviceCode: undefined, serviceCodeFile: 'bad-code' };
    const faults = await faultsOf(
      load(
        merchant({ clientKeyFiles: keyFiles.map(([file]) => file) }),
        { ...withGateway({ requestData, tls: { caFile: 'ca.pem' } }), ...ofFile, id: 'b' },
        { ...withGateway({ tls: { caFile: 'damaged.pem' } }), id: 'c', serviceCode: OTHER_CODE },
        { ...withGateway({ tls: { caFile: 'key.pem' } }), id: 'd', serviceCode: OTHER_CODE.replace('2', '3') },
      ),
    );
    expect(written(faults)).toEqual([
      ...keyFiles.map(([, fault], index) => expect.stringContaining(`clientKeyFiles[${index}] ${fault}`) as string),
      expect.stringContaining('merchants[1].serviceCodeFile must hold a UUID'),
      expect.stringMatching(/recipientKeyFile names a key that is not acceptable: .*"d"/),
      expect.stringContaining('merchants[1].gateway.tls.caFile names a file without a PEM certificate'),
      'merchants[2].gateway.tls.caFile names a file with a damaged certificate',
      'merchants[3].gateway.tls.caFile names a file with a private key in it; give the certificates alone',
    ]);
    const said = JSON.stringify(faults);
    expect(said).not.toContain(CANARY);
    expect(said).not.toContain(key.privateJwk['d']);
  });

  it('lists what is wrong in the file and in all files that it names together, each once, in the order of the file', async () => {
    await put('tls.crt', 'no certificate');
    const loading = loadText({
      http: { port: '80', tls: { certFile: 'tls.crt', keyFile: 'missing.key' } },
      auth: { disabled: true, mtls: 5 },
      store: { passwordFile: 'missing' },
      merchants: [merchant({ id: '${NO_SUCH}', clientKeyFiles: ['missing.json', 5, 'missing.json'] }), 5],
      log: { level: 'loud' },
    });
    expect(written(await faultsOf(loading))).toEqual([
      'http.port must be a whole number from 0 to 65535, without quotes',
      'http.tls.certFile names a file without a PEM certificate',
      expect.stringContaining('http.tls.keyFile names a file that does not exist'),
      'auth.mtls must be true or false, without quotes',
      expect.stringContaining('store.passwordFile has no effect with store.type memory'),
      'merchants[0].id needs the environment variable NO_SUCH, which is not set',
      expect.stringContaining('merchants[0].clientKeyFiles[0] names a file that does not exist'),
      expect.stringContaining('merchants[0].clientKeyFiles[1] must be text'),
      expect.stringContaining('merchants[0].clientKeyFiles[2] names a file that does not exist'),
      'merchants[1] must be a mapping of settings',
      'log.level must be one of debug, info, warn, error',
    ]);
  });

  it('knows a key in PEM, and says how it becomes a JWK', async () => {
    const pem = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export({ type: 'sec1', format: 'pem' });
    await put('shop.pem', pem.toString());
    await put("the shop's", pem.toString());
    const faults = await faultsOf(load(merchant({ clientKeyFiles: ['shop.pem', "the shop's"] })));
    const says = (file: string, jwk: string): string =>
      `names a file that is a private key in PEM, but a JWK is required; convert it: session-broker keys convert ${file} --out ${jwk}`;
    expect(faults.map(({ problem }) => problem)).toEqual([
      says(join(folder, 'shop.pem'), join(folder, 'shop.jwk.json')),
      says(`'${folder}/the shop'\\''s'`, `'${folder}/the shop'\\''s.jwk.json'`),
    ]);
  });

  it('compares the contents of files with each other even beside other faults', async () => {
    await put('copy.json', JSON.stringify(key.privateJwk));
    const demo = {
      id: 'demo',
      serviceCodeFile: 'code',
      clientKeyFiles: ['copy.json'],
      gateway: { baseUrl: 'http://a', environment: 'test', timeout: '1h' },
    };
    expect(written(await faultsOf(load(merchant(), demo)))).toEqual([
      'merchants[1].serviceCode is already the serviceCode of merchants[0]; their sessions would end each other',
      'merchants[1].clientKeyFiles[0] is also a production key (merchants[0].clientKeyFiles[0]); a test merchant needs a key of its own',
      'merchants[1].gateway.timeout must be a duration from 100ms to 60s, such as 90s, 15m or 2h',
    ]);
  });

  describe('the access to the API', () => {
    const authority = new TestAuthority();
    const own = authority.issue({ names: ['broker.internal'] });
    const publicKey = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid: 'one' };
    const issuer = { issuer: 'https://issuer.example', audience: 'session-broker' };
    const loadWith = (access: Raw): ReturnType<typeof loadConfiguration> =>
      loadText({ ...access, merchants: [merchant()] });
    const tls = { certFile: 'tls.crt', keyFile: 'tls.key', clientCaFile: 'ca.pem' };

    beforeEach(async () => {
      await put('tls.crt', own.cert);
      await put('tls.key', own.key);
      await put('ca.pem', authority.cert);
      await put('jwks.json', JSON.stringify({ keys: [publicKey] }));
    });

    it('is read from its files: certificate, key, authorities and the keys of the issuer', async () => {
      const jwt = { ...issuer, jwksFile: 'jwks.json' };
      const { http, auth, warnings } = await loadWith({ http: { tls }, auth: { mtls: true, jwt } });
      expect(http.tls).toEqual({ cert: own.cert, key: own.key, clientCa: authority.cert });
      expect(auth.jwt?.keys).toEqual({ kind: 'set', set: { keys: [publicKey] } });
      expect(warnings).toEqual([]);
    });

    it('leaves the token for the keys where it is: what is in it changes', async () => {
      const jwt = {
        ...issuer,
        jwksUri: 'https://kubernetes/openid/v1/jwks',
        jwksTokenFile: 'token',
        jwksCaFile: 'ca.pem',
      };
      const { auth, warnings } = await loadWith({ auth: { jwt } });
      expect(auth.jwt?.keys).toMatchObject({ kind: 'uri', tokenFile: join(folder, 'token'), ca: authority.cert });
      expect(warnings).toEqual([
        {
          path: 'auth.jwt.jwksTokenFile',
          problem: expect.stringMatching(
            /^names a file that does not exist; .*; until it can be read, no keys are fetched, and no token of the issuer/,
          ) as string,
          line: 1,
        },
      ]);
      await put('token', CANARY);
      expect((await loadWith({ auth: { jwt } })).warnings).toEqual([]);
    });

    it('is refused with a key of another certificate, and with signing keys where public ones belong', async () => {
      await put('tls.key', authority.issue({ names: ['other'] }).key);
      await put('jwks.json', JSON.stringify({ keys: [{ kty: 'oct', k: CANARY }] }));
      const { certFile, keyFile } = tls;
      const store = { type: 'redis', url: 'rediss://127.0.0.1:6379', tls: { certFile, keyFile } };
      const auth = { mtls: true, jwt: { ...issuer, jwksFile: 'jwks.json' } };
      const faults = await faultsOf(loadWith({ http: { tls }, store, auth }));
      expect(written(faults)).toEqual([
        'http.tls.keyFile names a key that does not belong to the certificate',
        'store.tls.keyFile names a key that does not belong to the certificate',
        expect.stringContaining('auth.jwt.jwksFile names a file that is not a JSON Web Key Set'),
      ]);
      expect(JSON.stringify(faults)).not.toContain(CANARY);
    });
  });

  it('runs no PKCS#11 module that the configuration does not name, and none at all for a check', async () => {
    const module = join(folder, 'token.so');
    const uri = `pkcs11:token=bank;object=shop?module-path=${module}&pin-source=${join(folder, 'pin')}`;
    await put('shop.jwk.json', JSON.stringify({ ...key.publicJwk, pkcs11: uri }));
    expect(await faultsOf(load(merchant()))).toMatchObject([
      {
        path: 'merchants[0].clientKeyFiles[0]',
        problem:
          'names a key that is not acceptable: "pkcs11" gives a module-path that is not among pkcs11.modules of the configuration',
      },
    ]);
    await put('broker.yaml', JSON.stringify({ pkcs11: { modules: [module] }, merchants: [merchant()] }));
    const around = { environment: {}, clock };
    const { configuration } = await checkConfiguration(join(folder, 'broker.yaml'), { ...around, reads: 'files' });
    expect(configuration).toMatchObject({ merchants: [{ clientKeys: [{ publicJwk: { x: key.publicJwk['x'] } }] }] });
  });

  it('says in one fault that the file itself is not there, is a folder or is too large', async () => {
    const problemOf = async (name: string): Promise<string | undefined> => {
      const [fault] = await faultsOf(loadConfiguration(join(folder, name), { environment: {}, clock }));
      return `${fault?.path} ${fault?.problem}`;
    };
    await put('big.yaml', ' '.repeat(1_048_577));
    const named = (name: string): string => `(file) ${join(folder, name)}`;
    expect(await problemOf('none.yaml')).toBe(`${named('none.yaml')} does not exist; check the path`);
    expect(await problemOf('.')).toBe(`${named('.')} is not a regular file`);
    expect(await problemOf('big.yaml')).toBe(`${named('big.yaml')} is larger than 1048576 bytes`);
  });
});
