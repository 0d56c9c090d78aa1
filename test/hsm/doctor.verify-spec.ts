import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWith, endedAfterAll } from '#libs/testing';
import { ProgramProcess } from '../e2e/program-process.js';
import { pkcs11js, privateJwkOn, SoftToken } from './soft-token.js';

interface Report {
  readonly checks: readonly {
    readonly name: string;
    readonly status: string;
    readonly reason?: string;
    readonly findings: readonly { readonly level: string; readonly message: string }[];
  }[];
}

describeWith(['softhsm', pkcs11js], 'the doctor of a broker whose client key is in a token', () => {
  let token: SoftToken;
  const started = endedAfterAll();
  const privateJwk = privateJwkOn('P-384');

  beforeAll(async () => {
    token = started.add(await SoftToken.create(), (it) => it.remove());
    await token.keep({ label: 'shop', privateJwk });
    await token.keep({ label: 'loose', privateJwk, extractable: true });
  });

  async function doctor(
    keyFile: string,
    verb: readonly string[] = ['doctor', '--json'],
  ): Promise<{ code: number | null; text: string }> {
    await writeFile(join(token.folder, 'key.json'), keyFile, { mode: 0o600 });
    const config = join(token.folder, 'broker.yaml');
    await writeFile(
      config,
      `auth: { disabled: true }
pkcs11: { modules: [${token.module}] }
merchants:
  - { id: shop, serviceCode: 137d9304-0368-11ed-b939-0242ac120002, clientKeyFiles: [key.json], gateway: { baseUrl: "http://127.0.0.1:9", environment: test, timeout: 1s } }
`,
    );
    const args = [...verb, ...(verb[0] === 'doctor' ? ['--config', config] : [config])];
    const program = new ProgramProcess('cli', { args, environment: token.environment });
    return { code: await program.ended, text: program.out + program.err };
  }

  async function checkOf(name: string, file: string): Promise<Report['checks'][number]> {
    const { checks } = JSON.parse((await doctor(file)).text) as Report;
    const found = checks.find((check) => check.name === name);
    if (found === undefined) throw new Error('there is no such check');
    return found;
  }

  const keyFile = (label: string, changes: Parameters<SoftToken['uri']>[1] = {}): string => {
    const { d: _private, ...publicJwk } = privateJwk;
    return JSON.stringify({ ...publicJwk, pkcs11: token.uri(label, changes) });
  };

  it('is content with a key that was made in the token', async () => {
    expect((await checkOf('keys', token.keyFile('made', await token.make('made')))).status).toBe('passed');
  });

  it.each([
    ['that the token would give out', 'loose'],
    ['that was made outside of the token', 'shop'],
  ])('warns of a key %s', async (...[, label]) => {
    const { status, findings } = await checkOf('keys', keyFile(label));
    expect(status).toBe('warned');
    expect(findings.find(({ level }) => level === 'warning')?.message).toContain('can give its key out');
  });

  it('names a PIN that is wrong as a fault of the configuration, which `config check` does not try, and never the PIN', async () => {
    await writeFile(join(token.folder, 'wrong-pin'), 'canary-7f3a', { mode: 0o600 });
    const wrong = keyFile('shop', { pinFile: join(token.folder, 'wrong-pin') });
    const { text } = await doctor(wrong);
    expect(text).toContain('names a key in a token that cannot be used: pin_refused');
    expect(text).not.toContain('canary');
    expect((await doctor(wrong, ['config', 'check'])).code).toBe(0);
  });
});
