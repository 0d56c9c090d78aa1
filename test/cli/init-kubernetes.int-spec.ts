import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endedAfterEach } from '#libs/testing';
import { exitCodes } from '../../apps/cli/src/exit-codes.js';
import { Examined } from './examined.js';

describe('cli init kubernetes', () => {
  let folder: string;
  let examined: Examined;
  let said: string;

  const started = endedAfterEach();
  beforeEach(async () => {
    examined = started.add(await Examined.create(), (it) => it.remove());
    folder = examined.path('mine');
    await mkdir(folder);
  });

  const init = async (out: string, ...more: string[]): Promise<number> => {
    const { code, text } = await examined.cli('init', 'kubernetes', '--out', out, ...more);
    said = `${text}\n`;
    return code;
  };

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
