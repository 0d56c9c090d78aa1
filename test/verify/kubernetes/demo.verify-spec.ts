import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith, endedAfterAll, eventually, freePort, RedisProcess } from '#libs/testing';
import { ProgramProcess } from '../../e2e/program-process.js';
import { folder, root } from './manifests.js';

/** What prepare.sh makes, in the programs that the demo starts with it; only addresses and folders differ. */
describeWith('redis-server', 'the demo', () => {
  let demo: string;
  const started = endedAfterAll();

  /** In a clone, with the Node.js of its lock file, whatever the machine has. */
  function prepare(): string {
    const clone = join(demo, '../../..');
    const env = { ...process.env, PATH: `${join(clone, 'machine')}:${process.env['PATH']}` };
    return execFileSync('sh', [join(demo, 'prepare.sh')], { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  beforeAll(() => {
    const clone = started.add(mkdtempSync(join(tmpdir(), 'demo clone-')), (it) => rmSync(it, { recursive: true }));
    demo = join(clone, 'deploy/kubernetes/demo');
    cpSync(join(folder, 'demo'), demo, { recursive: true });
    symlinkSync(join(root, 'dist'), join(clone, 'dist'));
    mkdirSync(join(clone, 'node_modules/.bin'), { recursive: true });
    symlinkSync(process.execPath, join(clone, 'node_modules/.bin/node'));
    mkdirSync(join(clone, 'machine'));
    writeFileSync(join(clone, 'machine/node'), '#!/bin/sh\necho too old >&2\nexit 1\n', { mode: 0o755 });
  });

  const start = (app: 'broker' | 'sandbox', environment: Readonly<Record<string, string>>): ProgramProcess =>
    started.add(new ProgramProcess(app, { environment }), async (it) => {
      it.signal('SIGKILL');
      await it.ended;
    });

  it('serves its merchant to the token that was printed, and never makes anything twice', async () => {
    const token = /demo token: (\S+)/.exec(prepare())?.[1] ?? '';
    const made = join(demo, 'made');
    expect(prepare).toThrow('made already');
    const [api, management, gateway] = [await freePort(), await freePort(), await freePort()];
    const redis = await RedisProcess.start({ args: () => ['--include', join(made, 'redis.conf')] });
    started.add(redis, (it) => it.stop());
    const merchants = { SANDBOX_PORT: String(gateway), SANDBOX_MERCHANTS: join(made, 'merchants.json') };
    await start('sandbox', merchants).said(/sandbox listening/);
    const file = join(made, 'local.yaml');
    const text = readFileSync(join(made, 'broker.yaml'), 'utf8')
      .replace('port: 8080', `port: ${api}`)
      .replace('port: 9464', `port: ${management}`)
      .replace('redis:6379', `127.0.0.1:${redis.port}`)
      .replace('sandbox:8081', `127.0.0.1:${gateway}`)
      .replace('/run/secrets/redis/password', 'redis-password')
      .replaceAll('/run/secrets/shop/', '');
    writeFileSync(file, text);
    const broker = start('broker', { BROKER_CONFIG: file });
    await eventually(async () => {
      await broker.said(/broker started/);
      return (await fetch(`http://127.0.0.1:${management}/readyz`)).ok;
    });
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`http://127.0.0.1:${api}/v1/merchants/shop/session`, { headers });
    expect(await answer.json()).toMatchObject({ merchant: 'shop', authToken: expect.any(String) as string });
    const warnings = broker.out.split('\n').filter((line) => line.includes('"level":"warn"'));
    // Inside the cluster the demo has no TLS: there must be no other warning.
    expect(warnings.map((line) => (JSON.parse(line) as { path?: string }).path)).toEqual(['http.tls']);
  });
});
