import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { BrokerError } from '#libs/errors';
import { type ClientKey, generateClientKey, importClientKey, importPaymentKey, openJwe, sealJwe } from '#libs/jwe';
import { anyOf, damaged } from '../damaged.js';
import { demand, pureTarget } from '../fuzz-target.js';

const MAX_BYTES = 8_192;
const PLAINTEXTS = ['{"authToken":"5ec2e700-0000-4000-8000-000000000000"}', '', 'x'.repeat(1_000)];
const CODES: ReadonlySet<string> = new Set([
  'jwe_too_large',
  'jwe_malformed',
  'jwe_algorithm_refused',
  'jwe_not_opened',
]);

/** Members that change what is run or trusted, each with the values to try. */
const HEADER_CHANGES: readonly (readonly [name: string, values: readonly unknown[]])[] = [
  ['alg', ['ECDH-ES+A128KW', 'ECDH-ES', 'dir', 'none', 'PBES2-HS256+A128KW', ['ECDH-ES+A256KW'], null]],
  ['enc', ['A128GCM', 'A256CBC-HS512', null]],
  ['zip', ['DEF', '']],
  ['crit', [['exp'], []]],
  ['epk', [{ kty: 'EC', crv: 'P-384' }, { kty: 'oct', k: 'AA' }, null, []]],
  ['apu', ['QWxpY2U', '%%%', 7]],
  ['apv', ['Qm9i', { a: 1 }]],
  ['jku', ['https://attacker.test/keys']],
  ['p2c', [1e9]],
  ['kid', ['x'.repeat(1_500)]],
];

const change = fc
  .constantFrom(...HEADER_CHANGES)
  .chain(([name, values]) => fc.tuple(fc.constant(name), anyOf(...values)));
const b64 = (text: string): string => Buffer.from(text).toString('base64url');

/** A genuine one with parts of others, with damaged parts, or with another header. */
function forged(genuine: readonly string[]): fc.Arbitrary<string> {
  const parts = genuine.map((jwe) => jwe.split('.'));
  const one = fc.constantFrom(...parts);
  const mixed = fc
    .tuple(...[0, 1, 2, 3, 4].map((at) => one.map((of) => of[at] ?? '')))
    .map((chosen) => chosen.join('.'));
  const reheaded = fc
    .tuple(one, fc.array(change, { minLength: 1, maxLength: 2 }))
    .map(([[head = '', ...rest], list]) => {
      const header = JSON.parse(Buffer.from(head, 'base64url').toString()) as object;
      return [b64(JSON.stringify({ ...header, ...Object.fromEntries(list) })), ...rest].join('.');
    });
  // Damage to the octets under the encoding: lengths, points off the curve, truncated tags.
  const below = fc
    .tuple(one, fc.nat({ max: 4 }))
    .chain(([of, at]) =>
      damaged(fc.constant(Buffer.from(of[at] ?? '', 'base64url'))).map((octets) =>
        of.map((part, index) => (index === at ? octets.toString('base64url') : part)).join('.'),
      ),
    );
  const spoiled = damaged(fc.constantFrom(...genuine)).map((octets) => octets.toString('latin1'));
  return fc.oneof(mixed, reheaded, below, spoiled);
}

interface Sealed {
  readonly keys: readonly ClientKey[];
  readonly plaintextOf: ReadonlyMap<string, string>;
}

async function sealedOnes(): Promise<Sealed> {
  const [newer, older] = [await generateClientKey(), await generateClientKey()];
  const plaintextOf = new Map<string, string>();
  for (const { publicJwk } of [newer, older])
    for (const plaintext of PLAINTEXTS)
      plaintextOf.set(await sealJwe(Buffer.from(plaintext), await importPaymentKey(publicJwk)), plaintext);
  const keys = await Promise.all([newer, older].map(({ privateJwk }) => importClientKey(privateJwk)));
  return { keys, plaintextOf };
}

/** What anyone can send to be opened. */
export const jwes = pureTarget({ name: 'jwe', runsPerRound: 300 }, async () => {
  const { keys, plaintextOf } = await sealedOnes();
  return fc.asyncProperty(forged([...plaintextOf.keys()]), async (jwe) => {
    const plaintext = plaintextOf.get(jwe);
    try {
      const opened = await openJwe(jwe, keys, { maxBytes: MAX_BYTES });
      demand(plaintext !== undefined, 'a JWE that was altered does not open');
      demand(isDeepStrictEqual(Buffer.from(opened.plaintext).toString(), plaintext), 'it opens to what was sealed');
    } catch (error) {
      if (!(error instanceof BrokerError) || !CODES.has(error.code)) throw error;
      demand(plaintext === undefined, 'a JWE that is whole opens');
    }
  });
});
