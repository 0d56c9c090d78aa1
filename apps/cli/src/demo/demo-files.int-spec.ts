import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importClientKey } from '#libs/jwe';
import { type DemoFiles, prepareDemoFiles } from './demo-files.js';

const ports = { broker: 18080, management: 19464, sandbox: 18081 };

describe('the files of the demo', () => {
  let parent: string;
  let folder: string;
  const prepare = (): Promise<DemoFiles> => prepareDemoFiles(folder, ports);
  const key = (): string => join(folder, 'client.jwk.json');

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'demo-files-'));
    folder = join(parent, '.demo');
  });
  afterEach(() => rm(parent, { recursive: true }));

  it('can be read by nobody else', async () => {
    await prepare();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).sort()).toEqual([
      'broker-18080.yaml',
      'client.jwk.json',
      'sandbox-18081.json',
      'token',
    ]);
  });

  it('keep key and token from one start to the next', async () => {
    const { token } = await prepare();
    const before = await readFile(key(), 'utf8');
    expect((await prepare()).token).toBe(token);
    expect(await readFile(key(), 'utf8')).toBe(before);
  });

  it('name the token by its hash only, in the configuration', async () => {
    const { token, brokerConfig } = await prepare();
    const yaml = await readFile(brokerConfig, 'utf8');
    expect(yaml).not.toContain(token);
    expect(yaml).toMatch(/sha256: "[0-9a-f]{64}"/);
  });

  it('give the sandbox the public half of the key, and only that', async () => {
    const { sandboxMerchants } = await prepare();
    const { publicJwk } = await importClientKey(JSON.parse(await readFile(key(), 'utf8')));
    const [merchant] = JSON.parse(await readFile(sandboxMerchants, 'utf8')) as { publicJwk: object }[];
    expect(merchant!.publicJwk).toMatchObject(publicJwk);
    expect(merchant!.publicJwk).not.toHaveProperty('d');
  });

  it('are made anew where they are damaged', async () => {
    const { token } = await prepare();
    await writeFile(key(), '{"kty":');
    await writeFile(join(folder, 'token'), 'x');
    expect((await prepare()).token).not.toBe(token);
    await expect(importClientKey(JSON.parse(await readFile(key(), 'utf8')))).resolves.toBeDefined();
  });

  it('are closed to others again when they were opened', async () => {
    await prepare();
    await chmod(folder, 0o755);
    await prepare();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it('say what to remove when their place is not a folder', async () => {
    await writeFile(folder, '');
    await expect(prepare()).rejects.toMatchObject({
      detail: expect.stringContaining(`${folder} cannot be used`) as unknown,
    });
  });
});
