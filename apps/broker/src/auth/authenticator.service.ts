import type { IncomingMessage } from 'node:http';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Clock } from '#libs/clock';
import { isSame, type JwtConfiguration } from '#libs/configuration';
import { bearerTokenOf, CertificateCallers, digestOf } from '#libs/edge';
import { BrokerError } from '#libs/errors';
import type { Logger } from '#libs/telemetry';
import { type Before, ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { CLOCK, LOGGER } from '../platform/platform.js';
import { type Caller, CredentialRefused, type Refusal, REFUSALS } from './caller.js';
import { JwtVerifier, VerifiedTokens } from './jwt-verifier.js';
import { fetchKeySet, FixedKeySet, type KeySet, RemoteKeySet, type RemoteKeySetParts } from './key-set.js';

const ANYBODY: Caller = { name: 'anonymous' };

type Presented = Pick<IncomingMessage, 'headers' | 'socket'>;

/**
 * Identifies the caller by a static token, a JSON Web Token or a client certificate. If a token is presented, it alone
 * counts: when it is refused, a valid certificate does not help.
 */
@Injectable()
export class Authenticator implements OnModuleDestroy {
  /** By the SHA-256 of the token, which nobody who tries tokens out can steer: no time of a look-up tells anything. */
  readonly #tokens: () => ReadonlyMap<string, Caller>;
  readonly #jwt: () => JwtCredentials | undefined;
  readonly #certificates: () => CertificateCallers | undefined;
  /** Failed authentications by reason, from zero, for a scrape. */
  readonly failures = new Map<Refusal | 'unavailable', number>(
    [...REFUSALS, 'unavailable' as const].map((reason) => [reason, 0]),
  );
  readonly #onKeysChanged: (() => void)[] = [];
  #fetchesAhead = false;

  constructor(
    @Inject(ConfigurationInForce) private readonly configuration: ConfigurationInForce,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.#tokens = configuration.derive(
      ({ auth }) => new Map(auth.tokens.map(({ caller, sha256 }) => [sha256, { name: caller }])),
    );
    this.#certificates = configuration.derive<CertificateCallers | undefined>(({ auth, http: { tls } }, before) => {
      if (!auth.mtls) return undefined;
      const kept = before?.configuration.http.tls?.clientCa === tls?.clientCa ? before?.made : undefined;
      return kept ?? new CertificateCallers(clock, tls?.clientCa);
    });
    const onChange = (): void => this.#onKeysChanged.forEach((listener) => listener());
    const tools = { clock, logger, onChange };
    this.#jwt = configuration.derive<JwtCredentials | undefined>(
      ({ auth }, before) => auth.jwt && jwtCredentials(auth.jwt, tools, before),
      (before, after) => {
        if (before !== after) before?.keys.close?.();
        if (this.#fetchesAhead) after?.keys.fetchAhead?.();
      },
    );
  }

  /** Calls the listener whenever an issuer's keys have changed: a caller that was known may no longer be. */
  onKeysChanged(listener: () => void): void {
    this.#onKeysChanged.push(listener);
  }

  /**
   * Fetches the issuer's keys before anyone calls, so that a failure to get them is in the log before a caller is
   * refused because of it. From then on, the keys of a changed configuration are fetched as soon as it is in force.
   */
  fetchKeysAhead(): void {
    this.#fetchesAhead = true;
    this.#jwt()?.keys.fetchAhead?.();
  }

  onModuleDestroy(): void {
    this.#jwt()?.keys.close?.();
  }

  /** Callers that can be recognised without slow work: a read costs no signature check. */
  known({ headers: { authorization }, socket }: Presented): Caller | undefined {
    if (this.configuration.current.auth.disabled) return ANYBODY;
    const certificates = this.#certificates();
    if (authorization === undefined) {
      const shown = certificates?.find(socket);
      return shown?.name === undefined ? undefined : { ...shown, name: shown.name };
    }
    const token = bearerTokenOf(authorization);
    if (token === undefined) return undefined;
    const digest = digestOf(token);
    const caller = this.#tokens().get(digest) ?? this.#jwt()?.verified.find(digest);
    return caller === undefined || isBoundElsewhere(caller, certificates, socket) ? undefined : caller;
  }

  /** @throws CredentialRefused; BrokerError `authentication_unavailable` when it cannot be checked at the moment */
  async authenticate(presented: Presented): Promise<Caller> {
    const known = this.known(presented);
    if (known !== undefined) return known;
    try {
      return await this.#check(presented);
    } catch (error) {
      if (error instanceof CredentialRefused) this.#count(error.refusal);
      else if (error instanceof BrokerError) this.#count('unavailable');
      throw error;
    }
  }

  async #check({ headers: { authorization }, socket }: Presented): Promise<Caller> {
    const [jwt, certificates] = [this.#jwt(), this.#certificates()];
    if (authorization === undefined) {
      throw new CredentialRefused(certificates?.isPresented(socket) === true ? 'certificate' : 'missing');
    }
    const token = bearerTokenOf(authorization);
    if (token === undefined) throw new CredentialRefused('malformed');
    if (jwt === undefined || !looksLikeJwt(token)) throw new CredentialRefused('unknown_token');
    const verified = await jwt.verifier.verify(token);
    if (isBoundElsewhere(verified.caller, certificates, socket)) throw new CredentialRefused('binding');
    // Stored with the verifier that accepted it: if a configuration with different terms has come into force meanwhile,
    // it knows nothing of this token.
    jwt.verified.remember(digestOf(token), verified);
    return verified.caller;
  }

  #count(reason: Refusal | 'unavailable'): void {
    this.failures.set(reason, (this.failures.get(reason) ?? 0) + 1);
  }
}

/**
 * RFC 8705 section 3: someone who has stolen such a token does not have the certificate's key. If no client
 * certificates are requested, there is nothing to check the token against.
 */
function isBoundElsewhere(
  { certificate }: Caller,
  certificates: CertificateCallers | undefined,
  socket: Presented['socket'],
): boolean {
  return (
    certificate !== undefined && certificates !== undefined && certificates.find(socket)?.certificate !== certificate
  );
}

/** Three parts (RFC 7515 section 7.1). */
function looksLikeJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
}

/** Tokens of the issuer: how they are checked, and which ones have been. */
interface JwtCredentials {
  readonly keys: KeySet;
  readonly verifier: JwtVerifier;
  readonly verified: VerifiedTokens;
}

/**
 * Whatever has not changed is kept: the keys an issuer has published are still its keys, and it may be down right now.
 * Whatever has changed starts afresh, so that nothing is remembered under rules that no longer apply.
 * @throws JOSEError for keys that are not valid keys
 */
function jwtCredentials(
  jwt: JwtConfiguration,
  { clock, ...tools }: Omit<RemoteKeySetParts, 'load'>,
  before: Before<JwtCredentials | undefined> | undefined,
): JwtCredentials {
  const known = before?.configuration.auth.jwt;
  if (before?.made !== undefined && isSame(known, jwt)) return before.made;
  const { keys: place } = jwt;
  const keys =
    place.kind === 'set'
      ? new FixedKeySet(place.set)
      : new RemoteKeySet({ clock, ...tools, load: () => fetchKeySet(place, clock) });
  const hasSameTerms = known !== undefined && isSame({ ...known, keys: undefined }, { ...jwt, keys: undefined });
  const verified = new VerifiedTokens(clock, keys, { before: hasSameTerms ? before?.made?.verified : undefined });
  return { keys, verifier: new JwtVerifier(jwt, keys, clock), verified };
}
