import { createECDH } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BrokerError } from '#libs/errors';
import {
  checkServerKey,
  generateClientKey,
  importClientKey,
  importPaymentKey,
  importServerKey,
  openJwe,
  thumbprintOf,
} from '#libs/jwe';
import type { PublicJwk } from '#libs/jwe';
import { describeWith } from '#libs/testing';
import { assembleJwe, profileSuite } from './assembled-jwe.js';

type Jwk = Readonly<Record<string, string>>;

interface Vector {
  readonly tcId: number;
  readonly comment: string;
  readonly result: 'valid' | 'invalid' | 'acceptable';
}
interface EcdhTest {
  readonly public: Jwk;
  readonly private: Jwk;
  readonly shared: string;
}
interface TokenTest {
  readonly jwe?: string;
  readonly jws?: string;
}
interface Rfc7520Example {
  readonly input: { readonly plaintext: string; readonly key: Jwk };
  readonly generated: { readonly cek: string; readonly iv: string };
  readonly encrypting_key: { readonly epk: Jwk };
  readonly encrypting_content: { readonly protected: Readonly<Record<string, unknown>> };
  readonly output: { readonly compact: string };
}
type Outcome = 'done' | BrokerError['code'];

const PLAINTEXT = Buffer.from('an opaque payload');
const hex = (text: string): Buffer => Buffer.from(text, 'hex');

/** Third-party vectors are next to the repository, not in it. */
const read = (file: string): unknown =>
  JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', '..', 'shared', 'vectors', file), 'utf8'));

/** The vectors of a Wycheproof file; each one that the file announces must be there. */
function wycheproof<Test>(file: string): readonly (Vector & Test)[] {
  const { numberOfTests, testGroups } = read(join('wycheproof', file)) as {
    readonly numberOfTests: number;
    readonly testGroups: readonly { readonly tests: readonly (Vector & Test)[] }[];
  };
  const tests = testGroups.flatMap((group) => group.tests);
  expect([file, tests.length]).toEqual([file, numberOfTests]);
  return tests;
}

/** How an attempt ended; anything that is not one of our errors is a failure of the test. */
async function outcomeOf(attempt: Promise<unknown>): Promise<Outcome> {
  try {
    await attempt;
    return 'done';
  } catch (error) {
    if (error instanceof BrokerError) return error.code;
    throw error;
  }
}

/** The vectors with the wrong outcome, by number: an empty list is the proof. */
async function deviations<Test extends Vector>(
  tests: readonly Test[],
  judge: (test: Test) => Promise<boolean>,
): Promise<string[]> {
  const found: string[] = [];
  for (const test of tests) if (!(await judge(test))) found.push(`${test.tcId} ${test.comment}`);
  return found;
}

describeWith('vectors', 'Wycheproof: ECDH on P-384', () => {
  const tests = wycheproof<EcdhTest>('ecdh_secp384r1_webcrypto_test.json');
  const valid = tests.filter(({ result }) => result === 'valid');
  const invalid = tests.filter(({ result }) => result === 'invalid');

  /** A JWE of the profile whose epk is the vector's public key and whose shared secret is the vector's. */
  function sealed({ public: { kty, crv, x, y }, shared }: EcdhTest): string {
    return assembleJwe({
      suite: profileSuite,
      protectedHeader: { alg: profileSuite.alg, enc: profileSuite.enc, epk: { kty, crv, x, y } },
      sharedSecret: shared === '' ? Buffer.alloc(48) : hex(shared),
      contentKey: Buffer.alloc(32, 7),
      iv: Buffer.alloc(12, 9),
      plaintext: PLAINTEXT,
    });
  }

  it('has vectors of both kinds', () => {
    expect([valid.length, invalid.length]).toEqual([771, 23]);
  });

  it('a JWE whose epk is a valid point opens with the vector’s secret and private key', async () => {
    const opens = async (test: EcdhTest): Promise<boolean> => {
      const { plaintext } = await openJwe(sealed(test), [await importClientKey(test.private)]);
      return PLAINTEXT.equals(plaintext);
    };
    expect(await deviations(valid, opens)).toEqual([]);
  });

  it('a JWE whose epk is invalid is refused', async () => {
    const refused = async (test: EcdhTest): Promise<boolean> => {
      const outcome = await outcomeOf(openJwe(sealed(test), [await importClientKey(test.private)]));
      return outcome === (test.public['crv'] === 'P-384' ? 'jwe_not_opened' : 'jwe_malformed');
    };
    expect(await deviations(invalid, refused)).toEqual([]);
  });

  it('a valid public key is imported as serverPublic and as payment key, an invalid one is refused', async () => {
    const asItShould = async (test: EcdhTest & Vector): Promise<boolean> => {
      const due: Outcome = test.result === 'valid' ? 'done' : 'jwk_invalid';
      const check = async (key: unknown): Promise<unknown> => Promise.resolve(checkServerKey(key));
      const outcomes = [importServerKey, importPaymentKey, check].map((judge) => outcomeOf(judge(test.public)));
      return (await Promise.all(outcomes)).every((outcome) => outcome === due);
    };
    expect(await deviations(tests, asItShould)).toEqual([]);
  });
});

// None of these has P-384 with ECDH-ES+A256KW and A256GCM, so all of them, even the valid ones, must be refused.
describeWith('vectors', 'Wycheproof: JWE of other profiles', () => {
  it('every token is refused before any cryptography', async () => {
    const clientKey = await importClientKey((await generateClientKey()).privateJwk);
    const files = ['json_web_encryption_test.json', 'json_web_crypto_test.json', 'json_web_key_test.json'];
    const refused = async ({ jwe, jws }: TokenTest): Promise<boolean> =>
      /^jwe_(?:malformed|algorithm_refused)$/.test(await outcomeOf(openJwe(jwe ?? jws ?? '', [clientKey])));
    const tests = files.flatMap((file) => wycheproof<TokenTest>(file));
    expect(tests.length).toBeGreaterThan(0);
    expect(await deviations(tests, refused)).toEqual([]);
  });
});

describeWith('vectors', 'RFC 7520 section 5.4', () => {
  /** P-384 with ECDH-ES+A128KW and A128GCM, with every intermediate value. */
  const example = read('rfc7520-5.4.json') as Rfc7520Example;

  it('its key is imported, with the thumbprint that another implementation computed', async () => {
    const key = await importClientKey(example.input.key);
    expect(key.thumbprint).toBe('YlKlB7M2wnS0cPn_V7OW-FuDLuWdJ9z4OvPHmhGDfeE');
    expect(thumbprintOf(example.input.key as unknown as PublicJwk)).toBe(key.thumbprint);
  });

  it('is what the assembly of these tests produces from its parts, to the last character', () => {
    expect(assembleJwe(example128())).toBe(example.output.compact);
  });

  it('opens once its parts are assembled with the algorithms of the profile', async () => {
    const { protectedHeader, ...parts } = example128();
    const { alg, enc } = profileSuite;
    const jwe = assembleJwe({
      ...parts,
      contentKey: Buffer.concat([parts.contentKey, parts.contentKey]),
      suite: profileSuite,
      protectedHeader: { ...protectedHeader, alg, enc },
    });
    const { plaintext } = await openJwe(jwe, [await importClientKey(example.input.key)]);
    expect(Buffer.from(plaintext).toString()).toBe(example.input.plaintext);
  });

  function example128(): Parameters<typeof assembleJwe>[0] {
    const { input, generated, encrypting_key: ephemeral, encrypting_content: content } = example;
    const octets = (text = ''): Buffer => Buffer.from(text, 'base64url');
    const pair = createECDH('secp384r1');
    pair.setPrivateKey(octets(ephemeral.epk['d']));
    return {
      suite: { alg: 'ECDH-ES+A128KW', enc: 'A128GCM', bits: 128 },
      protectedHeader: content.protected,
      sharedSecret: pair.computeSecret(Buffer.concat([Buffer.of(4), octets(input.key['x']), octets(input.key['y'])])),
      contentKey: octets(generated.cek),
      iv: octets(generated.iv),
      plaintext: Buffer.from(input.plaintext),
    };
  }
});
