import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import { generateClientKey } from '#libs/jwe';
import { merchant } from './configuration-fixtures.js';
import { ConfigurationSource } from './configuration-source.js';

describe('a configuration that is read again', () => {
  let folder: string;
  let source: ConfigurationSource;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'configuration-'));
    await put('shop.jwk.json', JSON.stringify((await generateClientKey()).privateJwk));
    await put('broker.yaml', configuration('shop.jwk.json'));
    source = sourceOf('broker.yaml');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const put = (name: string, content: string): Promise<void> => writeFile(join(folder, name), content, { mode: 0o600 });
  const configuration = (keyFile: string): string =>
    JSON.stringify({ auth: { disabled: true }, merchants: [merchant({ clientKeyFiles: [keyFile] })] });
  const sourceOf = (file: string): ConfigurationSource =>
    new ConfigurationSource(join(folder, file), { environment: {}, clock: new SystemClock() });
  const hasChanged = async (): Promise<boolean> => (await source.stamp()) !== source.loadedStamp;
  const thumbprint = async (): Promise<string | undefined> =>
    (await source.load()).merchants[0]?.clientKeys[0]?.thumbprint;

  it('has changed before it was first read, not right after, and again once a file that it names was written to', async () => {
    expect(await hasChanged()).toBe(true);
    await source.load();
    expect(await hasChanged()).toBe(false);
    await put('shop.jwk.json', JSON.stringify((await generateClientKey()).privateJwk));
    expect(await hasChanged()).toBe(true);
  });

  it('shows that a link which leads to all files was exchanged, as Kubernetes does it', async () => {
    const next = await generateClientKey();
    for (const [version, key] of [await generateClientKey(), next].entries()) {
      await mkdir(join(folder, `..v${version}`));
      await put(`..v${version}/key.json`, JSON.stringify(key.privateJwk));
      await put(`..v${version}/broker.yaml`, configuration('key.json'));
    }
    await mkdir(join(folder, 'mounted'));
    await symlink('../..v0', join(folder, 'mounted', '..data'));
    for (const name of ['key.json', 'broker.yaml']) await symlink(join('..data', name), join(folder, 'mounted', name));
    source = sourceOf('mounted/broker.yaml');
    await source.load();
    expect(await hasChanged()).toBe(false);
    await symlink('../..v1', join(folder, 'mounted', '..data_tmp'));
    await rename(join(folder, 'mounted', '..data_tmp'), join(folder, 'mounted', '..data'));
    expect(await hasChanged()).toBe(true);
    expect(await thumbprint()).toBe(next.thumbprint);
    expect(await hasChanged()).toBe(false);
  });

  it('shows that a file which was missing beside another fault came into being', async () => {
    await source.load();
    await put('broker.yaml', `${configuration('next.jwk.json').slice(0, -1)}, "log": { "level": "loud" } }`);
    await expect(source.load()).rejects.toThrow(/clientKeyFiles\[0\].*log\.level/);
    expect(await hasChanged()).toBe(false);
    await put('next.jwk.json', JSON.stringify((await generateClientKey()).privateJwk));
    expect(await hasChanged()).toBe(true);
    await expect(source.load()).rejects.toThrow(/: log\.level/);
  });

  it('shows that a text which could not be understood was mended', async () => {
    await source.load();
    await put('broker.yaml', 'merchants: [');
    await expect(source.load()).rejects.toThrow();
    expect(await hasChanged()).toBe(false);
    await put('broker.yaml', configuration('shop.jwk.json'));
    expect(await hasChanged()).toBe(true);
  });
});
