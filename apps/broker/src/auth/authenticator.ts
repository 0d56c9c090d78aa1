import { hash, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { BrokerConfiguration } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { CONFIGURATION } from '../tokens.js';
import type { Caller } from './caller.js';

/** A credential longer than this is none of ours, and is not worth a hash. */
const LONGEST_TOKEN = 8_192;
const BEARER = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i;

interface KnownToken {
  readonly digest: Buffer;
  readonly caller: Caller;
}

/**
 * Tells who calls. Static bearer tokens (RFC 6750 section 2.1) are known by their SHA-256 only: the configuration
 * holds no credential, and a token is looked up by its digest, which an attacker cannot steer byte by byte.
 */
@Injectable()
export class Authenticator {
  readonly #disabled: boolean;
  readonly #tokens: ReadonlyMap<string, KnownToken>;

  constructor(@Inject(CONFIGURATION) configuration: BrokerConfiguration) {
    this.#disabled = configuration.auth.disabled;
    this.#tokens = new Map(
      configuration.auth.tokens.map(({ caller, sha256 }) => [
        sha256,
        { digest: Buffer.from(sha256, 'hex'), caller: { name: caller } },
      ]),
    );
  }

  /** @throws BrokerError `unauthenticated` */
  authenticate(authorization: string | undefined): Caller {
    if (this.#disabled) return { name: 'anonymous' };
    if (authorization === undefined) throw new BrokerError('unauthenticated', { detail: 'no Authorization header' });
    const token = authorization.length > LONGEST_TOKEN ? undefined : BEARER.exec(authorization)?.[1];
    if (token === undefined) throw new BrokerError('unauthenticated', { detail: 'not a bearer token' });
    const digest = hash('sha256', token, 'buffer');
    const known = this.#tokens.get(digest.toString('hex'));
    if (known === undefined || !timingSafeEqual(known.digest, digest)) {
      throw new BrokerError('unauthenticated', { detail: 'the bearer token is not known' });
    }
    return known.caller;
  }
}
