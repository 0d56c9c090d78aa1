import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock } from '#libs/testing';
import { exitCodes } from './exit-codes.js';
import { runCli } from './program.js';

describe('cli init kubernetes', () => {
  let folder: string;
  let said: string;

  const init = (out: string, ...more: string[]): Promise<number> => {
    said = '';
    const say = (text: string): void => void (said += `${text}\n`);
    const context = { environment: {}, signal: new AbortController().signal, clock: new FakeClock() };
    return runCli(['init', 'kubernetes', '--out', out, ...more], { ...context, terminal: { out: say, err: say } });
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'init-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("writes one's own files into a new folder, and says by file and line what is to be filled in", async () => {
    const out = join(folder, 'shop');
    expect(await init(out)).toBe(exitCodes.ok);
    expect((await readdir(out)).sort()).toEqual(['broker.yaml', 'values.yaml']);
    const values = (await readFile(join(out, 'values.yaml'), 'utf8')).split('\n');
    const line = values.findIndex((one) => one.includes('203.0.113.')) + 1;
    expect(said).toContain(`\n  ${join(out, 'values.yaml')}:${line}  gateway: { cidrs: [203.0.113.0/24] }\n`);
    expect(said.match(/\n {2}\//g)).toHaveLength(4);
  });

  it('begins with certificates, and an egress, where it is told to', async () => {
    expect(await init(folder, '--intent', 'production-mtls')).toBe(exitCodes.ok);
    expect((await readdir(folder)).sort()).toEqual(['broker.yaml', 'egress.yaml', 'values.yaml']);
    for (const place of ['spiffe://shop.example', 'sha256', 'gateway.example']) expect(said).toContain(place);
  });

  it('overwrites nothing, and ends with 0 once everything is filled in', async () => {
    await mkdir(join(folder, 'shop'));
    await writeFile(join(folder, 'shop/values.yaml'), 'image: { repository: registry.bank/broker }\n');
    expect(await init(join(folder, 'shop'))).toBe(exitCodes.ok);
    expect(await readFile(join(folder, 'shop/values.yaml'), 'utf8')).toContain('registry.bank');
    expect(await init(join(folder, 'shop'))).toBe(exitCodes.incomplete);
    expect(said).toMatch(/^there already .*values\.yaml\nthere already .*broker\.yaml\n[^]*gateway\.example/);
    await writeFile(join(folder, 'shop/broker.yaml'), 'http: {}\n');
    expect(await init(join(folder, 'shop'))).toBe(exitCodes.ok);
    expect(said).toContain('Nothing is left to fill in');
  });

  it('writes nothing into the clone, where git would see it', async () => {
    const inside = join(import.meta.dirname, 'shop');
    expect(await init(inside)).toBe(exitCodes.invalidInput);
    expect(said).toContain('outside the clone');
    await expect(readdir(inside)).rejects.toThrow('ENOENT');
  });
});
