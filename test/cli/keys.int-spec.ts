import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { chmod, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { importClientKey, importPaymentKey } from '#libs/jwe';
import { endedAfterEach } from '#libs/testing';
import { exitCodes } from '../../apps/cli/src/exit-codes.js';
import { Examined } from './examined.js';

const P384 = { namedCurve: 'P-384' };
const otherCurve = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

describe('cli keys', () => {
  let examined: Examined;
  let out: string[];
  let err: string[];

  const started = endedAfterEach();
  beforeEach(async () => {
    examined = started.add(await Examined.create(), (it) => it.remove());
    await rm(inFolder('client.json'));
  });

  const cli = async (...args: string[]): Promise<number> => {
    const { code } = await examined.cli(...args);
    ({ out, err } = examined);
    return code;
  };
  const inFolder = (name: string): string => examined.path(name);
  /** The private key, and the public one in a file of its own. */
  const generate = (...more: string[]): Promise<number> =>
    cli('keys', 'generate', '--out', inFolder('client.json'), '--public-out', inFolder('public.json'), ...more);
  const answer = (): Record<string, unknown> => JSON.parse(out.join('\n')) as Record<string, unknown>;
  const jwkIn = async (name: string): Promise<Record<string, string>> =>
    JSON.parse(await readFile(inFolder(name), 'utf8')) as Record<string, string>;
  const everything = (): string => [...out, ...err].join('\n');

  describe('generate', () => {
    it('writes a private key that the broker takes, readable by its owner alone, and prints only the public one', async () => {
      expect(await cli('keys', 'generate', '--out', inFolder('client.json'))).toBe(exitCodes.ok);
      expect((await stat(inFolder('client.json'))).mode & 0o777).toBe(0o600);
      const { thumbprint } = await importClientKey(await jwkIn('client.json'));
      expect(everything()).toContain(thumbprint);
      const { d, ...publicHalf } = await jwkIn('client.json');
      expect(JSON.parse(out.join('\n').slice(out.join('\n').indexOf('{')))).toEqual(publicHalf);
      expect(Object.keys(publicHalf).sort()).toEqual(['alg', 'crv', 'kty', 'use', 'x', 'y']);
      expect(everything()).not.toContain(d);
    });

    it('writes the public key to a file of its own', async () => {
      await generate('--json');
      const publicJwk = await jwkIn('public.json');
      await expect(importPaymentKey(publicJwk)).resolves.toHaveProperty('thumbprint', answer()['thumbprint']);
      expect(answer()).toMatchObject({ ok: true, publicJwk, privateFile: inFolder('client.json') });
    });

    it.each([
      ['client.json', 'public.json'],
      ['public.json', 'client.json'],
    ])('leaves an existing %s as it is, and nothing half done', async (existing, other) => {
      await writeFile(inFolder(existing), 'kept');
      expect(await generate()).toBe(exitCodes.invalidInput);
      expect(err.join('\n')).toMatch(/exists already, and a key file is never overwritten/);
      expect(await readFile(inFolder(existing), 'utf8')).toBe('kept');
      await expect(stat(inFolder(other))).rejects.toThrow('ENOENT');
    });

    it('does not follow a link to a place where no file is yet', async () => {
      await symlink(inFolder('elsewhere.json'), inFolder('client.json'));
      expect(await cli('keys', 'generate', '--out', inFolder('client.json'))).toBe(exitCodes.invalidInput);
      await expect(stat(inFolder('elsewhere.json'))).rejects.toThrow('ENOENT');
    });
  });

  describe('check', () => {
    const privateKey = (): Promise<number> => cli('keys', 'generate', '--out', inFolder('client.json'));

    it('refuses a private key where a public one is due, and the reverse', async () => {
      await generate();
      expect(await cli('keys', 'check', inFolder('client.json'), '--expect', 'public')).toBe(exitCodes.invalidInput);
      expect(await cli('keys', 'check', inFolder('public.json'), '--expect', 'private')).toBe(exitCodes.invalidInput);
      expect(await cli('keys', 'check', inFolder('public.json'), '--expect', 'public')).toBe(exitCodes.ok);
    });

    it('warns of a private key that others can read', async () => {
      await privateKey();
      await chmod(inFolder('client.json'), 0o640);
      expect(await cli('keys', 'check', inFolder('client.json'))).toBe(exitCodes.ok);
      expect(err.join('\n')).toContain('chmod 600');
    });

    it.each([
      ['alg', 'RSA-OAEP', '"alg"'],
      ['d', 'AAAA', '"d"'],
    ])('names the member when %s is wrong, and no value', async (member, value, named) => {
      await privateKey();
      const { d, ...rest } = await jwkIn('client.json');
      await writeFile(inFolder('wrong.json'), JSON.stringify({ ...rest, d, [member]: value }));
      expect(await cli('keys', 'check', inFolder('wrong.json'))).toBe(exitCodes.invalidInput);
      expect(err.join('\n')).toContain(named);
      expect(everything()).not.toContain(d);
    });

    it('quotes nothing of a file that is not JSON, because it may be a key all the same', async () => {
      await writeFile(inFolder('broken.json'), '{"d": "very-secret-scalar');
      expect(await cli('keys', 'check', inFolder('broken.json'), '--json')).toBe(exitCodes.invalidInput);
      expect(answer()).toMatchObject({ ok: false, error: { code: 'key_file_invalid' } });
      expect(everything()).not.toContain('secret');
    });
  });

  describe('convert', () => {
    const pems: Record<string, () => string> = {
      'PKCS#8': () => generateKeyPairSync('ec', P384).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      SEC1: () => generateKeyPairSync('ec', P384).privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
      'SEC1 behind its parameters, as openssl ecparam writes it': () =>
        `-----BEGIN EC PARAMETERS-----\nBgUrgQQAIg==\n-----END EC PARAMETERS-----\n${pems['SEC1']?.()}`,
    };

    it.each(Object.keys(pems))('writes the JWK of a private key in %s, as the broker takes it', async (form) => {
      await writeFile(inFolder('client.pem'), pems[form]?.() ?? '', { mode: 0o600 });
      expect(await cli('keys', 'convert', inFolder('client.pem'), '--out', inFolder('client.json'))).toBe(exitCodes.ok);
      expect((await stat(inFolder('client.json'))).mode & 0o777).toBe(0o600);
      const { thumbprint } = await importClientKey(await jwkIn('client.json'));
      expect(everything()).toContain(thumbprint);
      expect(everything()).not.toContain((await jwkIn('client.json'))['d']);
    });

    it('writes the JWK of a public key without a private part', async () => {
      const { publicKey } = generateKeyPairSync('ec', P384);
      await writeFile(inFolder('bank.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
      expect(await cli('keys', 'convert', inFolder('bank.pem'), '--out', inFolder('bank.json'))).toBe(exitCodes.ok);
      await expect(importPaymentKey(await jwkIn('bank.json'))).resolves.toBeDefined();
    });

    const encrypted = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } as const;
    it.each<[string, () => string | Buffer, string]>([
      ['another curve', () => otherCurve().export({ type: 'pkcs8', format: 'pem' }), 'not an EC key on P-384'],
      ['a passphrase', () => generateKeyPairSync('ec', P384).privateKey.export(encrypted), 'openssl pkey'],
      ['damage', () => '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n', 'not a key in PEM'],
      ['no key', () => '{}', 'holds no key in PEM'],
    ])('refuses one with %s', async (_name, pem, sentence) => {
      await writeFile(inFolder('wrong.pem'), pem());
      expect(await cli('keys', 'convert', inFolder('wrong.pem'), '--out', inFolder('x'))).toBe(exitCodes.invalidInput);
      expect(err.join('\n')).toContain(sentence);
      expect(err.join('\n')).toContain(inFolder('wrong.pem'));
      await expect(stat(inFolder('x'))).rejects.toThrow('ENOENT');
    });
  });

  describe('public and check', () => {
    it('give the same for the private and the public file', async () => {
      await generate();
      const said = new Set<string>();
      for (const name of ['client.json', 'public.json']) {
        expect(await cli('keys', 'public', inFolder(name))).toBe(exitCodes.ok);
        expect(JSON.parse(out.join('\n'))).toEqual(await jwkIn('public.json'));
        expect(await cli('keys', 'check', inFolder(name))).toBe(exitCodes.ok);
        said.add(/^thumbprint .*$/m.exec(out.join('\n'))?.[0] ?? '');
      }
      expect(said.size).toBe(1);
      expect([...said][0]).toMatch(/^thumbprint {3}[\w-]{43}$/);
    });
  });
});
