import { BrokerError } from '#libs/errors';
import type { ClientKey } from './client-key.js';
import { generateClientKey } from './generate-client-key.js';
import { importClientKey, importServerKey } from './import-key.js';
import { openJwe } from './open-jwe.js';
import { sealJwe } from './seal-jwe.js';

type Header = Record<string, unknown>;

const PLAINTEXT = Buffer.from('{"authToken":"8c0f…"}');
const b64 = (octets: Uint8Array): string => Buffer.from(octets).toString('base64url');

let clientKey: ClientKey;
let publicJwk: Record<string, string>;
let jwe: string;

beforeAll(async () => {
  const generated = await generateClientKey();
  publicJwk = generated.publicJwk;
  clientKey = await importClientKey(generated.privateJwk);
  jwe = await sealJwe(PLAINTEXT, await importServerKey(publicJwk));
});

/** Replaces one of the five parts. */
function withPart(index: number, change: (part: string) => string): string {
  return jwe
    .split('.')
    .map((part, at) => (at === index ? change(part) : part))
    .join('.');
}
const withHeader = (change: (header: Header) => unknown): string =>
  withPart(0, (part) =>
    b64(Buffer.from(JSON.stringify(change(JSON.parse(Buffer.from(part, 'base64url').toString()) as Header)))),
  );
const withEpk = (change: (epk: Header) => unknown): string =>
  withHeader((header) => ({ ...header, epk: change(header['epk'] as Header) }));
const flipped = (part: string, at = 0): string => {
  const octets = Buffer.from(part, 'base64url');
  octets[at] = (octets[at] ?? 0) ^ 1;
  return b64(octets);
};

describe('opening a JWE', () => {
  it('tries every configured key, and says which one it was', async () => {
    const newer = await importClientKey((await generateClientKey()).privateJwk);
    await expect(openJwe(jwe, [newer, clientKey])).resolves.toMatchObject({ thumbprint: clientKey.thumbprint });
    await expect(openJwe(jwe, [newer])).rejects.toMatchObject({ code: 'jwe_not_opened' });
    await expect(openJwe(jwe, [])).rejects.toMatchObject({ code: 'jwe_not_opened' });
  });

  it('looks at nothing longer than the bound, to the byte', async () => {
    await expect(openJwe(jwe, [clientKey], { maxBytes: jwe.length })).resolves.toBeDefined();
    await expect(openJwe(jwe, [clientKey], { maxBytes: jwe.length - 1 })).rejects.toMatchObject({
      code: 'jwe_too_large',
    });
    await expect(openJwe('A'.repeat(65_537), [clientKey])).rejects.toMatchObject({ code: 'jwe_too_large' });
    await expect(openJwe('A'.repeat(65_536), [clientKey])).rejects.toMatchObject({ code: 'jwe_malformed' });
  });
});

const notOpened: readonly [string, () => string][] = [
  ['an epk off the curve', () => withEpk((epk) => ({ ...epk, x: epk['y'], y: epk['x'] }))],
  ['the epk of somebody else', () => withEpk((epk) => ({ ...epk, x: publicJwk['x'], y: publicJwk['y'] }))],
  ['a changed header', () => withHeader((header) => ({ ...header, kid: 'other' }))],
  ['a changed encrypted key', () => withPart(1, (part) => flipped(part))],
  ['a changed initialization vector', () => withPart(2, (part) => flipped(part, 11))],
  ['a changed ciphertext', () => withPart(3, (part) => flipped(part))],
  ['no ciphertext', () => withPart(3, () => '')],
  ['a changed tag', () => withPart(4, (part) => flipped(part, 15))],
];

describe('a JWE that does not open', () => {
  it.each(notOpened)('fails like every other: %s', async (_name, forge) => {
    const error: unknown = await openJwe(forge(), [clientKey]).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(BrokerError);
    expect(error).toMatchObject({ code: 'jwe_not_opened', cause: undefined });
    const { message } = (await openJwe(jwe, []).catch((caught: unknown) => caught)) as BrokerError;
    expect((error as BrokerError).message).toBe(message);
    expect(error).toHaveProperty('publicDetail', 'it is damaged, or sealed to another key');
  });
});
