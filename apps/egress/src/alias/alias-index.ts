import { timingSafeEqual } from 'node:crypto';
import type { EgressClient } from '#libs/configuration';
import { digestOf } from '#libs/edge';
import type { AliasCredentials } from './alias-credentials.js';

interface Known {
  readonly refreshToken: Buffer;
  readonly client: EgressClient;
}

/**
 * Maps credentials to clients. It holds only digests: a secret is looked up by its digest, which an attacker cannot
 * steer byte by byte, and compared in constant time.
 */
export class AliasIndex {
  readonly #byDevice = new Map<string, Known>();
  readonly #nobody = Buffer.alloc(32);

  add({ deviceId, refreshToken }: AliasCredentials, client: EgressClient): void {
    this.#byDevice.set(digestOf(deviceId), { refreshToken: binaryDigest(refreshToken), client });
  }

  /** The client that both were issued to; undefined for anyone else. */
  find(deviceId: string, refreshToken: string): EgressClient | undefined {
    const known = this.#byDevice.get(digestOf(deviceId));
    // An unknown device is compared as well, so that the time taken does not reveal whether it exists.
    const isGiven = timingSafeEqual(binaryDigest(refreshToken), known?.refreshToken ?? this.#nobody);
    return isGiven ? known?.client : undefined;
  }
}

function binaryDigest(secret: string): Buffer {
  return Buffer.from(digestOf(secret), 'hex');
}
