import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import type { Logger } from '#libs/telemetry';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { CLOCK, LOGGER } from '../platform/tokens.js';
import { AuthenticationFailures } from './authentication-failures.js';
import { bearerTokenOf, digestOf } from '#libs/edge';
import type { Caller } from './caller.js';
import { CredentialRefused } from './credential-refused.js';
import { type Credentials, credentialsOf } from './credentials.js';

const ANYBODY: Caller = { name: 'anonymous' };

type Presented = Pick<IncomingMessage, 'headers' | 'socket'>;

/**
 * Tells who calls: by a static token, a JSON Web Token or a client certificate. A token that is presented is what
 * counts: when it is refused, a good certificate does not help.
 */
@Injectable()
export class Authenticator {
  readonly #credentials: () => Credentials;
  readonly #failures: AuthenticationFailures;

  constructor(
    @Inject(ConfigurationInForce) configuration: ConfigurationInForce,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) logger: Logger,
    @Inject(AuthenticationFailures) failures: AuthenticationFailures,
  ) {
    this.#credentials = configuration.derive((next, before) => credentialsOf(next, { clock, logger }, before));
    this.#failures = failures;
  }

  /** Callers that are recognised without work that takes time: a read costs no signature check. */
  known({ headers: { authorization }, socket }: Presented): Caller | undefined {
    const { disabled, tokens, jwt, certificates } = this.#credentials();
    if (disabled) return ANYBODY;
    if (authorization === undefined) return certificates?.find(socket);
    const token = bearerTokenOf(authorization);
    if (token === undefined) return undefined;
    const digest = digestOf(token);
    return tokens.find(digest) ?? jwt?.verified.find(digest);
  }

  /** @throws CredentialRefused; BrokerError `authentication_unavailable` when nobody can tell at the moment */
  async authenticate(presented: Presented): Promise<Caller> {
    const known = this.known(presented);
    if (known !== undefined) return known;
    try {
      return await this.#check(presented);
    } catch (error) {
      if (error instanceof CredentialRefused) this.#failures.count(error.refusal);
      else if (error instanceof BrokerError) this.#failures.count('unavailable');
      throw error;
    }
  }

  async #check({ headers: { authorization }, socket }: Presented): Promise<Caller> {
    const { jwt, certificates } = this.#credentials();
    if (authorization === undefined) {
      throw new CredentialRefused(certificates?.isPresented(socket) === true ? 'certificate' : 'missing');
    }
    const token = bearerTokenOf(authorization);
    if (token === undefined) throw new CredentialRefused('malformed');
    if (jwt === undefined || !looksLikeJwt(token)) throw new CredentialRefused('unknown_token');
    const caller = await jwt.verifier.verify(token);
    // Remembered with the verifier that let it in: a configuration that has come into force meanwhile knows nothing of
    // it.
    jwt.verified.remember(digestOf(token), caller);
    return caller;
  }
}

/** Three parts (RFC 7515 section 7.1). */
function looksLikeJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
}
