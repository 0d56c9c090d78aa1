import { inspect } from 'node:util';
import { BrokerError } from '#libs/errors';
import { sealAtRest } from './at-rest.js';
import { generateClientKey } from './generate-client-key.js';
import { importClientKey, importServerKey } from './import-key.js';
import { openJwe } from './open-jwe.js';
import { sealJwe } from './seal-jwe.js';

const CANARY = 'canary-4111111111111111-authToken';

/** Everything that a logger, a crash message or a response could take from a value. */
function everythingIn(value: unknown): string {
  const error = value as Error;
  const shown = inspect(value, { depth: 12, showHidden: true, getters: true, maxStringLength: null });
  return [shown, JSON.stringify(value), String(value), error.message, error.stack, inspect(error.cause)].join('\n');
}

describe('secrets', () => {
  it('are in no error that a key or a JWE can cause', async () => {
    const { privateJwk, publicJwk } = await generateClientKey();
    const key = await importClientKey(privateJwk);
    const jwe = await sealJwe(Buffer.from(CANARY), await importServerKey(publicJwk));
    const [header = '', wrapped = '', iv = '', ciphertext = '', tag = ''] = jwe.split('.');
    const other = await importClientKey((await generateClientKey()).privateJwk);
    const withHeader = (text: string): string =>
      [Buffer.from(text).toString('base64url'), wrapped, iv, ciphertext, tag].join('.');

    const attempts: readonly (() => Promise<unknown>)[] = [
      () => openJwe(jwe, [other]),
      () => openJwe(CANARY, [key]),
      () => openJwe(jwe, [key], { maxBytes: 8 }),
      () => openJwe([header, wrapped, iv, ciphertext, 'A'.repeat(22)].join('.'), [key]),
      () => openJwe(withHeader(`{"alg":"${CANARY}"}`), [key]),
      () => openJwe(withHeader(`{"${CANARY}":`), [key]),
      () => openJwe(withHeader(`{"alg":"ECDH-ES+A256KW","enc":"A256GCM","crit":["${CANARY}"]}`), [key]),
      () => sealJwe(Buffer.from(CANARY), other as never, { maxBytes: 1 }),
      () => sealAtRest(Buffer.alloc(40_000, CANARY), key, { merchant: 'shop', generation: 1 }),
      () => importServerKey(privateJwk),
      () => importClientKey(JSON.stringify(privateJwk)),
      ...Object.keys(privateJwk).flatMap((name) => [
        () => importClientKey({ ...privateJwk, [name]: CANARY }),
        () => importClientKey({ ...privateJwk, [name]: undefined, [CANARY]: CANARY, use: 'sig' }),
      ]),
      () => importClientKey({ ...privateJwk, x: privateJwk['y'] }),
      () => importServerKey({ ...publicJwk, x: publicJwk['y'] }),
    ];

    for (const attempt of attempts) {
      const error: unknown = await attempt().then(
        () => undefined,
        (caught: unknown) => caught,
      );
      expect(error).toBeInstanceOf(BrokerError);
      const shown = everythingIn(error);
      for (const secret of [CANARY, privateJwk['d'] ?? '', ciphertext, wrapped, tag, header]) {
        expect(shown).not.toContain(secret);
      }
    }
  });
});
