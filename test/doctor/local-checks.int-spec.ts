import { once } from 'node:events';
import { chmod, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { generateClientKey } from '#libs/jwe';
import { endedAfterEach, freePort, TestAuthority } from '#libs/testing';
import { Examined, messagesOf } from './examined.js';

const OTHER_CODE = 'c0ffee01-0368-41ed-b939-0242ac120002';
const DEAD_GATEWAY = { gatewayUrl: 'http://127.0.0.1:9' };
let examined: Examined;

const started = endedAfterEach();
beforeEach(async () => {
  examined = started.add(await Examined.create(), (it) => it.remove());
  await examined.configure([{ gatewayUrl: `http://127.0.0.1:${await freePort()}` }]);
});

describe('doctor: the configuration', () => {
  it('is all that is looked at when it cannot be read, and the rest is said not to have run', async () => {
    await examined.write('broker.yaml', 'http: { port: http\n');
    const { code, check, checks } = await examined.doctor('--discover');
    expect(code).toBe(2);
    expect(check('configuration').status).toBe('failed');
    expect(messagesOf(check('configuration'), 'fault').join()).toContain('brackets');
    expect(check('environment').status).not.toBe('not_run');
    const others = checks.filter(({ name }) => !['environment', 'configuration'].includes(name));
    expect(others.length).toBeGreaterThan(11);
    expect(others.map(({ status }) => status).every((status) => status === 'not_run')).toBe(true);
    expect(check('session.request_data').reason).toBe('it needs configuration, which failed');
  });

  it('is reported as missing by its exit code', async () => {
    const { code, check } = await examined.doctor('--config', examined.path('nowhere.yaml'));
    expect(code).toBe(2);
    expect(messagesOf(check('configuration'), 'fault').join()).toContain(
      `${examined.path('nowhere.yaml')} does not exist`,
    );
  });

  it('is not judged where variables of the environment are not set: as for config check, and never as a fault', async () => {
    const gateway = createServer((_request, response) => response.writeHead(405).end());
    started.add(gateway, (it) => it.close());
    await once(gateway.listen(0, '127.0.0.1'), 'listening');
    const gatewayUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
    await examined.configure([{ gatewayUrl, serviceCode: '"${SHOP_CODE}"' }]);
    const { code, check } = await examined.doctor();
    expect(code).toBe(6);
    expect(check('configuration')).toMatchObject({
      status: 'not_run',
      reason: expect.stringMatching(/not set: SHOP_CODE for merchants\[0\]\.serviceCode \(line 8\); run the doctor in/),
    });
    expect(check('files').status).toBe('passed');
    expect((await examined.cli('config', 'check', examined.config)).code).toBe(code);
  });

  it('leaves out what needs such a variable, and looks at all the rest', async () => {
    const { gatewayUrl } = DEAD_GATEWAY;
    const other = { gatewayUrl: '${OTHER_GATEWAY}', id: 'other', serviceCode: '"${OTHER_CODE}"' };
    await examined.configure(
      [{ gatewayUrl, serviceCode: '"${SHOP_CODE}"' }, other],
      '{ type: redis, url: "${REDIS_URL}" }',
    );
    const { code, checks, check } = await examined.doctor('--create-session', '--merchant', 'shop');
    expect(code).toBe(4);
    const statusOf = (status: string): readonly string[] =>
      checks.filter((each) => each.status === status).map(({ name, subject }) => subject ?? name);
    expect([check('keys').status, check('gateway.dns').status, check('gateway.tcp').status]).toEqual([
      ...['passed', 'passed', 'failed'],
    ]);
    expect(check('store.connection').reason).toBe('it needs REDIS_URL, which is not set');
    expect(check('session.create').reason).toBe('it needs the whole configuration');
    expect(statusOf('not_run')).toEqual(expect.arrayContaining(['store.rights', 'configuration']));
    const all = await examined.doctor();
    const ofOther = all.checks.filter(({ subject }) => subject === 'other');
    expect(ofOther.map(({ name }) => name)).toContain('gateway.tls');
    expect(new Set(ofOther.map(({ reason }) => reason))).toEqual(new Set(['it needs OTHER_GATEWAY, which is not set']));
    expect(all.check('keys').status).not.toBe('not_run');
  });

  it('is at fault for what is wrong beside such variables, and both are told', async () => {
    await examined.configure([{ ...DEAD_GATEWAY, serviceCode: '"${SHOP_CODE}"' }], '{ type: radish }');
    const { code, check } = await examined.doctor();
    expect(code).toBe(2);
    expect(messagesOf(check('configuration'), 'fault')).toEqual([
      expect.stringMatching(/^store\.type \(line 3\) /),
      expect.stringMatching(/^merchants\[0\]\.serviceCode \(line 8\) needs the environment variable SHOP_CODE/),
    ]);
    expect((await examined.cli('config', 'check', examined.config)).code).toBe(code);
  });

  it('is reported with all that is wrong in it and in the files that it names', async () => {
    await examined.configure([DEAD_GATEWAY, { ...DEAD_GATEWAY, keyFile: 'missing.json' }], '{ type: radish }');
    const { check } = await examined.doctor();
    const told = messagesOf(check('configuration'), 'fault').join();
    expect(told).toContain('store.type');
    expect(told).toContain('merchants[1].clientKeyFiles[0] (line 13) names a file that does not exist');
  });

  it('is looked at as far as its own files go when one of those is damaged', async () => {
    await examined.write('client.json', '{}', 0o644);
    await chmod(examined.folder, 0o755);
    const { check } = await examined.doctor();
    expect(check('configuration').status).toBe('failed');
    expect(messagesOf(check('files'), 'fault').join()).toContain('every user can read the secret');
  });
});

describe('doctor: a file that is at fault', () => {
  const REASON = 'it needs the file of merchants[1].clientKeyFiles[0], with which something is wrong';

  it.each([
    ['is not there', undefined],
    ['holds no key', '{}'],
  ])('leaves out what needs it and nothing else: one that %s', async (_what, content) => {
    if (content !== undefined) await examined.write('other.json', content);
    const other = { gatewayUrl: 'http://127.0.0.1:10', id: 'other', serviceCode: OTHER_CODE, keyFile: 'other.json' };
    await examined.configure([DEAD_GATEWAY, other], '{ type: redis, url: "redis://127.0.0.1:9/0" }');
    const { code, checks, check } = await examined.doctor('--create-session', '--merchant', 'shop');
    expect(code).toBe(2);
    expect(check('configuration').status).toBe('failed');
    expect(checks.filter(({ name }) => name === 'keys')).toMatchObject([{ status: 'passed' }]);
    expect(check('store.connection').status).toBe('failed');
    expect(check('gateway.tcp').status).toBe('failed');
    expect(check('session.create').reason).toBe('it needs the whole configuration');
    const all = await examined.doctor();
    expect(all.checks.filter(({ name }) => name === 'keys')).toMatchObject([
      { status: 'passed' },
      { status: 'not_run', subject: 'other', reason: REASON },
    ]);
    expect(all.checks.filter(({ name }) => name === 'gateway.tcp').map(({ status }) => status)).toEqual([
      ...['failed', 'failed'],
    ]);
  });

  it('is named with variables that are not set, and the gateway is looked at without what create calls would hold', async () => {
    const gateway = 'requestData: { attach: body, name: jwe, recipientKeyFile: none.json }, tls: { caFile: "${CA}" }';
    const first = { ...DEAD_GATEWAY, gateway: 'requestData: { attach: body, name: jwe, recipientKeyFile: none.json }' };
    await examined.configure(
      [first, { gatewayUrl: 'https://127.0.0.1:10', id: 'other', serviceCode: OTHER_CODE, gateway }],
      '{ type: redis, url: "rediss://127.0.0.1:9/0", passwordFile: "${NAME}", tls: { caFile: none.pem } }',
    );
    const { checks, check } = await examined.doctor();
    expect(check('store.connection').reason).toBe(
      'it needs NAME, which is not set, and the file of store.tls.caFile, with which something is wrong',
    );
    expect(checks.find(({ name }) => name === 'gateway.tcp')?.status).toBe('failed');
    expect(checks.find(({ subject }) => subject === 'other')?.reason).toBe('it needs CA, which is not set');
  });

  it('may be a key that is not that of its certificate, or a certificate that is missing', async () => {
    const authority = new TestAuthority();
    await examined.write('cert.pem', authority.issue({ names: ['broker.test'] }).cert);
    await examined.write('key.pem', authority.issue({ names: ['broker.test'] }).key);
    const http = 'http: { host: 127.0.0.1, port: 8080, tls: { certFile: cert.pem, keyFile: key.pem } }';
    const configure = async (): Promise<void> => {
      await examined.configure([DEAD_GATEWAY]);
      const text = await readFile(examined.config, 'utf8');
      await examined.write('broker.yaml', text.replace(/^http: .*$/m, http), 0o644);
    };
    await configure();
    const mismatched = await examined.doctor();
    expect(messagesOf(mismatched.check('configuration'), 'fault')).toHaveLength(1);
    expect(['keys', 'certificates', 'gateway.tcp'].map((name) => mismatched.check(name).status)).toEqual([
      ...['passed', 'failed', 'failed'],
    ]);
    expect(messagesOf(mismatched.check('certificates'), 'fault')).toEqual([
      'http.tls.certFile: the certificate is not that of the key beside it',
    ]);
    await rm(examined.path('key.pem'));
    expect((await examined.doctor()).check('certificates').status).toBe('passed');
    await rm(examined.path('cert.pem'));
    const missing = await examined.doctor();
    expect(missing.code).toBe(2);
    expect(['keys', 'gateway.tcp'].map((name) => missing.check(name).status)).toEqual(['passed', 'failed']);
    expect(missing.check('certificates').status).toBe('not_applicable');
  });
});

describe('doctor: files', () => {
  it('passes on files that are their owner’s alone', async () => {
    const { check } = await examined.doctor();
    expect(check('files').status).toBe('passed');
  });

  it.each([
    ['a key that everyone can read', 0o644, 'fault', 'every user can read the secret'],
    ['a key that everyone can change', 0o602, 'fault', 'every user can change the file'],
    ['a key that its group can read', 0o640, 'warning', 'its group can read the secret'],
    ['a key that its group can change', 0o620, 'warning', 'its group can change the file'],
  ])('finds %s', async (...[, mode, level, message]) => {
    await chmod(examined.folder, 0o755);
    await chmod(examined.path('client.json'), mode);
    const { code, check } = await examined.doctor();
    expect(messagesOf(check('files'), level)).toEqual([`merchants[0].clientKeyFiles[0]: ${message}`]);
    if (level === 'fault') expect(code).toBe(2);
  });

  it.each([
    ['in a folder that nobody else gets into', 'own', []],
    ['below such a folder', 'own/below', []],
    ['behind a link out of one', 'link', ['merchants[0].clientKeyFiles[0]: every user can read the secret']],
  ])(
    'judges who can read a key that everyone may read by the folders on the way: %s',
    async (_where, folder, faults) => {
      await chmod(examined.folder, 0o755);
      await mkdir(examined.path('own'), { mode: 0o700 });
      await mkdir(examined.path('own/below'));
      await mkdir(examined.path('open'));
      await chmod(examined.path('open'), 0o755);
      const target = folder === 'link' ? 'open' : folder;
      await rename(examined.path('client.json'), examined.path(`${target}/client.json`));
      await chmod(examined.path(`${target}/client.json`), 0o644);
      if (folder === 'link') await symlink(examined.path('open/client.json'), examined.path('own/client.json'));
      const keyFile = folder === 'link' ? 'own/client.json' : `${target}/client.json`;
      await examined.configure([{ ...DEAD_GATEWAY, keyFile }]);
      expect(messagesOf((await examined.doctor()).check('files'), 'fault')).toEqual(faults);
    },
  );

  it('warns of the group alone where only a group gets past a folder', async () => {
    await chmod(examined.folder, 0o750);
    await chmod(examined.path('client.json'), 0o604);
    const { check } = await examined.doctor();
    expect(messagesOf(check('files'), 'fault')).toEqual([]);
    expect(messagesOf(check('files'), 'warning')).toEqual([
      'merchants[0].clientKeyFiles[0]: its group can read the secret',
    ]);
  });

  it('finds a folder in which everyone can swap files, also behind a link', async () => {
    const open = examined.path('open');
    await mkdir(open);
    await chmod(open, 0o777);
    await rename(examined.path('client.json'), join(open, 'client.json'));
    await symlink(join(open, 'client.json'), examined.path('client.json'));
    const { code, check } = await examined.doctor();
    expect(messagesOf(check('files'), 'fault')).toEqual([
      'merchants[0].clientKeyFiles[0]: every user can swap files in its folder',
    ]);
    expect(code).toBe(2);
    await chmod(open, 0o1777);
    expect((await examined.doctor()).check('files').status).toBe('passed');
  });

  it('finds a configuration that everyone can change', async () => {
    await chmod(examined.folder, 0o755);
    await chmod(examined.config, 0o666);
    expect(messagesOf((await examined.doctor()).check('files'), 'fault').join()).toContain('the configuration');
  });
});

describe('doctor: keys', () => {
  it('names them by their thumbprints, and warns of one that two merchants have', async () => {
    await examined.write('other.json', JSON.stringify((await generateClientKey()).privateJwk));
    const other = { ...DEAD_GATEWAY, id: 'other', serviceCode: 'c0ffee00-0368-41ed-b939-0242ac120003' };
    await examined.configure([DEAD_GATEWAY, { ...other, keyFile: 'other.json' }]);
    const apart = (await examined.doctor()).check('keys');
    expect(apart.status).toBe('passed');
    expect(apart.facts?.['keys']).toContainEqual({ merchant: 'shop', thumbprints: [examined.key.thumbprint] });
    await examined.write('copy.json', JSON.stringify(examined.key.privateJwk));
    await examined.configure([DEAD_GATEWAY, { ...other, keyFile: 'other.json, copy.json' }]);
    const shared = (await examined.doctor()).check('keys');
    expect(messagesOf(shared, 'warning')).toEqual([`the key ${examined.key.thumbprint} is that of shop, other`]);
  });
});

describe('doctor: certificates', () => {
  const DAY_MS = 86_400_000;
  const authority = new TestAuthority();

  async function withOwn(endsInDays: number, ownKey?: string): Promise<void> {
    const notAfter = new Date(examined.clock.now() + endsInDays * DAY_MS + DAY_MS / 2);
    const { cert, key } = authority.issue({ names: ['broker'], notAfter });
    await examined.write('ca.pem', authority.cert);
    await examined.write('own.pem', cert);
    await examined.write('own.key', ownKey ?? key);
    await examined.configure(
      [DEAD_GATEWAY],
      `{ type: redis, url: "rediss://127.0.0.1:${await freePort()}/0", tls: { caFile: ca.pem, certFile: own.pem, keyFile: own.key } }`,
    );
  }

  it('are said to end when they do', async () => {
    await withOwn(90);
    const { check } = await examined.doctor();
    expect(check('certificates').status).toBe('passed');
    await withOwn(10);
    const warned = messagesOf((await examined.doctor()).check('certificates'), 'warning');
    expect(warned).toEqual([expect.stringMatching(/^store\.tls\.certFile: certificate 1 ends on .*, in 10 days$/)]);
  });

  it('are told of once where two settings name their file', async () => {
    await withOwn(10);
    const tls = 'caFile: ./own.pem, certFile: own.pem, keyFile: own.key';
    await examined.configure([DEAD_GATEWAY], `{ type: redis, url: "rediss://127.0.0.1:9/0", tls: { ${tls} } }`);
    const said = messagesOf((await examined.doctor()).check('certificates'), 'warning');
    expect(said.filter((message) => message.includes('ends on'))).toEqual([
      expect.stringMatching(/^store\.tls\.caFile and store\.tls\.certFile: certificate 1 ends on .*, in 10 days$/),
    ]);
    await examined.write('own.key', authority.issue({ names: ['another'] }).key);
    const { check } = await examined.doctor();
    expect(messagesOf(check('certificates'), 'fault')).toEqual([expect.stringMatching(/^store\.tls\.certFile: /)]);
  });

  it('fail once they have ended', async () => {
    await withOwn(-2);
    const { code, check } = await examined.doctor();
    expect(messagesOf(check('certificates'), 'fault').join()).toMatch(/certFile: certificate 1 ended on/);
    expect(code).toBe(2);
  });

  it('have to belong to their keys', async () => {
    await withOwn(90, authority.issue({ names: ['another'] }).key);
    const { check } = await examined.doctor();
    expect(messagesOf(check('certificates'), 'fault').join()).toMatch(/not that of the key/);
    expect(check('store.connection').findings).toMatchObject([
      {
        message: 'the certificate of store.tls.certFile is not that of the key in store.tls.keyFile',
        ...{ remedy: 'give the two of one pair', faultClass: 'invalidInput' },
      },
    ]);
    await withOwn(90, '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n');
    expect(messagesOf((await examined.doctor()).check('certificates'), 'fault').join()).toMatch(/cannot be read/);
  });

  it('are not looked for where none is named', async () => {
    expect((await examined.doctor()).check('certificates').status).toBe('not_applicable');
  });
});

describe('doctor: the environment', () => {
  it('warns of a variable that would switch verification off', async () => {
    examined.environment = { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_OPTIONS: '--inspect=0.0.0.0' };
    expect(messagesOf((await examined.doctor()).check('environment'), 'warning')).toEqual([
      'NODE_TLS_REJECT_UNAUTHORIZED is 0',
      'NODE_OPTIONS opens a debugger',
    ]);
  });
});
