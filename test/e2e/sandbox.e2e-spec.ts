import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endedAfterEach } from '#libs/testing';
import { ProgramProcess } from './program-process.js';

const urlOf = async (sandbox: ProgramProcess): Promise<string> => {
  const [line] = await sandbox.said(/^.*"msg":"sandbox listening".*$/m);
  return (JSON.parse(line) as { readonly url: string }).url;
};

describe('the sandbox as a process', () => {
  let folder: string;
  const started = endedAfterEach();
  const start = (environment: Readonly<Record<string, string>>): ProgramProcess =>
    started.add(new ProgramProcess('sandbox', { environment }), async (it) => {
      it.signal('SIGKILL');
      await it.ended;
    });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sandbox-e2e-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('logs one line of JSON with its address, and takes all that it is told from its environment', async () => {
    const file = join(folder, 'merchants.json');
    const jwk = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-384' }, true, ['deriveBits']);
    const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', jwk.publicKey);
    const serviceCode = '137d9304-0368-11ed-b939-0242ac120002';
    await writeFile(file, JSON.stringify([{ id: 'shop', serviceCode, publicJwk: { kty, crv, x, y } }]));
    const told = { SANDBOX_MERCHANTS: file, SANDBOX_LIFETIME: '90s', SANDBOX_CONTROL_TOKEN: 'token' };
    const sandbox = start({ SANDBOX_PORT: '0', SANDBOX_CLOCK: 'virtual', ...told });
    const url = await urlOf(sandbox);
    const ask = async (path: string, body?: object): Promise<unknown> => {
      const headers = { authorization: 'Bearer token', 'content-type': 'application/json' };
      const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
      return (await fetch(`${url}/control${path}`, init)).json();
    };
    expect(JSON.parse(sandbox.out)).toMatchObject({ level: 'info', name: 'sandbox', url, merchants: 1 });
    expect(await ask('/settings')).toMatchObject({ lifetimeMs: 90_000 });
    expect(await ask('/merchants')).toMatchObject([{ id: 'shop', serviceCode }]);
    expect((await fetch(`${url}/control/settings`)).status).toBe(401);
    const before = (await ask('/time')) as { now: string; virtual: boolean };
    const after = (await ask('/time/advance', { byMs: 3_600_000 })) as { now: string };
    expect(before.virtual).toBe(true);
    expect(Date.parse(after.now) - Date.parse(before.now)).toBe(3_600_000);
  });

  it('lets no control request move true time, and ends in order while a call hangs', async () => {
    const sandbox = start({ SANDBOX_PORT: '0' });
    const url = await urlOf(sandbox);
    const control = (path: string, body: string): Promise<Response> =>
      fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const moved = await control('/_sandbox/time/advance', '{"byMs":1}');
    expect([moved.status, await moved.text()]).toEqual([400, expect.stringContaining('SANDBOX_CLOCK=virtual')]);
    await control('/control/faults', '{"kind":"hang"}');
    const hanging = expect(fetch(`${url}/cipher/encrypt_by_jwk`, { method: 'POST' })).rejects.toThrow();
    await fetch(`${url}/control/calls?waitFor=1&until=arrived`);
    sandbox.signal('SIGTERM');
    expect([await sandbox.ended, sandbox.err]).toEqual([0, '']);
    await hanging;
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['an invalid port', { SANDBOX_PORT: '65536' }, /SANDBOX_PORT must be a number from 0 to 65535/],
    ['a file that is missing', { SANDBOX_MERCHANTS: '/nowhere.json' }, /\/nowhere\.json cannot be read: ENOENT/],
    [
      'a port that is taken',
      { SANDBOX_PORT: '' },
      /^The sandbox cannot start: \S+ is already in use; set SANDBOX_PORT/,
    ],
  ])('says in one line that %s will not do, and ends with code 1', async (_name, environment, expected) => {
    const { port } = new URL(await urlOf(start({ SANDBOX_PORT: '0' })));
    const own = environment['SANDBOX_PORT'] === '' ? { SANDBOX_PORT: port } : environment;
    const sandbox = start({ SANDBOX_PORT: '0', ...own });
    expect(await sandbox.ended).toBe(1);
    expect(sandbox.err).toMatch(expected);
    expect(sandbox.err.trimEnd().split('\n')).toHaveLength(1);
  });
});
