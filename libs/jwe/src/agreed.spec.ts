import { readCompactJwe } from './compact-jwe.js';
import { openAgreed } from './open-agreed.js';
import { sealAgreed } from './seal-agreed.js';

const COORDINATE = Buffer.alloc(48, 1).toString('base64url');
const epk = { kty: 'EC', crv: 'P-384', x: COORDINATE, y: COORDINATE } as const;
const secretOf = (octet: number): Uint8Array => new Uint8Array(48).fill(octet);
const erased = new Uint8Array(48);

describe('the secret of an agreement', () => {
  it('is all that opens what was sealed under it', () => {
    const jwe = readCompactJwe(sealAgreed(Buffer.from('payload'), { epk, secret: secretOf(7) }), 1_000);
    expect(openAgreed(jwe, secretOf(7))).toEqual(new Uint8Array(Buffer.from('payload')));
    expect(openAgreed(jwe, secretOf(8))).toBeUndefined();
  });

  it('is erased by the seal, and by an opening whether it opens or not', () => {
    const [sealing, opening, other] = [secretOf(7), secretOf(7), secretOf(8)];
    const jwe = readCompactJwe(sealAgreed(Buffer.from('payload'), { epk, secret: sealing }), 1_000);
    openAgreed(jwe, opening);
    openAgreed(jwe, other);
    expect([sealing, opening, other]).toEqual([erased, erased, erased]);
  });
});
