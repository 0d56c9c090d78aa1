import { BrokerError } from '#libs/errors';
import { openAtRest, sealAtRest } from './at-rest.js';
import { clientHandlesOf, type ClientKey } from './client-key.js';
import { clientKeyInCustody } from './client-key-in-custody.js';
import type { ClientKeys } from './client-keys.js';
import { generateClientKey } from './generate-client-key.js';
import { importClientKey, importServerKey } from './import-key.js';
import { keyedDigest } from './keyed-digest.js';
import { openJwe } from './open-jwe.js';
import type { PublicJwk } from './public-jwk.js';
import { sealJwe } from './seal-jwe.js';

const away = new BrokerError('client_key_unavailable', { detail: 'token_absent' });
const BINDING = { merchant: 'shop', generation: 7 };
const RECORD = Buffer.from('a session');

/** Holds the private key, and records what it is asked. */
class NotedKeys implements ClientKeys {
  readonly peers: PublicJwk[] = [];
  isAway = false;
  readonly #keys: ClientKeys;

  constructor(keys: ClientKeys) {
    this.#keys = keys;
  }

  async deriveSharedSecret(peer: PublicJwk): Promise<Uint8Array> {
    this.peers.push(peer);
    if (this.isAway) throw away;
    return this.#keys.deriveSharedSecret(peer);
  }
}

interface Kept {
  readonly privateJwk: Record<string, string>;
  readonly publicJwk: PublicJwk;
  readonly noted: NotedKeys;
  readonly key: ClientKey;
}

async function kept(): Promise<Kept> {
  const { privateJwk } = await generateClientKey();
  const here = await importClientKey(privateJwk);
  const { publicJwk } = here;
  const noted = new NotedKeys(clientHandlesOf(here).custody);
  return { privateJwk, publicJwk, noted, key: await clientKeyInCustody(publicJwk, noted) };
}

const sealedTo = async (publicJwk: PublicJwk): Promise<string> => sealJwe(RECORD, await importServerKey(publicJwk));

describe('a key that is kept elsewhere', () => {
  it('opens what is sealed to its public half, by one question for an agreement', async () => {
    const { key, noted, publicJwk } = await kept();
    noted.peers.length = 0;
    const jwe = await sealedTo(publicJwk);
    const { plaintext, thumbprint } = await openJwe(jwe, [key]);
    expect([Buffer.from(plaintext).toString(), thumbprint]).toEqual(['a session', key.thumbprint]);
    expect(noted.peers).toHaveLength(1);
  });

  it('is not asked when a key of this process opens it', async () => {
    const { key, noted } = await kept();
    const here = await importClientKey((await generateClientKey()).privateJwk);
    noted.peers.length = 0;
    expect((await openJwe(await sealedTo(here.publicJwk), [key, here])).thumbprint).toBe(here.thumbprint);
    expect(noted.peers).toEqual([]);
  });

  it('is asked for no point that is not on the curve', async () => {
    const { key, noted, publicJwk } = await kept();
    noted.peers.length = 0;
    const [header = '', ...rest] = (await sealedTo(publicJwk)).split('.');
    const told = JSON.parse(Buffer.from(header, 'base64url').toString()) as { epk: PublicJwk };
    const off = { ...told, epk: { ...told.epk, x: told.epk.y, y: told.epk.x } };
    const jwe = [Buffer.from(JSON.stringify(off)).toString('base64url'), ...rest].join('.');
    await expect(openJwe(jwe, [key])).rejects.toMatchObject({ code: 'jwe_not_opened' });
    expect(noted.peers).toEqual([]);
  });

  it('that cannot be asked is a failure with a name, and not a JWE that does not open', async () => {
    const { key, noted, publicJwk } = await kept();
    const jwe = await sealedTo(publicJwk);
    noted.isAway = true;
    await expect(openJwe(jwe, [key])).rejects.toBe(away);
    await expect(key.assertUsable()).rejects.toBe(away);
  });

  it('is refused when its private half is another one, or has no secret to give', async () => {
    const [one, other] = [await kept(), await kept()];
    const refusal = { code: 'jwk_invalid' };
    await expect(clientKeyInCustody(one.publicJwk, other.noted)).rejects.toMatchObject(refusal);
    const silent = { deriveSharedSecret: () => Promise.resolve(new Uint8Array(0)) };
    await expect(clientKeyInCustody(one.publicJwk, silent)).rejects.toMatchObject(refusal);
  });
});

describe('records at rest of a key that is kept elsewhere', () => {
  it('are sealed and opened without a question, by one agreement that was made at the start', async () => {
    const { key, noted } = await kept();
    noted.isAway = true;
    const sealed = await sealAtRest(RECORD, key, BINDING);
    expect(await openAtRest(sealed, [key], BINDING)).toEqual(new Uint8Array(RECORD));
    expect(await keyedDigest(key, 'anything', ['part'])).toHaveLength(43);
  });

  it('rest on a point of the curve that is hashed from the public half, another one for each key, the same on every replica', async () => {
    const [one, other] = [await kept(), await kept()];
    const [point, elsewhere] = [one.noted.peers[1], other.noted.peers[1]];
    expect(point).not.toEqual(elsewhere);
    await expect(importServerKey(point ?? {})).resolves.toBeDefined();
    const sealed = await sealAtRest(RECORD, one.key, BINDING);
    const replica = await clientKeyInCustody(one.publicJwk, one.noted);
    expect(one.noted.peers[3]).toEqual(point);
    expect(await openAtRest(sealed, [replica], BINDING)).toEqual(new Uint8Array(RECORD));
  });
});

describe('a key that moves from its file into a token', () => {
  it('leaves no record behind: those of the file are opened by the file that stays beside the token', async () => {
    const { key, privateJwk } = await kept();
    const file = await importClientKey(privateJwk);
    const before = await sealAtRest(RECORD, file, BINDING);
    expect(await openAtRest(before, [key, file], BINDING)).toEqual(new Uint8Array(RECORD));
    expect(await openAtRest(before, [key], BINDING)).toBeUndefined();
  });

  it('shuts no replica out that has the file alone: it opens what one with the token has sealed', async () => {
    const { key, privateJwk } = await kept();
    const file = await importClientKey(privateJwk);
    const after = await sealAtRest(RECORD, key, BINDING);
    expect(await openAtRest(after, [file], BINDING)).toEqual(new Uint8Array(RECORD));
    expect(await openAtRest(after, [file], { ...BINDING, generation: 8 })).toBeUndefined();
  });
});
