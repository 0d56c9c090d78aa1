import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { aServerPublicKey } from '#libs/testing';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const built = join(root, 'dist/client');

/** What the broker says in these tests: one session, in the form of the contract. */
function sessionDocument(): Record<string, unknown> {
  const at = (ms: number): string => new Date(Date.now() + ms).toISOString();
  return {
    merchant: 'shop',
    generation: 7,
    authToken: 'auth-token',
    deviceId: 'device-id',
    refreshToken: 'refresh-token',
    serverPublic: aServerPublicKey(),
    clientKeyThumbprint: 'thumbprint',
    createdAt: at(0),
    expiresAt: '2099-11-20T12:34:52.998Z',
    renewAt: at(800_000),
  };
}

/** The TypeScript examples of the manual, in their order. */
async function examples(): Promise<string[]> {
  const manual = await readFile(join(root, 'libs/client/README.md'), 'utf8');
  return [...manual.matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code!);
}

describe('the published client', () => {
  let folder: string;
  let server: Server;
  let url: string;

  /** A project of somebody who has installed the package. */
  beforeAll(async () => {
    await run(process.execPath, [join(root, 'tools/build-client.mjs')]);
    folder = await mkdtemp(join(tmpdir(), 'client-package-'));
    await mkdir(join(folder, 'node_modules/@session-broker'), { recursive: true });
    await symlink(built, join(folder, 'node_modules/@session-broker/client'));
    for (const name of ['@types', 'undici', 'undici-types']) {
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    }
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    server = createServer((request, response) => {
      if (request.url?.endsWith('/events') === true) {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': here\n\n');
      } else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(sessionDocument()));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }, 60_000);
  afterAll(async () => {
    server.close();
    server.closeAllConnections();
    await rm(folder, { recursive: true });
  });

  /** Runs a module in that project. @returns what it printed, and for how long it lived after the word `done` */
  const runModule = async (source: string): Promise<{ out: string; lingeredMs: number }> => {
    const file = join(folder, 'program.mjs');
    await writeFile(file, source);
    const child = spawn(process.execPath, [file], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, URL: url },
    });
    let [out, doneAt] = ['', 0];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (out.includes('done')) doneAt = performance.now();
    });
    await once(child, 'close');
    return { out, lingeredMs: performance.now() - doneAt };
  };

  it('depends on jose and on nothing else, and has no side effects', async () => {
    const manifest = JSON.parse(await readFile(join(built, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(manifest).toMatchObject({ name: '@session-broker/client', type: 'module', sideEffects: false });
    expect(Object.keys(manifest['dependencies'] as object)).toEqual(['jose']);
    expect(manifest).not.toHaveProperty('devDependencies');
  });

  it('is packed with its code, types, manual and licence, and without a test', async () => {
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json', built], { cwd: folder });
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'dist/index.js', 'dist/index.d.ts', 'package.json']),
    );
    expect(
      paths.filter((path) => !/^(LICENSE|README\.md|package\.json|dist\/[a-z-]+\.(js|js\.map|d\.ts))$/.test(path)),
    ).toEqual([]);
    expect(paths.filter((path) => /spec|fixture|scripted/.test(path))).toEqual([]);
  });

  it('imports nothing but jose and what Node.js brings', async () => {
    const { stdout } = await run('grep', ['-rhoE', "from '[^.][^']*'", join(built, 'dist'), '--include=*.js']);
    expect([...new Set(stdout.trim().split('\n'))].sort()).toEqual(["from 'jose'", "from 'node:fs/promises'"]);
  });

  it('compiles in every example of its manual, under the strictest settings', async () => {
    const codes = await examples();
    expect(codes.length).toBeGreaterThanOrEqual(4);
    await Promise.all(codes.map((code, index) => writeFile(join(folder, `example-${index}.ts`), code)));
    const strict = [
      '--strict',
      '--exactOptionalPropertyTypes',
      '--noUncheckedIndexedAccess',
      '--skipLibCheck',
      'false',
    ];
    const target = ['--noEmit', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022', '--types', 'node'];
    const files = codes.map((_code, index) => `example-${index}.ts`);
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, ...strict, ...target, ...files], { cwd: folder }).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  }, 60_000);

  it('gives a session to a program, and lets it end once it is closed', async () => {
    const { out, lingeredMs } = await runModule(`
      import { SessionBroker } from '@session-broker/client';
      const broker = new SessionBroker({ url: process.env.URL, merchant: 'shop', auth: 'token' });
      console.log((await broker.session()).generation);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await broker.close();
      console.log('done');
    `);
    expect(out).toBe('7\ndone\n');
    expect(lingeredMs).toBeLessThan(2_000);
  });

  it('lets a program that follows nothing end without being closed', async () => {
    const { out, lingeredMs } = await runModule(`
      import { SessionBroker } from '@session-broker/client';
      const broker = new SessionBroker({ url: process.env.URL, merchant: 'shop', auth: 'token', follow: 'none' });
      await broker.session();
      console.log(broker, 'done');
    `);
    expect(out).not.toContain('token');
    expect(lingeredMs).toBeLessThan(2_000);
  });

  it('feeds a merchant SDK as the recipe of the manual says, and the SDK creates no session', async () => {
    const recipe = (await examples()).find((code) => code.includes('withBrokeredSessions'))!;
    const { transform } = await import('@swc/core');
    const { code } = await transform(recipe, {
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      module: { type: 'es6' },
    });
    await writeFile(join(folder, 'recipe.mjs'), code);
    const { out } = await runModule(`
      import { SessionBroker } from '@session-broker/client';
      import { withBrokeredSessions } from './recipe.mjs';
      class Sdk {
        created = 0;
        async createSession() { this.created += 1; throw new Error('a create call'); }
        async purchase(order) {
          const { authToken, refreshToken, deviceId, serverPublic, tokenExpirationDateTime } = await this.createSession();
          return { order, authToken, refreshToken, deviceId, kty: serverPublic.kty, tokenExpirationDateTime };
        }
      }
      const broker = new SessionBroker({ url: process.env.URL, merchant: 'shop', auth: 'token' });
      const sdk = new Sdk();
      const purchase = withBrokeredSessions(sdk, broker);
      const receipts = await Promise.all(Array.from({ length: 5 }, (_, order) => purchase({ order })));
      console.log(JSON.stringify({ created: sdk.created, receipts: receipts.length, last: receipts.at(-1) }));
      await broker.close();
    `);
    expect(JSON.parse(out)).toEqual({
      created: 0,
      receipts: 5,
      last: {
        order: { order: 4 },
        authToken: 'auth-token',
        refreshToken: 'refresh-token',
        deviceId: 'device-id',
        kty: 'EC',
        tokenExpirationDateTime: '2099-11-20 12:34:52.0998 +0000',
      },
    });
  });
});
