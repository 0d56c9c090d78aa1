import { readFile, copyFile } from 'node:fs/promises';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endedAfterAll, LoopbackServer } from '#libs/testing';
import { ClientProject, type ProgramEnd } from './client-project.js';
import { RunningBroker, TOKENS } from './running-broker.js';
import { answersOf, streamShapeOf } from './broker-answers.js';
import { sessionDocument } from './session-document.js';
import { strictCompilerFaults } from './strict-compiler.js';

/** Its answers do not depend on how long anything takes. */
const PATIENT = { merchant: { lifetimeMs: 3_600_000 }, timeout: '60s' };
const root = fileURLToPath(new URL('../../', import.meta.url));
const ENTRIES = ['main', 'file-token', 'nest', 'testing'] as const;

/** What an entry and everything that it reaches import, in one of the two formats. */
function outsideImports(installed: string, entry: string): readonly string[] {
  const outside = new Set<string>();
  const reached = new Set([join(installed, entry)]);
  for (const file of reached) {
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(
      /(?:\bfrom |\brequire\(|\bimport\()["']([^"']+)["']/g,
    )) {
      if (name.startsWith('.')) reached.add(join(dirname(file), name));
      else outside.add(name);
    }
  }
  return [...outside].sort();
}

/** The TypeScript examples of the manual, in order. */
async function examples(): Promise<string[]> {
  const manual = await readFile(join(root, 'libs/client/README.md'), 'utf8');
  return [...manual.matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code!);
}

/** The file to be pasted from the guide for a merchant SDK. */
const recipe = (): Promise<string> => readFile(join(root, 'docs/examples/merchant-sdk/brokered-sdk.ts'), 'utf8');

/** What someone following the recipe writes, for an SDK that is typed as strictly as possible. */
const USE_OF_RECIPE = `
import { SessionBroker } from '@session-broker/client';
import { MerchantSdk } from './merchant-sdk.js';
import { withSdk } from './recipe.js';

const broker = new SessionBroker({ url: 'https://broker', merchant: 'shop' });
const newSdk = () => new MerchantSdk({ baseUrl: 'https://bank', merchantId: 'm-1', authenticationKey: { kty: 'EC' } });
const answer = await withSdk(broker, newSdk, (sdk) => sdk.createRefund({ coinAmount: 100 }));
export const status: unknown = answer['status'];
`;

/** The same in CommonJS, with an SDK that does nothing but what the recipe replaces. */
const USE_OF_RECIPE_ON_COMMONJS = `
const { SessionBroker } = require('@session-broker/client');
const { FakeBroker } = require('@session-broker/client/testing');
const { withSdk } = require('./brokered-sdk.cjs');

(async () => {
  const fake = await FakeBroker.start();
  const broker = new SessionBroker(fake.options);
  const newSdk = () => ({ auth: { authorize() {} }, encryption: { decrypt() {} } });
  const said = await withSdk(broker, newSdk, async ({ auth, encryption }) => {
    const { deviceId, name } = await auth.authorize({ name: 'merchant' });
    if (broker.current().generation === 1) {
      const answer = Object.assign(new Error('{"msgCode":"b_used_token"}'), { originalError: { status: 401 } });
      throw Object.assign(new Error('dead'), { originalError: answer });
    }
    return [deviceId, name, JSON.stringify(await encryption.decrypt(await fake.sealedAnswer('{"status":"accepted"}')))].join(' ');
  });
  console.log(said);
  console.log(JSON.stringify(fake.rejections));
  await broker.close();
  await fake.close();
})();
`;

/** A CommonJS service that uses everything in the package. */
const USE_FROM_COMMONJS = `
import { SessionBroker, type Session } from '@session-broker/client';
import { fileToken } from '@session-broker/client/file-token';
import { SessionBrokerModule } from '@session-broker/client/nest';
import { aSession, FakeBroker, FakeGateway, type FakeOutcome } from '@session-broker/client/testing';

export async function use(): Promise<Session> {
  await using fake = await FakeBroker.start();
  await using broker = new SessionBroker({ ...fake.options, auth: fileToken('/token') });
  return broker.current() ?? aSession();
}
export const outcome = async (fake: FakeBroker, it: FakeOutcome) => (await FakeGateway.start(fake)).on('/x', () => it);
export const { module } = SessionBrokerModule.forRoot({ url: 'https://broker', merchant: 'shop' });
`;

describe('the published client', () => {
  let project: ClientProject;
  let url: string;

  const installed = endedAfterAll();
  beforeAll(async () => {
    const packages = ['@types', 'jose', 'undici', 'undici-types', '@nestjs/common'];
    project = installed.add(await ClientProject.installed(packages), (it) => it.remove());
    const server = await LoopbackServer.http((request, response) => {
      if (/\/events(?:\?|$)/.test(request.url ?? '')) {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': here\n\n');
      } else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(sessionDocument()));
    });
    url = `http://127.0.0.1:${installed.add(server, (it) => it.close()).port}`;
  });

  const runModule = (source: string): Promise<ProgramEnd> => project.run(source, { env: { URL: url } });

  it('depends on nothing, and has no side effects', async () => {
    const manifest = JSON.parse(await readFile(join(project.installed, 'package.json'), 'utf8')) as object;
    expect(manifest).toMatchObject({ name: '@session-broker/client', type: 'module', sideEffects: false });
    expect(manifest).not.toHaveProperty('dependencies');
    expect(manifest).not.toHaveProperty('devDependencies');
    expect(manifest).toMatchObject({ peerDependenciesMeta: { '@nestjs/common': { optional: true } } });
  });

  it('is packed with its code, types, manual and licence, and without a test', () => {
    const paths = globSync('**/*', { cwd: project.installed, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(project.installed.length + 1));
    expect(paths).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/cjs/package.json']));
    const isExpected =
      /^(LICENSE|README\.md|(dist\/cjs\/)?package\.json|dist\/(esm|cjs)\/([a-z]+\/)?[a-z-]+\.(js|js\.map|d\.ts))$/;
    expect(paths.filter((path) => !isExpected.test(path))).toEqual([]);
    expect(paths.filter((path) => /spec|fixture-|scripted/.test(path))).toEqual([]);
  });

  it.each(['esm', 'cjs'])('needs a file system and servers only in entries of their own: %s', (format) => {
    const imports = ENTRIES.map((entry) => [
      entry,
      outsideImports(project.installed, `dist/${format}/entries/${entry}.js`),
    ]);
    expect(Object.fromEntries(imports)).toEqual({
      main: [],
      'file-token': ['node:fs/promises'],
      nest: [],
      testing: ['node:events', 'node:http'],
    });
  });

  it('compiles in every example of its manual, under the strictest settings', async () => {
    const codes = await examples();
    expect(codes.length).toBeGreaterThanOrEqual(5);
    await Promise.all(codes.map((code, index) => project.write(`example-${index}.ts`, code)));
    await project.write('recipe.ts', await recipe());
    await copyFile(join(root, 'docs/examples/merchant-sdk/merchant-sdk.ts'), join(project.folder, 'merchant-sdk.ts'));
    await project.write('use-of-recipe.ts', USE_OF_RECIPE);
    await project.write('service.cts', USE_FROM_COMMONJS);
    const files = [...codes.map((_code, index) => `example-${index}.ts`), 'use-of-recipe.ts', 'service.cts'];
    expect(await strictCompilerFaults(project.folder, files)).toBe('');
  });

  it('tests a service with its fake broker as the manual shows', async () => {
    const example = (await examples()).find((code) => code.includes('FakeBroker.start'))!;
    expect((await project.run(example, { name: 'service.test.mts' })).out).toContain('pass 1');
  });

  it('is one for those who import and those who require: errors of either are known to both', async () => {
    const { out } = await project.run(`
      import { createRequire } from 'node:module';
      import { SessionRejected, SessionBrokerError } from '@session-broker/client';
      const required = createRequire(import.meta.url)('@session-broker/client');
      const error = new required.SessionRejected('b_used_token');
      console.log(required.SessionRejected === SessionRejected, error instanceof SessionRejected);
      console.log(new SessionRejected('x') instanceof required.SessionBrokerError, new Error() instanceof SessionBrokerError);
    `);
    expect(out).toBe('false true\ntrue false\n');
  });

  it('gives a session to a program, and lets it end once it is closed', async () => {
    const { out } = await runModule(`
      import { SessionBroker } from '@session-broker/client';
      const broker = new SessionBroker({ url: process.env.URL, merchant: 'shop', auth: 'token' });
      console.log((await broker.session()).generation);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await broker.close();
      console.log('done');
    `);
    expect(out).toBe('7\ndone\n');
  });

  it('lets a program that follows nothing end without being closed', async () => {
    const { out } = await runModule(`
      import { SessionBroker } from '@session-broker/client';
      const broker = new SessionBroker({ url: process.env.URL, merchant: 'shop', auth: 'token', follow: 'none' });
      await broker.session();
      console.log(broker, 'done');
    `);
    expect(out).not.toContain('token');
  });

  it('has a fake broker that answers what the real one answers', async () => {
    const { broker, played } = { broker: await RunningBroker.start(PATIENT), played: await project.startFake() };
    try {
      const real = { url: broker.url, token: TOKENS.payments };
      expect(await answersOf(played)).toEqual(await answersOf(real));
      expect(await streamShapeOf(played)).toEqual(await streamShapeOf(real));
    } finally {
      await played.end();
      await broker.close();
    }
  });

  it('has a recipe for a merchant SDK for those who require', async () => {
    await project.write(
      'commonjs/brokered-sdk.cjs',
      await readFile(join(root, 'docs/examples/merchant-sdk/brokered-sdk.cjs'), 'utf8'),
    );
    const { out } = await project.run(USE_OF_RECIPE_ON_COMMONJS, { name: 'commonjs/use-of-recipe.cjs' });
    expect(out).toBe(`device-id-2 merchant {"status":"accepted"}\n[{"generation":1,"reason":"b_used_token"}]\n`);
  });
});
