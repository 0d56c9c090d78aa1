import { createHash } from 'node:crypto';

interface ConcatKdfInput {
  /** Z: the x coordinate from the key agreement, with its leading zero octets. */
  readonly sharedSecret: Uint8Array;
  /** AlgorithmID: the `alg` when the key wraps another one, the `enc` when it encrypts the content itself. */
  readonly algorithm: string;
  readonly partyU: Uint8Array;
  readonly partyV: Uint8Array;
  readonly keyBits: number;
}

/** Concat KDF with SHA-256 (NIST SP 800-56A, section 5.8.1) in the form that RFC 7518, section 4.6.2 prescribes. */
export function concatKdf(input: ConcatKdfInput): Buffer {
  const otherInfo = Buffer.concat([
    lengthPrefixed(Buffer.from(input.algorithm, 'ascii')),
    lengthPrefixed(input.partyU),
    lengthPrefixed(input.partyV),
    uint32(input.keyBits),
  ]);
  const rounds = Math.ceil(input.keyBits / 256);
  const blocks = Array.from({ length: rounds }, (_, index) =>
    createHash('sha256')
      .update(uint32(index + 1))
      .update(input.sharedSecret)
      .update(otherInfo)
      .digest(),
  );
  return Buffer.concat(blocks).subarray(0, input.keyBits / 8);
}

function lengthPrefixed(octets: Uint8Array): Buffer {
  return Buffer.concat([uint32(octets.length), octets]);
}

function uint32(value: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value);
  return octets;
}
