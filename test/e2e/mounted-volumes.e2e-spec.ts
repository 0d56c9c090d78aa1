import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import { generateClientKey } from '#libs/jwe';
import { createLogger } from '#libs/telemetry';
import { eventually, freePort } from '#libs/testing';
import { startSandbox } from '../../apps/sandbox/src/sandbox.js';
import { ProgramProcess } from './program-process.js';

const SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120002';

/**
 * A volume as the kubelet writes it: the files are links through `..data`, which points to a folder with the current
 * version and is exchanged by a rename.
 */
class MountedVolume {
  readonly path: string;
  #version = 0;

  constructor(path: string) {
    this.path = path;
  }

  async write(files: Readonly<Record<string, string>>): Promise<void> {
    const version = `..v${(this.#version += 1)}`;
    await mkdir(join(this.path, version), { recursive: true });
    for (const [name, content] of Object.entries(files)) {
      await writeFile(join(this.path, version, name), content, { mode: 0o600 });
      if (this.#version === 1) await symlink(join('..data', name), join(this.path, name));
    }
    await symlink(version, join(this.path, '..data_tmp'));
    await rename(join(this.path, '..data_tmp'), join(this.path, '..data'));
    await rm(join(this.path, `..v${this.#version - 1}`), { recursive: true, force: true });
  }
}

describe('the broker as a process whose volumes are exchanged', () => {
  it('takes both, one after the other, by itself and on SIGHUP, and counts what it cannot take', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'session-broker-'));
    const [config, keys] = [new MountedVolume(join(folder, 'config')), new MountedVolume(join(folder, 'keys'))];
    const [first, second] = [await generateClientKey(), await generateClientKey()];
    const sandbox = await startSandbox({
      host: '127.0.0.1',
      port: 0,
      clock: new SystemClock(),
      logger: createLogger({ name: 'sandbox', level: 'error' }),
      merchants: [{ id: 'shop', serviceCode: SERVICE_CODE, publicJwk: first.publicJwk, lifetimeMs: 60_000 }],
    });
    const [port, managementPort] = [await freePort(), await freePort()];
    const configuration = (level: string): Record<string, string> => ({
      'broker.yaml': JSON.stringify({
        http: { port },
        management: { port: managementPort },
        auth: { disabled: true },
        reload: { every: '1s' },
        log: { level },
        merchants: [
          {
            id: 'shop',
            serviceCode: SERVICE_CODE,
            clientKeyFiles: ['../keys/shop.jwk.json'],
            gateway: { baseUrl: sandbox.url, environment: 'test', timeout: '2s' },
          },
        ],
      }),
    });
    const metric = async (name: string): Promise<number> => {
      const scrape = await (await fetch(`http://127.0.0.1:${managementPort}/metrics`)).text();
      return Number(new RegExp(`^session_broker_${name} (\\S+)$`, 'm').exec(scrape)?.[1] ?? 0);
    };
    const keyOf = async (): Promise<unknown> => {
      const response = await fetch(`http://127.0.0.1:${port}/v1/merchants/shop/client-key`);
      return ((await response.json()) as Record<string, unknown>)['thumbprint'];
    };
    await config.write(configuration('info'));
    await keys.write({ 'shop.jwk.json': JSON.stringify(first.privateJwk) });
    const broker = new ProgramProcess('broker', {
      environment: { BROKER_CONFIG: join(folder, 'config', 'broker.yaml') },
    });
    try {
      await broker.said(/"msg":"session renewed"/);
      await keys.write({ 'shop.jwk.json': JSON.stringify(second.privateJwk) });
      await broker.said(/"changed":"shop",.*"msg":"the changed configuration is in force"/);
      expect(await keyOf()).toBe(second.thumbprint);
      await config.write(configuration('wrong'));
      await broker.said(/"path":"log.level".*"msg":"the changed configuration is not taken/);
      expect(await metric('config_last_reload_successful')).toBe(0);
      expect(await metric('config_reload_failures_total')).toBe(1);
      await config.write(configuration('debug'));
      broker.signal('SIGHUP');
      await broker.said(/"settings":"log.level","msg":"the changed configuration is in force"/);
      await eventually(async () => (await metric('config_last_reload_successful')) === 1);
      expect(await metric('config_reload_failures_total')).toBe(1);
      expect(broker.out.match(/"msg":"session renewed"/g)).toHaveLength(1);
    } finally {
      broker.signal('SIGTERM');
      expect(await broker.ended).toBe(0);
      await sandbox.close();
      await rm(folder, { recursive: true });
    }
  });
});
