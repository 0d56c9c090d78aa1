import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '#libs/clock';
import type { BrokerConfiguration } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import type { Logger } from '#libs/telemetry';
import { CLOCK, CONFIGURATION, LOGGER } from '../tokens.js';
import { AuthenticationFailures } from './authentication-failures.js';
import { bearerTokenOf, digestOf } from './bearer-token.js';
import type { Caller } from './caller.js';
import { CertificateCallers } from './certificate-callers.js';
import { CredentialRefused } from './credential-refused.js';
import { fetchKeySet } from './fetch-key-set.js';
import { JwtVerifier } from './jwt-verifier.js';
import { FixedKeySet, RemoteKeySet } from './key-set.js';
import { StaticTokens } from './static-tokens.js';
import { VerifiedTokens } from './verified-tokens.js';

const ANYBODY: Caller = { name: 'anonymous' };

type Presented = Pick<IncomingMessage, 'headers' | 'socket'>;

/**
 * Tells who calls: by a static token, a JSON Web Token or a client certificate. A token that is presented is what
 * counts, and when it is refused, a good certificate does not mend that.
 */
@Injectable()
export class Authenticator {
  readonly #disabled: boolean;
  readonly #tokens: StaticTokens;
  readonly #verified: VerifiedTokens;
  readonly #jwt: JwtVerifier | undefined;
  readonly #certificates: CertificateCallers | undefined;
  readonly #failures: AuthenticationFailures;

  constructor(
    @Inject(CONFIGURATION) { auth }: Pick<BrokerConfiguration, 'auth'>,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) logger: Logger,
    @Inject(AuthenticationFailures) failures: AuthenticationFailures,
  ) {
    this.#disabled = auth.disabled;
    this.#tokens = new StaticTokens(auth.tokens);
    this.#verified = new VerifiedTokens(clock);
    this.#certificates = auth.mtls ? new CertificateCallers(clock) : undefined;
    this.#failures = failures;
    if (auth.jwt === undefined) return;
    const { keys } = auth.jwt;
    const keySet =
      keys.kind === 'set'
        ? new FixedKeySet(keys.set)
        : new RemoteKeySet({
            clock,
            logger,
            load: () => fetchKeySet(keys, clock),
            onChange: () => this.#verified.forgetAll(),
          });
    this.#jwt = new JwtVerifier(auth.jwt, keySet, clock);
  }

  /** Who is known without any work that takes time: a read costs no signature check. */
  known({ headers: { authorization }, socket }: Presented): Caller | undefined {
    if (this.#disabled) return ANYBODY;
    if (authorization === undefined) return this.#certificates?.find(socket);
    const token = bearerTokenOf(authorization);
    if (token === undefined) return undefined;
    const digest = digestOf(token);
    return this.#tokens.find(digest) ?? this.#verified.find(digest);
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
    if (authorization === undefined) {
      throw new CredentialRefused(this.#certificates?.isPresented(socket) === true ? 'certificate' : 'missing');
    }
    const token = bearerTokenOf(authorization);
    if (token === undefined) throw new CredentialRefused('malformed');
    if (this.#jwt === undefined || !looksLikeJwt(token)) throw new CredentialRefused('unknown_token');
    const caller = await this.#jwt.verify(token);
    this.#verified.remember(digestOf(token), caller);
    return caller;
  }
}

/** Three parts (RFC 7515 section 7.1). */
function looksLikeJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
}
