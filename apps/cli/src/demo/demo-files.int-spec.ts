import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import { loadEgressConfiguration } from '#libs/configuration';
import { importClientKey } from '#libs/jwe';
import { readKeyFile } from '../key-file.js';
import { type DemoFiles, prepareDemoFiles } from './demo-files.js';

const ports = { broker: 18080, management: 19464, sandbox: 18081, egress: 18090, egressManagement: 19466 };

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

  it('can be read by nobody else, also after their folder was opened', async () => {
    await prepare();
    await chmod(folder, 0o755);
    await prepare();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).sort()).toEqual([
      'broker-18080.yaml',
      'client.jwk.json',
      'egress-18090.yaml',
      'egress-alias.jwk.json',
      'egress-token',
      'sandbox-18081.json',
      'shop-alias',
      'shop-client.jwk.json',
      'shop-client.pub.jwk.json',
      'shop-token',
      'token',
    ]);
  });

  it('name the tokens by their hashes only, in the configurations', async () => {
    const { token, brokerConfig, egress } = await prepare();
    const yaml = `${await readFile(brokerConfig, 'utf8')}${await readFile(egress.config, 'utf8')}`;
    for (const secret of [token, egress.clientToken, (await readFile(join(folder, 'egress-token'), 'utf8')).trim()])
      expect(yaml).not.toContain(secret);
    expect(yaml.match(/sha256: "[0-9a-f]{64}"/g)).toHaveLength(3);
  });

  it('give the egress a configuration that it takes, without the key or the service code of the merchant', async () => {
    const { egress } = await prepare();
    const { clients, aliasKeys, warnings } = await loadEgressConfiguration(egress.config, {
      environment: {},
      clock: new SystemClock(),
    });
    expect(clients).toMatchObject([
      { name: 'shop', merchant: 'shop', alias: { serviceCode: egress.serviceCodeAlias } },
    ]);
    const used = [aliasKeys[0]?.thumbprint, (await readKeyFile(egress.clientKey)).thumbprint];
    expect(new Set([...used, (await readKeyFile(key())).thumbprint]).size).toBe(3);
    expect(warnings).toEqual([]);
  });

  it('give the sandbox the public half of the key, and only that', async () => {
    const { sandboxMerchants } = await prepare();
    const { publicJwk } = await importClientKey(JSON.parse(await readFile(key(), 'utf8')));
    const [merchant] = JSON.parse(await readFile(sandboxMerchants, 'utf8')) as { publicJwk: object }[];
    expect(merchant!.publicJwk).toMatchObject(publicJwk);
    expect(merchant!.publicJwk).not.toHaveProperty('d');
  });
});
