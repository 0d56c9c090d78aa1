import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { endedAfterEach } from '#libs/testing';
import { RefundingGateway } from './refunding-gateway.js';
import { sessionDocument } from './session-document.js';
import { strictCompilerFaults } from './strict-compiler.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
/** Built for these tests alone: others build it at the same time. */
const built = join(root, 'dist', `client-package-${process.pid}`);

/** The TypeScript examples of the manual, in their order. */
async function examples(): Promise<string[]> {
  const manual = await readFile(join(root, 'libs/client/README.md'), 'utf8');
  return [...manual.matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code!);
}

/** The one for a merchant SDK. */
async function recipe(): Promise<string> {
  return (await examples()).find((code) => code.includes('withSdk'))!;
}

/** What somebody who follows the recipe writes, for an SDK that is typed as strictly as it can be. */
const USE_OF_RECIPE = `
import { SessionBroker } from '@session-broker/client';
import { MerchantSdk } from './merchant-sdk.js';
import { withSdk } from './recipe.js';

const broker = new SessionBroker({ url: 'https://broker', merchant: 'shop' });
const newSdk = () => new MerchantSdk({ baseUrl: 'https://bank', merchantId: 'm-1', authenticationKey: { kty: 'EC' } });
const answer = await withSdk(broker, newSdk, (sdk) => sdk.createRefund({ coinAmount: 100 }));
export const status: unknown = answer['status'];
`;

describe('the published client', () => {
  let folder: string;
  let server: Server;
  let url: string;

  /** A project of somebody who has installed the package. */
  beforeAll(async () => {
    await run(process.execPath, [join(root, 'tools/build-client.mjs'), basename(built)]);
    folder = await mkdtemp(join(tmpdir(), 'client-package-'));
    await mkdir(join(folder, 'node_modules/@session-broker'), { recursive: true });
    await symlink(built, join(folder, 'node_modules/@session-broker/client'));
    for (const name of ['@types', 'jose', 'undici', 'undici-types']) {
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    }
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    server = createServer((request, response) => {
      if (/\/events(?:\?|$)/.test(request.url ?? '')) {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': here\n\n');
      } else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(sessionDocument()));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.close();
    server.closeAllConnections();
    await rm(folder, { recursive: true });
    await rm(built, { recursive: true });
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
    await writeFile(join(folder, 'recipe.ts'), await recipe());
    await copyFile(join(root, 'test/e2e/merchant-sdk.ts'), join(folder, 'merchant-sdk.ts'));
    await writeFile(join(folder, 'use-of-recipe.ts'), USE_OF_RECIPE);
    const files = [...codes.map((_code, index) => `example-${index}.ts`), 'use-of-recipe.ts'];
    expect(await strictCompilerFaults(folder, files)).toBe('');
  });

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

  describe('in the recipe for a merchant SDK', () => {
    let gateway: RefundingGateway;

    /** The recipe and an SDK of that shape as they are, without their types. */
    beforeAll(async () => {
      const { transform } = await import('@swc/core');
      const strip = async (source: string, name: string): Promise<void> => {
        const jsc = { target: 'es2022' as const, parser: { syntax: 'typescript' as const } };
        await writeFile(join(folder, name), (await transform(source, { jsc, module: { type: 'es6' } })).code);
      };
      await strip(await recipe(), 'recipe.mjs');
      await strip(await readFile(join(root, 'test/e2e/merchant-sdk.ts'), 'utf8'), 'merchant-sdk.mjs');
    });
    const started = endedAfterEach();
    beforeEach(async () => {
      gateway = started.add(await RefundingGateway.start(), (it) => it.close());
    });

    /** Refunds as a service that has only the public key would. */
    const refund = async (): Promise<unknown> => {
      const settings = { baseUrl: gateway.url, merchantId: 'm-1', authenticationKey: gateway.merchant.publicJwk };
      const { out } = await runModule(`
        import { SessionBroker } from '@session-broker/client';
        import { MerchantSdk } from './merchant-sdk.mjs';
        import { withSdk } from './recipe.mjs';
        const broker = new SessionBroker({ url: '${gateway.url}', merchant: 'shop', auth: 'token', follow: 'none' });
        const newSdk = () => new MerchantSdk(${JSON.stringify(settings)});
        const refunded = withSdk(broker, newSdk, (sdk) => sdk.createRefund({ operationId: 'o-1', coinAmount: 100 }));
        console.log(JSON.stringify(await refunded.catch(({ code }) => ({ code }))));
        await broker.close();
      `);
      return JSON.parse(out);
    };

    it('lets it refund with a session that it did not create, and an answer that it did not open', async () => {
      expect(await refund()).toEqual({ type: 'REFUND', status: 'PENDING', operationId: 'o-1' });
      const body = { operationId: 'o-1', coinAmount: 100, merchantId: 'm-1' };
      expect(gateway.refunds).toEqual([{ generation: 1, body }]);
      expect(gateway.rejections).toEqual([]);
    });

    it('seals anew with the next session when the gateway has ended this one', async () => {
      gateway.livesFrom = 2;
      expect(await refund()).toMatchObject({ status: 'PENDING' });
      expect(gateway.refunds.map(({ generation }) => generation)).toEqual([2]);
      expect(gateway.rejections).toEqual([{ generation: 1, reason: 'b_session_doesnt_exist' }]);
      expect(new Set(gateway.refusals)).toEqual(new Set([1]));
    });

    it('does not repeat when the bank has closed the access', async () => {
      gateway.livesFrom = 3;
      gateway.refusal = { status: 401, msgCode: 'b_auth_token_expired' };
      expect(await refund()).toEqual({ code: '500' });
      expect(gateway.rejections).toEqual([]);
    });
  });
});
