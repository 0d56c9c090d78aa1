import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { endedAfterAll, eventually } from '#libs/testing';
import { CliProcess, runCli } from './cli-process.js';
import { RunningBroker, TOKENS } from './running-broker.js';

const ROOT = join(import.meta.dirname, '..', '..');

describe('the built command line', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cli-e2e-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('makes a private file that is private whatever the umask', async () => {
    const before = process.umask(0);
    try {
      await runCli('keys', 'generate', '--out', join(folder, 'client.json'));
    } finally {
      process.umask(before);
    }
    expect((await stat(join(folder, 'client.json'))).mode & 0o777).toBe(0o600);
  });

  it('has the name and the version of the package, whose command it is', async () => {
    const { bin, version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(bin).toEqual({ 'session-broker': 'bin/session-broker' });
    expect(await runCli('--version')).toEqual({ code: 0, out: `${String(version)}\n`, err: '' });
    expect((await runCli('--help')).out).toMatch(/^Usage: session-broker /);
    const command = await readFile(join(ROOT, 'bin/session-broker'), 'utf8');
    expect(command).toBe("#!/usr/bin/env node\nimport '../dist/programs/cli.js';\n");
  });

  it('prints a command that makes a JWK of a key in PEM, and does so', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    const pem = join(folder, "the shop's key.pem");
    await writeFile(pem, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    const { code, err } = await runCli('keys', 'check', pem);
    expect(code).toBe(2);
    const command = /convert it: (session-broker .*)$/m.exec(err)?.[1] ?? '';
    const script = `#!/bin/sh\nexec "${process.execPath}" "${ROOT}/dist/programs/cli.js" "$@"\n`;
    await writeFile(join(folder, 'session-broker'), script, { mode: 0o700 });
    execFileSync('sh', ['-c', command], { stdio: 'ignore', env: { PATH: `${folder}:/usr/bin:/bin` } });
    expect((await runCli('keys', 'check', join(folder, "the shop's key.jwk.json"), '--expect', 'private')).code).toBe(
      0,
    );
  });

  it('ends at once by Ctrl-C while it simulates', async () => {
    const longRun = ['--lifetime', '1h', '--failures', '30%', '--for', '800d'];
    const cli = new CliProcess(['simulate', 'deploy/compose/broker.yaml', ...longRun]);
    await eventually(() => cli.usedTicks() > 200);
    cli.signal('SIGINT');
    expect(await cli.ended).toBeNull();
    expect(cli.out).toBe('');
  });

  it('says that its output is lost where the disk is full, and ends with the code of a failure', () => {
    const command = `"${process.execPath}" "${ROOT}/dist/programs/cli.js" --help > /dev/full`;
    const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toBe('error: standard output cannot be written (ENOSPC): what is there is not all\n');
  });

  it('ends quietly when the reader of its output leaves', async () => {
    const cli = new CliProcess(['--help']);
    cli.stopReading();
    expect(await cli.ended).not.toBeNull();
    expect(cli.err).toBe('');
  });
});

describe('the built command line beside a broker', () => {
  let broker: RunningBroker;
  let environment: Record<string, string>;
  const started = endedAfterAll();
  beforeAll(async () => {
    broker = started.add(await RunningBroker.start(), (it) => it.close());
    const tokenFile = join(broker.folder, 'token');
    await writeFile(tokenFile, `${TOKENS.checkout}\n`);
    environment = { BROKER_URL: broker.url, BROKER_TOKEN_FILE: tokenFile };
  });

  it('takes a token that is piped in, for as many replicas as are asked', async () => {
    const args = ['status', '--json', '--token-file', '/dev/stdin', '--url', broker.url, broker.url];
    const piped = ['-c', 'cat "$BROKER_TOKEN_FILE" | "$@"', 'sh', process.execPath, `${ROOT}/dist/programs/cli.js`];
    const asking = spawn('sh', [...piped, ...args], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const said = await asking.stdout.setEncoding('utf8').toArray();
    const shop = expect.objectContaining({ id: 'shop', condition: 'fresh' });
    const answer = { place: broker.url, replica: hostname(), merchants: [shop] };
    expect(JSON.parse(said.join(''))).toMatchObject({ ok: true, replicas: [answer, answer] });
  });
});

describe('the command line in a clone', () => {
  it('has the name that the runbooks have, after npm ci and in any folder of it', async () => {
    const { scripts, version } = (await import('../../package.json', { with: { type: 'json' } })).default;
    expect(scripts.dependencies.split(' && ')).toContain('node tools/link-command.mjs');
    await promisify(execFile)(process.execPath, ['tools/link-command.mjs'], { cwd: ROOT });
    const { stdout } = await promisify(execFile)('npm', ['exec', '--no', '--', 'session-broker', '--version'], {
      cwd: `${ROOT}/docs`,
    });
    expect(stdout).toBe(`${version}\n`);
  });
});
