import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { VERSION } from '#libs/program';
import { describeWith, endedAfterAll, eventually, type Requirement } from '#libs/testing';
import { orderRequest } from '../sandbox/order-request.js';

const root = join(import.meta.dirname, '..', '..');
const PROJECT = 'session-broker-proof';
const IMAGE = `session-broker:${VERSION}`;
const REPLICAS = ['broker-1', 'broker-2', 'broker-3'];
const PROGRAMS = [...REPLICAS, 'egress', 'sandbox'];
const BUILT_WITHIN_MS = 1_800_000;
const READY_WITHIN_MS = 180_000;
const MAX_STOP_MS = 15_000;

const engine: Requirement = {
  name: 'docker engine',
  missing: () =>
    ['info', 'compose version'].every((verb) => spawnSync('docker', verb.split(' '), { stdio: 'ignore' }).status === 0)
      ? undefined
      : 'there is no Docker engine with compose',
};

/** Only its owner may read it, but for what third-party programs read, which run as users of their own. */
const CHECKOUT = `umask 077
git -c safe.directory=* ls-files -z --cached --others --exclude-standard -- ':!test' | tar --null -T - -cf - | tar --no-same-permissions -xf - -C "$1"
chmod a+rx "$1/deploy" && chmod -R a+rX "$1/deploy/prometheus" "$1/deploy/grafana"`;

/** Run in a container: shows what its process may do, as the kernel reports it and by trying. */
const RIGHTS = `
  const fs = require('node:fs');
  const status = fs.readFileSync('/proc/self/status', 'utf8');
  const field = (name) => new RegExp('^' + name + ':\\\\s+(\\\\S+)', 'm').exec(status)?.[1];
  let write = 'done';
  try { fs.writeFileSync('/app/written', ''); } catch (error) { write = error.code; }
  console.log([process.getuid(), process.getgid(), field('CapEff'), field('CapBnd'), field('NoNewPrivs'), write].join(' '));
`;
const KEY = "console.log(require('node:fs').readFileSync('/run/keys/public.jwk.json', 'utf8'))";

interface Inspected {
  readonly Config: object;
  readonly HostConfig: object;
  readonly State: { readonly ExitCode: number; readonly Health?: { readonly Status: string } };
}

/** docker-compose.yml and the image of deploy/Dockerfile, both unchanged, on the engine of this machine. */
describeWith([engine, 'git'], 'the containers', () => {
  let folder: string;
  const started = endedAfterAll();

  async function run(program: string, ...args: readonly string[]): Promise<string> {
    const { stdout, stderr } = await promisify(execFile)(program, args, { cwd: folder, maxBuffer: 1 << 26 });
    return stdout + stderr;
  }
  const docker = (...args: readonly string[]): Promise<string> => run('docker', ...args);
  const compose = (...args: readonly string[]): Promise<string> => docker('compose', '-p', PROJECT, ...args);
  const nameOf = (service: string): string => `${PROJECT}-${service}-1`;
  const inContainer = (service: string, script: string): Promise<string> =>
    docker('exec', nameOf(service), 'node', '-e', script);
  const inspect = async (service: string): Promise<Inspected> =>
    (JSON.parse(await docker('inspect', nameOf(service))) as [Inspected])[0];

  async function up(): Promise<void> {
    await compose('up', '--detach', '--no-build');
    for (const name of PROGRAMS)
      await eventually(async () => (await inspect(name)).State.Health?.Status === 'healthy', READY_WITHIN_MS);
  }

  beforeAll(async () => {
    if (spawnSync('docker', ['image', 'inspect', IMAGE], { stdio: 'ignore' }).status === 0)
      throw new Error(`the engine has an image ${IMAGE}, which would be lost: docker image rm ${IMAGE}`);
    folder = root;
    const copy = started.add(await mkdtemp(join(tmpdir(), 'containers-')), (it) => rm(it, { recursive: true }));
    await run('sh', '-euc', CHECKOUT, 'sh', copy);
    folder = copy;
    started.add(IMAGE, (it) => docker('image', 'rm', it));
    await docker('build', '--network=host', '-f', 'deploy/Dockerfile', '-t', IMAGE, '.');
    started.add('everything', () => compose('down', '--volumes', '--timeout', '5'));
    await up();
  }, BUILT_WITHIN_MS);

  it.each(PROGRAMS)('may do nothing that they need not: %s', async (name) => {
    expect(await inspect(name)).toMatchObject({
      Config: { User: '10001:10001' },
      HostConfig: {
        ReadonlyRootfs: true,
        CapDrop: ['ALL'],
        SecurityOpt: expect.arrayContaining(['no-new-privileges:true']) as unknown,
      },
    });
    const none = '0'.repeat(16);
    expect((await inContainer(name, RIGHTS)).trim()).toBe(`10001 10001 ${none} ${none} 1 EROFS`);
  });

  it('make a payment through the egress', async () => {
    const url = 'http://127.0.0.1:8090/ecom/execute_request/hpp/v1/create-order';
    const headers = { authorization: 'Bearer demo-token', 'content-type': 'application/json' };
    const body = JSON.stringify(orderRequest({ merchantId: 'demo' }));
    const answer = await fetch(url, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ orderStatus: 'CREATED' })]);
  });

  it('are scraped by Prometheus, each of them, and each rule is evaluated', async () => {
    interface Monitored {
      readonly activeTargets?: readonly { readonly health: string }[];
      readonly groups?: readonly { readonly rules: readonly { readonly health: string }[] }[];
    }
    const asked = async (path: string): Promise<Monitored> =>
      ((await (await fetch(`http://127.0.0.1:9090/api/v1/${path}`)).json()) as { readonly data: Monitored }).data;
    await eventually(async () => {
      const { activeTargets = [] } = await asked('targets');
      const rules = (await asked('rules')).groups?.flatMap((group) => group.rules) ?? [];
      const areUp = activeTargets.length === 4 && activeTargets.every(({ health }) => health === 'up');
      return areUp && rules.length > 0 && rules.every(({ health }) => health === 'ok');
    });
  });

  it('keep the keys of the first start where the volumes are kept', async () => {
    const before = await inContainer('broker-1', KEY);
    await compose('down');
    await up();
    expect(await inContainer('broker-1', KEY)).toBe(before);
  });

  // As process 1 of its container it has no default action for a signal.
  it('end on a signal, by themselves', async () => {
    const startedMs = performance.now();
    await docker('stop', '--time', '20', nameOf('broker-3'));
    expect(performance.now() - startedMs).toBeLessThan(MAX_STOP_MS);
    expect((await inspect('broker-3')).State.ExitCode).toBe(0);
  });
});
