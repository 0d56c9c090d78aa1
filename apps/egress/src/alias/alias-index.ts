import { timingSafeEqual } from 'node:crypto';
import type { EgressClient } from '#libs/configuration';
import { digestOf } from '#libs/edge';
import type { AliasCredentials } from './alias-credentials.js';

interface Known {
  readonly refreshToken: Buffer;
  readonly client: EgressClient;
}

/**
 * Whose credentials are whose. It holds digests only: a secret is looked up by its digest, which an attacker cannot steer
 * byte by byte, and compared in constant time.
 */
export class AliasIndex {
  readonly #byDevice = new Map<string, Known>();
  readonly #nobody = Buffer.alloc(32);

  add({ deviceId, refreshToken }: AliasCredentials, client: EgressClient): void {
    this.#byDevice.set(digestOf(deviceId), { refreshToken: binaryDigest(refreshToken), client });
  }

  /** The client to whom both were given; undefined for everybody else. */
  find(deviceId: string, refreshToken: string): EgressClient | undefined {
    const known = this.#byDevice.get(digestOf(deviceId));
    // A device that nobody has is compared as well, so that how long it takes does not tell it from one that exists.
    const isGiven = timingSafeEqual(binaryDigest(refreshToken), known?.refreshToken ?? this.#nobody);
    return isGiven ? known?.client : undefined;
  }
}

function binaryDigest(secret: string): Buffer {
  return Buffer.from(digestOf(secret), 'hex');
}
