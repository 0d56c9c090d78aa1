import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, chown, copyFile, cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateClientKey } from '#libs/jwe';
import { describeWith, endedAfterAll, eventually, freePort, RedisProcess } from '#libs/testing';
import { orderRequest } from '../sandbox/order-request.js';

const root = join(import.meta.dirname, '..', '..');
const dockerfile = readFileSync(join(root, 'deploy', 'Dockerfile'), 'utf8');
const SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120002';
const MAX_BYTES = 60_000_000;
const USER = 10_001;
const isRoot = process.getuid?.() === 0;

/** What the image sets for its programs. */
const imageEnvironment = Object.fromEntries(
  [...dockerfile.matchAll(/^ENV (.+)$/gm)].flatMap(([, pairs = '']) => pairs.split(' ').map((pair) => pair.split('='))),
) as Record<string, string>;

/** The arguments of an instruction in exec form. */
function instruction(name: string): string[] {
  const line = new RegExp(`^${name} .*?(\\[.*\\])$`, 'm').exec(dockerfile)?.[1];
  return JSON.parse(line ?? '') as string[];
}

function instructionsOf(name: string): string[] {
  return [...dockerfile.matchAll(new RegExp(`^${name} (.+)$`, 'gm'))].map(([, value = '']) => value);
}

const copied = instructionsOf('COPY').flatMap((files) =>
  files.startsWith('--from') ? [] : files.split(' ').slice(0, -1),
);

function residentBytes({ broker }: { readonly broker: { readonly child: ChildProcess } }): number {
  const status = readFileSync(`/proc/${broker.child.pid}/status`, 'utf8');
  return 1_024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The image's folder, made by the image's own step and read-only, with a node next to it as in the image. */
describeWith(['linux', 'redis-server'], 'the image', () => {
  let folder: string;
  let app: string;
  let node: string;
  let modes: ReadonlySet<string>;
  let redis: RedisProcess;
  const running: { child: ChildProcess; out: string }[] = [];

  const ofAll = endedAfterAll();
  beforeAll(async () => {
    folder = ofAll.add(await mkdtemp(join(tmpdir(), 'session-broker-image-')), (it) => rm(it, { recursive: true }));
    await chmod(folder, 0o755);
    app = join(folder, 'app');
    node = join(folder, 'node');
    await copyFile(process.execPath, node);
    ofAll.add(folder, (it) => execFileSync('chmod', ['-R', 'u+w', it]));
    // As a user whose files nobody else may read.
    const assemble = `umask 077 && exec "${process.execPath}" tools/assemble-image.mjs "${app}"`;
    execFileSync('sh', ['-c', assemble], { cwd: root });
    modes = new Set([app, ...filesIn(app)].map((file) => (statSync(file).mode & 0o777).toString(8)));
    execFileSync('chmod', ['-R', 'a-w', app]);
    redis = ofAll.add(await RedisProcess.start(), (it) => it.stop());
  });
  afterEach(async () => {
    for (const { child } of running.splice(0)) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'close');
      }
    }
  });

  /** As the image's user, with nothing but the given variables in the environment. */
  function start(
    [program = '', ...args]: readonly string[],
    environment: Record<string, string> = {},
  ): { child: ChildProcess; out: string } {
    const command = [program === 'node' ? node : program, ...args];
    const [first = '', ...rest] = isRoot
      ? ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups', '--no-new-privs', ...command]
      : command;
    const path = imageEnvironment['PATH']?.replace('/app/', `${app}/`).replace('${PATH}', `${folder}:/usr/bin:/bin`);
    const env = { ...imageEnvironment, ...(path === undefined ? {} : { PATH: path }), ...environment };
    const started = { child: spawn(first, rest, { cwd: app, env, stdio: ['ignore', 'pipe', 'pipe'] }), out: '' };
    for (const stream of [started.child.stdout, started.child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => void (started.out += text));
    running.push(started);
    return started;
  }

  async function run(command: readonly string[]): Promise<[code: number | null, said: string]> {
    const started = start(command);
    const [code] = (await once(started.child, 'close')) as [number | null];
    return [code, started.out.trim()];
  }

  async function put(name: string, content: object): Promise<string> {
    const file = join(folder, name);
    await writeFile(file, JSON.stringify(content), { mode: 0o600 });
    if (isRoot) await chown(file, USER, USER);
    return file;
  }

  interface Started {
    readonly broker: { child: ChildProcess; out: string };
    readonly url: string;
    readonly managementUrl: string;
    readonly gatewayUrl: string;
  }

  async function startBroker(
    environment: Record<string, string> = {},
    command: readonly string[] = instruction('CMD'),
  ): Promise<Started> {
    const key = await generateClientKey();
    const [port, managementPort, gatewayPort] = [await freePort(), await freePort(), await freePort()];
    const merchants = await put('merchants.json', [
      { id: 'shop', serviceCode: SERVICE_CODE, publicJwk: key.publicJwk, lifetimeMs: 60_000 },
    ]);
    const sandbox = start(['node', 'dist/programs/sandbox.js'], {
      SANDBOX_PORT: String(gatewayPort),
      SANDBOX_MERCHANTS: merchants,
    });
    await put('shop.jwk.json', key.privateJwk);
    const file = await put('broker.yaml', {
      http: { port },
      management: { port: managementPort },
      auth: { disabled: true },
      store: { type: 'redis', url: redis.url, keyPrefix: `image-${port}` },
      merchants: [
        {
          id: 'shop',
          serviceCode: SERVICE_CODE,
          clientKeyFiles: ['shop.jwk.json'],
          gateway: { baseUrl: `http://127.0.0.1:${gatewayPort}`, environment: 'test', timeout: '2s' },
        },
      ],
    });
    await eventually(() => sandbox.out.includes('sandbox listening'));
    const broker = start(command, { BROKER_CONFIG: file, ...environment });
    await eventually(() => {
      if (broker.child.exitCode !== null) throw new Error(broker.out);
      return broker.out.includes('"msg":"session renewed"') && broker.out.includes('"msg":"broker started"');
    });
    return {
      broker,
      url: `http://127.0.0.1:${port}`,
      managementUrl: `http://127.0.0.1:${managementPort}`,
      gatewayUrl: `http://127.0.0.1:${gatewayPort}`,
    };
  }

  it('starts a broker that gives back what its start took of memory', async () => {
    const command = instruction('CMD');
    const kept = await startBroker(
      {},
      command.filter((argument) => argument !== '--expose-gc'),
    );
    const given = await startBroker();
    expect(command).toContain('--expose-gc');
    expect(residentBytes(given)).toBeLessThan(0.93 * residentBytes(kept));
  });

  it('is built from what its Dockerfile copies', async () => {
    const build = join(folder, 'build');
    for (const file of copied) await cp(join(root, file), join(build, file), { recursive: true });
    await symlink(join(root, 'node_modules'), join(build, 'node_modules'));
    execFileSync('npm', ['run', '-s', 'build'], { cwd: build });
    expect(existsSync(join(build, 'dist', 'programs', 'broker.js'))).toBe(true);
  });

  it('is made by the steps that its Dockerfile names, and runs as a user without rights', () => {
    const steps = [...dockerfile.matchAll(/^RUN (.+)$/gm)].map(([, step]) => step);
    expect(steps).toEqual(['npm ci --ignore-scripts', 'npm run build', 'npm run image:assemble -- /image']);
    expect(dockerfile).toMatch(/^COPY --from=build \/image \.\/$/m);
    expect(dockerfile).toMatch(new RegExp(`^USER ${USER}:${USER}$`, 'm'));
    const { version } = JSON.parse(readFileSync(join(root, 'tools/node-runtime/package.json'), 'utf8')) as {
      version: string;
    };
    expect(dockerfile).toContain(`ARG NODE_IMAGE=node:${version}-bookworm-slim\n`);
    expect(dockerfile.match(/^FROM (?!(?:--platform=\$\{BUILDPLATFORM:-linux\} )?\$\{NODE_IMAGE\})/m)).toBeNull();
  });

  it('runs its command as it stands, and is built by what the engine has', () => {
    // The base image has its own entrypoint, a shell script.
    expect(dockerfile).toMatch(/^ENTRYPOINT \[\]$/m);
    // A frontend that is named is downloaded, by a tag that moves.
    expect(dockerfile).not.toMatch(/^#\s*syntax\s*=/im);
  });

  it('can be read by its user, whatever the rights that the files of the checkout have', () => {
    expect([...modes].sort()).toEqual(['644', '755']);
  });

  it('is under 60 MB without Node itself, and has nothing of development in it', () => {
    const files = filesIn(app);
    expect(files.reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThan(MAX_BYTES);
    expect(files.filter((file) => /\.d\.[cm]?ts$|\.spec\.|\/libs\/testing\//.test(file))).toEqual([]);
    expect(existsSync(join(app, 'node_modules', 'typescript'))).toBe(false);
    // Users with a token add the compiled part to the package, as docs/hsm.md says.
    expect(existsSync(join(app, 'node_modules', 'pkcs11js', 'index.js'))).toBe(true);
    expect(existsSync(join(app, 'node_modules', 'pkcs11js', 'build'))).toBe(false);
    expect(files.length).toBeGreaterThan(500);
  });

  it('has nothing in it that is for one kind of processor, since its steps run on that of the builder alone', () => {
    const isProgram = (file: string): boolean => readFileSync(file).subarray(0, 4).toString('latin1') === '\x7fELF';
    expect(filesIn(app).filter((file) => /\.(?:node|so|dylib|dll)$/.test(file) || isProgram(file))).toEqual([]);
    expect(dockerfile).toMatch(/^FROM --platform=\$\{BUILDPLATFORM:-linux\} \S+ AS build$/m);
    expect(dockerfile).toMatch(/^FROM \$\{NODE_IMAGE\}$/m);
  });

  it('says of each package that it has which one it is', () => {
    const bill = JSON.parse(readFileSync(join(app, 'sbom.cdx.json'), 'utf8')) as {
      components: { name: string; version: string; licenses: object[]; purl: string }[];
    };
    const present = new Set(
      filesIn(join(app, 'node_modules'))
        .filter((file) => /node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(file))
        .map((file) => JSON.parse(readFileSync(file, 'utf8')) as { name: string; version: string })
        .map(({ name, version }) => `${name}@${version}`),
    );
    expect(bill.components.map(({ name, version }) => `${name}@${version}`).sort()).toEqual([...present].sort());
    for (const { purl, licenses } of bill.components) {
      expect(purl).toMatch(/^pkg:npm\//);
      expect(licenses.length).toBeGreaterThan(0);
    }
  });

  /** Traces and metrics by a protocol, whose package is loaded for that; nobody listens there. */
  const exporting = async (protocol: string): Promise<Record<string, string>> => ({
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
  });
  const PACKAGE_IS_MISSING = /Cannot find (?:module|package)/;

  it('serves a session as a user who may write nowhere, is healthy by its own command, and ends on SIGTERM', async () => {
    const { broker, url, managementUrl } = await startBroker(await exporting('grpc'));
    const answer = await fetch(`${url}/v1/merchants/shop/session`);
    expect([answer.status, ((await answer.json()) as { merchant: string }).merchant]).toEqual([200, 'shop']);
    const health = instruction('HEALTHCHECK');
    expect(await run([...health, `${managementUrl}/readyz`])).toEqual([0, `${managementUrl}/readyz answers 200`]);
    expect((await fetch(`${managementUrl}/`)).status).toBe(200);
    expect((await fetch(`${managementUrl}/status/main.js`)).status).toBe(200);
    const docs = await (await fetch(`${url}/docs`)).text();
    const assets = [...docs.matchAll(/(?:src|href)="(\.\/docs\/[^"]+)"/g)].map(([, path = '']) => path.slice(1));
    expect(assets.length).toBeGreaterThan(3);
    for (const asset of assets) expect([asset, (await fetch(url + asset)).status]).toEqual([asset, 200]);
    broker.child.kill('SIGTERM');
    expect(await once(broker.child, 'close')).toEqual([0, null]);
    expect(broker.out).not.toMatch(PACKAGE_IS_MISSING);
    expect((await run([...health, `${managementUrl}/readyz`]))[0]).toBe(4);
  });

  it('pays through an egress, which is healthy by the same command and ends on SIGTERM', async () => {
    const { broker, url, gatewayUrl } = await startBroker(await exporting('http/json'));
    const [port, managementPort] = [await freePort(), await freePort()];
    const token = 'of-the-test-of-the-image';
    const sha256 = createHash('sha256').update(token).digest('hex');
    const file = await put('egress.yaml', {
      egress: {
        listen: { port },
        management: { port: managementPort },
        broker: { url },
        gateway: { baseUrl: gatewayUrl, environment: 'test' },
        clients: [{ name: 'shop', merchant: 'shop', token: { sha256 } }],
      },
    });
    const command = instruction('CMD').map((argument) => argument.replace('/broker.js', '/egress.js'));
    const egress = start(command, { EGRESS_CONFIG: file, ...(await exporting('http/protobuf')) });
    const readyUrl = `http://127.0.0.1:${managementPort}/readyz`;
    await eventually(async () => {
      if (egress.child.exitCode !== null) throw new Error(egress.out);
      return egress.out.includes('"msg":"egress started"') && (await fetch(readyUrl)).ok;
    });
    const answer = await fetch(`http://127.0.0.1:${port}/ecom/execute_request/hpp/v1/create-order`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(orderRequest()),
    });
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ orderStatus: 'CREATED' })]);
    expect(await run([...instruction('HEALTHCHECK'), readyUrl])).toEqual([0, `${readyUrl} answers 200`]);
    for (const { child } of [egress, broker]) {
      child.kill('SIGTERM');
      expect(await once(child, 'close')).toEqual([0, null]);
    }
    expect(egress.out + broker.out).not.toMatch(PACKAGE_IS_MISSING);
  });

  it('has the command line in it, with all its verbs', async () => {
    const file = await put('cli.jwk.json', (await generateClientKey()).privateJwk);
    const name = 'session-broker';
    const cli = ['node', `bin/${name}`];
    expect((await run([...cli, '--version']))[1]).toMatch(/^\d+\.\d+\.\d+$/);
    expect(statSync(join(app, 'bin/session-broker')).mode & 0o111).toBe(0o111);
    expect(instructionsOf('WORKDIR')).toContain('/app');
    expect((await run([name, '--version']))[1]).toMatch(/^\d+\.\d+\.\d+$/);
    expect((await run([...cli, 'keys', 'check', file]))[0]).toBe(0);
    const [code, said] = await run([...cli, 'config', 'check', join(folder, 'broker.yaml')]);
    expect([code, said]).toEqual([0, expect.stringContaining('is valid')]);
    expect((await run([...cli, 'simulate', '--config', join(folder, 'broker.yaml'), '--for', '1h']))[0]).toBe(0);
    const doctor = await run([...cli, 'doctor', '--config', join(folder, 'broker.yaml')]);
    expect(doctor[1]).not.toMatch(PACKAGE_IS_MISSING);
    expect(doctor[1]).toContain('store');
  });
});
