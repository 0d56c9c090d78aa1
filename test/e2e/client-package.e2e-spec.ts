import { readFile } from 'node:fs/promises';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ErrorCode, errorCodes } from '#libs/errors';
import { generateClientKey, importPaymentKey, sealJwe } from '#libs/jwe';
import { aSessionDocument, endedAfterAll, LoopbackServer } from '#libs/testing';
import { expectAsSaid } from '../contract/as-said.js';
import { operations } from '../contract/contract.js';
import { ClientProject } from './client-project.js';

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

/** The package's fake broker. */
interface PlayedBroker {
  readonly url: string;
  readonly token: string;
  readonly sealedAnswer: (content: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

interface Asked {
  readonly merchant?: string;
  readonly token?: string;
  readonly body?: object;
}

const OPERATION = { type: 'REFUND', ecomOperationId: 'e-1', status: 'SUCCESS', coinAmount: 100, merchantId: 'm-1' };
/** The headers that a client looks at; the others are for browsers. */
const PLAYED = new Set(['cache-control', 'etag', 'retry-after', 'x-request-id']);

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
      } else
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(aSessionDocument({ generation: 7 })));
    });
    url = `http://127.0.0.1:${installed.add(server, (it) => it.close()).port}`;
  });

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
    await project.write('service.cts', USE_FROM_COMMONJS);
    const files = [...codes.map((_code, index) => `example-${index}.ts`), 'service.cts'];
    expect(await project.compilerFaults(files)).toBe('');
  });

  it('tests a service with its fake broker as the manual shows', async () => {
    const example = (await examples()).find((code) => code.includes('FakeBroker.start'))!;
    expect(await project.run(example, { name: 'service.test.mts' })).toContain('pass 1');
  });

  it('is one for those who import and those who require: errors of either are known to both', async () => {
    const out = await project.run(`
      import { createRequire } from 'node:module';
      import { SessionRejected, SessionBrokerError } from '@session-broker/client';
      const required = createRequire(import.meta.url)('@session-broker/client');
      const error = new required.SessionRejected('b_used_token');
      console.log(required.SessionRejected === SessionRejected, error instanceof SessionRejected);
      console.log(new SessionRejected('x') instanceof required.SessionBrokerError, new Error() instanceof SessionBrokerError);
    `);
    expect(out).toBe('false true\ntrue false\n');
  });

  it('gives a session to a program, and lets it end once it is closed, or at once where it follows nothing', async () => {
    const out = await project.run(
      `
      import { SessionBroker } from '@session-broker/client';
      const settings = { url: process.env.URL, merchant: 'shop', auth: 'secret' };
      const [broker, quiet] = [new SessionBroker(settings), new SessionBroker({ ...settings, follow: 'none' })];
      console.log((await broker.session()).generation, (await quiet.session()).generation);
      await broker.close();
      console.log(broker, quiet, 'done');
    `,
      { env: { URL: url } },
    );
    expect(out).toMatch(/^7 7\n[^]*done\n$/);
    expect(out).not.toContain('secret');
  });

  it('has a fake broker that answers as the contract says', async () => {
    const packed = (await import(join(project.installed, 'dist/esm/entries/testing.js'))) as {
      readonly FakeBroker: { readonly start: () => Promise<PlayedBroker> };
    };
    const fake = installed.add(await packed.FakeBroker.start(), (it) => it.close());
    const foreign = await sealJwe(Buffer.from('x'), await importPaymentKey((await generateClientKey()).publicJwk));
    const jwe = (of: string): object => ({ body: { jwe: of } });
    const questions: readonly (readonly [operationId: string, status: number, asked?: Asked])[] = [
      ['getSession', 200],
      ['getSession', 401, { token: 'another' }],
      ['getSession', 403, { merchant: 'hidden' }],
      ['decryptPayload', 200, jwe(await fake.sealedAnswer('x'))],
      ['decryptPayload', 422, jwe(foreign)],
      ['decryptPayload', 400, jwe('nothing')],
      ['openNotification', 200, { body: { headers: {}, body: JSON.stringify(OPERATION) } }],
      ['openNotification', 422, { body: { headers: {}, body: '{}' } }],
      ['readyForHandover', 204, { body: { generation: 2, participant: 'checkout-1' } }],
      ['rejectSession', 400, { body: { reason: 'b_used_token' } }],
      ['rejectSession', 200, { body: { generation: 1, reason: 'b_used_token' } }],
      ['rejectSession', 200, { body: { generation: Number.MAX_SAFE_INTEGER } }],
    ];
    for (const [operationId, status, { merchant = 'shop', token = fake.token, body } = {}] of questions) {
      const { path, operation } = operations.find((one) => one.operation.operationId === operationId)!;
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const answer = await fetch(fake.url + path.replace('{merchant}', merchant), { headers, ...sent });
      const text = await answer.text();
      expect([operationId, answer.status]).toEqual([operationId, status]);
      const document = (text === '' ? {} : JSON.parse(text)) as { readonly code?: ErrorCode };
      const said = operation.responses[String(status)]!;
      const told = { headers: Object.fromEntries(answer.headers), body: document };
      expectAsSaid(said, told, (name) => PLAYED.has(name));
      if (document.code !== undefined) expect(document).toMatchObject({ title: errorCodes[document.code].title });
    }
  });
});
