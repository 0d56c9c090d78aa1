import type { Clock } from '#libs/clock';
import { type BrokerConfiguration, type JwtConfiguration, isSame } from '#libs/configuration';
import type { Logger } from '#libs/telemetry';
import { type Before } from '../configuration/configuration-in-force.js';
import { CertificateCallers } from '#libs/edge';
import { fetchKeySet } from './fetch-key-set.js';
import { JwtVerifier } from './jwt-verifier.js';
import { FixedKeySet, RemoteKeySet } from './key-set.js';
import { StaticTokens } from './static-tokens.js';
import { VerifiedTokens } from './verified-tokens.js';

/** Tokens of the issuer: how they are checked, and which ones have been checked. */
interface JwtCredentials {
  readonly verifier: JwtVerifier;
  readonly verified: VerifiedTokens;
}

/** How the callers of one configuration are recognised. */
export interface Credentials {
  readonly disabled: boolean;
  readonly tokens: StaticTokens;
  readonly jwt: JwtCredentials | undefined;
  readonly certificates: CertificateCallers | undefined;
}

interface CredentialTools {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * What has not changed is kept: the keys that an issuer has published are still its keys, and it may be down right now.
 * What has changed begins anew, so that nothing is remembered by rules that no longer hold.
 */
export function credentialsOf(
  { auth }: Pick<BrokerConfiguration, 'auth'>,
  tools: CredentialTools,
  before?: Before<Credentials>,
): Credentials {
  const keepsJwt = before !== undefined && isSame(before.configuration.auth.jwt, auth.jwt);
  const certificates = before === undefined ? new CertificateCallers(tools.clock) : before.made.certificates;
  return {
    disabled: auth.disabled,
    tokens: new StaticTokens(auth.tokens),
    jwt: keepsJwt ? before.made.jwt : auth.jwt && jwtCredentials(auth.jwt, tools),
    certificates: auth.mtls ? certificates : undefined,
  };
}

/** @throws JOSEError for keys that are none */
function jwtCredentials(jwt: JwtConfiguration, { clock, logger }: CredentialTools): JwtCredentials {
  const { keys } = jwt;
  const verified = new VerifiedTokens(clock);
  const keySet =
    keys.kind === 'set'
      ? new FixedKeySet(keys.set)
      : new RemoteKeySet({
          clock,
          logger,
          load: () => fetchKeySet(keys, clock),
          onChange: () => verified.forgetAll(),
        });
  return { verifier: new JwtVerifier(jwt, keySet, clock), verified };
}
