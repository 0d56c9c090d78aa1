import { chmod, mkdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { endedAfterEach, freePort, TestAuthority } from '#libs/testing';
import { Examined, messagesOf } from './examined.js';

const DEAD_GATEWAY = { gatewayUrl: 'http://127.0.0.1:9' };
let examined: Examined;

const started = endedAfterEach();
beforeEach(async () => {
  examined = started.add(await Examined.create(), (it) => it.remove());
  await examined.configure([{ gatewayUrl: `http://127.0.0.1:${await freePort()}` }]);
});

describe('doctor: the configuration', () => {
  it('is all that is looked at when it does not load', async () => {
    await examined.configure([DEAD_GATEWAY], '{ type: radish }');
    const { code, checks, check } = await examined.doctor('--create-session');
    expect(code).toBe(2);
    expect(checks.map(({ name, status }) => [name, status])).toEqual([['configuration', 'failed']]);
    expect(messagesOf(check('configuration'), 'fault')).toEqual([expect.stringMatching(/^store\.type \(line 3\) /)]);
    expect(messagesOf(check('configuration'), 'fact')).toEqual([
      'nothing else is checked until the configuration loads',
    ]);
  });

  it('is not judged where variables of the environment are not set: as for config check, and not as a fault', async () => {
    await examined.configure([{ ...DEAD_GATEWAY, serviceCode: '"${SHOP_CODE}"' }]);
    const { code, checks } = await examined.doctor();
    expect(code).toBe(6);
    expect(checks).toMatchObject([
      {
        name: 'configuration',
        status: 'not_run',
        reason: expect.stringMatching(
          /not set: SHOP_CODE for merchants\[0\]\.serviceCode \(line 8\); run the doctor in/,
        ),
      },
    ]);
    expect((await examined.cli('config', 'check', examined.config)).code).toBe(code);
  });

  it('has the warnings of the broker, but for certificates, which have a check of their own', async () => {
    await chmod(examined.path('client.json'), 0o640);
    await chmod(examined.folder, 0o755);
    const { check } = await examined.doctor();
    expect(messagesOf(check('configuration'), 'warning')).toEqual([
      expect.stringMatching(/^merchants\[0\]\.clientKeyFiles\[0\] .*names a secret file that is open to its group/),
    ]);
  });
});

describe('doctor: files', () => {
  it.each([
    ['a key that everyone can read', 0o644, 'fault', 'every user can read the secret'],
    ['a key that its group can change', 0o620, 'warning', 'its group can change the file'],
  ])('finds %s', async (...[, mode, level, message]) => {
    await chmod(examined.folder, 0o755);
    await chmod(examined.path('client.json'), mode);
    const { code, check } = await examined.doctor();
    expect(messagesOf(check('files'), level)).toEqual([`merchants[0].clientKeyFiles[0]: ${message}`]);
    if (level === 'fault') expect(code).toBe(2);
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

  it('finds a configuration that everyone can change, and names keys by their thumbprints', async () => {
    await chmod(examined.folder, 0o755);
    await chmod(examined.config, 0o666);
    const { check } = await examined.doctor();
    expect(messagesOf(check('files'), 'fault').join()).toContain('the configuration');
    const keys = [{ merchant: 'shop', thumbprints: [examined.key.thumbprint] }];
    expect(check('keys')).toMatchObject({ status: 'passed', facts: { keys } });
  });
});

describe('doctor: certificates', () => {
  const DAY_MS = 86_400_000;
  const authority = new TestAuthority();

  async function withOwn(endsInDays: number): Promise<void> {
    const notAfter = new Date(examined.clock.now() + endsInDays * DAY_MS + DAY_MS / 2);
    const { cert, key } = authority.issue({ names: ['broker'], notAfter });
    await examined.write('ca.pem', authority.cert);
    await examined.write('own.pem', cert);
    await examined.write('own.key', key);
    await examined.configure(
      [DEAD_GATEWAY],
      `{ type: redis, url: "rediss://127.0.0.1:${await freePort()}/0", tls: { caFile: ca.pem, certFile: own.pem, keyFile: own.key } }`,
    );
  }

  it.each([
    [90, 'passed', 0, []],
    [10, 'warned', 0, [expect.stringMatching(/^store\.tls\.certFile: certificate 1 ends on .*, in 10 days$/)]],
    [-2, 'failed', 2, [expect.stringMatching(/certFile: certificate 1 ended on/)]],
  ])('are said to end when they do: in %i days, %s', async (...[days, status, worst, messages]) => {
    await withOwn(days);
    const { code, check } = await examined.doctor();
    expect(check('certificates').status).toBe(status);
    const { findings } = check('certificates');
    expect(findings.filter(({ level }) => level !== 'fact').map(({ message }) => message)).toEqual(messages);
    if (worst !== 0) expect(code).toBe(worst);
  });

  it('are told of once where two settings name their file', async () => {
    await withOwn(10);
    const tls = 'caFile: ./own.pem, certFile: own.pem, keyFile: own.key';
    await examined.configure([DEAD_GATEWAY], `{ type: redis, url: "rediss://127.0.0.1:9/0", tls: { ${tls} } }`);
    const said = messagesOf((await examined.doctor()).check('certificates'), 'warning');
    expect(said).toEqual([
      expect.stringMatching(/^store\.tls\.caFile and store\.tls\.certFile: certificate 1 ends on .*, in 10 days$/),
      expect.stringMatching(/^store\.tls\.caFile and store\.tls\.certFile: certificate 1 is not that of an authority$/),
    ]);
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
