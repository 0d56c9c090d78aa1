import { randomInt } from 'node:crypto';
import { describeWith } from '#libs/testing';
import { type ClientKey, generateClientKey, importClientKey, importServerKey, openJwe, sealJwe } from '#libs/jwe';
import { payloadsFrom } from './payloads.js';
import { joseCommand as peer } from './jose-command.js';

/** Another run uses other payloads; the seed in the title repeats this one. */
const seed = randomInt(2 ** 31);
const RANDOM_PAYLOADS = 200;
const payloads = payloadsFrom(seed, RANDOM_PAYLOADS);

describeWith('jose', `the jose command as a peer, seed ${seed}`, () => {
  let publicJwk: Record<string, string>;
  let privateJwk: Record<string, string>;
  let clientKey: ClientKey;

  beforeAll(async () => {
    ({ privateJwk, publicJwk } = await generateClientKey());
    clientKey = await importClientKey(privateJwk);
  });

  it('opens what we seal', async () => {
    const recipient = await importServerKey(publicJwk);
    const jwes = await Promise.all(payloads.map((payload) => sealJwe(payload, recipient)));
    expectSame(await peer.open(jwes, privateJwk), payloads);
  });

  it('seals what we open', async () => {
    const jwes = await peer.seal(payloads, publicJwk);
    const opened = await Promise.all(jwes.map((jwe) => openJwe(jwe, [clientKey])));
    expectSame(
      opened.map(({ plaintext }) => Buffer.from(plaintext)),
      payloads,
    );
  });

  it('generates a key that we import, and the reverse, with the same thumbprint on both sides', async () => {
    const key = await importClientKey(await peer.generateKey());
    expect(await peer.thumbprint({ ...key.publicJwk })).toBe(key.thumbprint);
    expect(await peer.thumbprint(publicJwk)).toBe(clientKey.thumbprint);
  });

  it('does not open what we sealed to somebody else', async () => {
    const stranger = await importServerKey((await generateClientKey()).publicJwk);
    await expect(peer.open([await sealJwe(Buffer.from('secret'), stranger)], privateJwk)).rejects.toThrow(/ended with/);
  });
});

function expectSame(actual: readonly Buffer[], expected: readonly Buffer[]): void {
  expect(actual).toHaveLength(expected.length);
  const different = expected.findIndex((payload, index) => actual[index]?.equals(payload) !== true);
  // The index and length, not the bytes: 32 KiB of difference would be of no help.
  expect({ different, length: expected[different]?.length }).toEqual({ different: -1, length: undefined });
}
