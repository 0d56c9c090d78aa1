import type { Clock } from '#libs/clock';
import { type BrokerConfiguration, isSame, type JwtConfiguration } from '#libs/configuration';
import { CertificateCallers, MistakenHashes } from '#libs/edge';
import type { Logger } from '#libs/telemetry';
import type { Before } from '../configuration/configuration-in-force.js';
import type { Caller } from './caller.js';
import { JwtVerifier, VerifiedTokens } from './jwt-verifier.js';
import { fetchKeySet, FixedKeySet, type KeySet, RemoteKeySet } from './key-set.js';

/** Tokens of the issuer: how they are checked, and which ones have been. */
interface JwtCredentials {
  readonly keys: KeySet;
  readonly verifier: JwtVerifier;
  readonly verified: VerifiedTokens;
}

/** How the callers of one configuration are recognised. */
export interface Credentials {
  readonly disabled: boolean;
  /** By the SHA-256 of the token, which nobody who tries tokens out can steer: no time of a look-up tells anything. */
  readonly tokens: ReadonlyMap<string, Caller>;
  readonly mistakenHashes: MistakenHashes;
  readonly jwt: JwtCredentials | undefined;
  readonly certificates: CertificateCallers | undefined;
}

interface CredentialTools {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The issuer's keys have changed. */
  readonly onKeysChanged: () => void;
}

/**
 * Whatever has not changed is kept: the keys an issuer has published are still its keys, and it may be down right now.
 * Whatever has changed starts afresh, so that nothing is remembered under rules that no longer apply.
 */
export function credentialsOf(
  { auth, http }: Pick<BrokerConfiguration, 'auth' | 'http'>,
  tools: CredentialTools,
  before?: Before<Credentials>,
): Credentials {
  return {
    disabled: auth.disabled,
    tokens: new Map(auth.tokens.map(({ caller, sha256 }) => [sha256, { name: caller }])),
    mistakenHashes: new MistakenHashes(
      auth.tokens.map(({ caller, sha256 }, at) => ({ setting: `auth.tokens[${at}].sha256`, owner: caller, sha256 })),
    ),
    jwt: auth.jwt && jwtCredentials(auth.jwt, tools, before),
    certificates: auth.mtls ? certificateCallers(http, tools, before) : undefined,
  };
}

function certificateCallers(
  { tls }: BrokerConfiguration['http'],
  { clock }: CredentialTools,
  before: Before<Credentials> | undefined,
): CertificateCallers {
  const kept = before?.configuration.http.tls?.clientCa === tls?.clientCa ? before?.made.certificates : undefined;
  return kept ?? new CertificateCallers(clock, tls?.clientCa);
}

/** @throws JOSEError for keys that are not valid keys */
function jwtCredentials(
  jwt: JwtConfiguration,
  tools: CredentialTools,
  before: Before<Credentials> | undefined,
): JwtCredentials {
  const known = before?.configuration.auth.jwt;
  if (before?.made.jwt !== undefined && isSame(known, jwt)) return before.made.jwt;
  const keys = keySetOf(jwt, tools);
  const hasSameTerms = known !== undefined && isSame({ ...known, keys: undefined }, { ...jwt, keys: undefined });
  const { clock } = tools;
  const verified = new VerifiedTokens({ clock, keys, before: hasSameTerms ? before?.made.jwt?.verified : undefined });
  return { keys, verifier: new JwtVerifier(jwt, keys, clock), verified };
}

function keySetOf({ keys }: JwtConfiguration, { clock, logger, onKeysChanged: onChange }: CredentialTools): KeySet {
  if (keys.kind === 'set') return new FixedKeySet(keys.set);
  return new RemoteKeySet({ clock, logger, load: () => fetchKeySet(keys, clock), onChange });
}
