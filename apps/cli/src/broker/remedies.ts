import { BAD_PORT } from '#libs/outbound';
import type { BrokerPlace } from './broker-place.js';
import type { NoAnswer } from './exchange-cause.js';
import type { ReplicaPlace } from './replica-call.js';

/** For a caller who may read no merchant at all. */
export const GRANT_READ = 'have session:read granted to it, or use the token of one that has it';
export const NAME_A_MERCHANT = 'name a merchant that session-broker status lists';
/**
 * For a caller who may read others. A broker answers alike for a merchant that it does not have and for one that is not
 * the caller's.
 */
export const NAME_OR_GRANT = `${NAME_A_MERCHANT}, or have session:read granted to this caller for the one that is named`;

/** For when one replica shows a caller what another one does not. */
export const RELOAD =
  'see whether a reload has reached it, and whether its file is that of the others (runbook: config-reload-failed)';

const CORRECT_ADDRESS = 'correct --url, or BROKER_URL';

/** For when there is no broker API at the address, most often because a path was added to it. */
export function addressRemedy({ url: { pathname, search, origin } }: Pick<ReplicaPlace, 'url'>): string {
  return pathname === '/' && search === '' ? CORRECT_ADDRESS : `${CORRECT_ADDRESS}: give the address alone, ${origin}`;
}

/** For when a broker does not accept what was sent, or asks for something that was not sent. */
export const tokenRemedy = (hasToken: boolean): string =>
  hasToken
    ? 'name the token of a caller of this broker, by BROKER_TOKEN_FILE or --token-file'
    : 'set BROKER_TOKEN_FILE or --token-file: no token is given';

/** The same while a broker is followed: the file is then read again and again. */
export const followedTokenRemedy = (hasToken: boolean): string =>
  hasToken
    ? 'put the token of a caller of this broker into its file: it is read anew for each question'
    : tokenRemedy(hasToken);

/** For when a broker was not reached, or did not answer; undefined if the call was ended on request. */
export function reachRemedy(
  why: NoAnswer,
  { url: { protocol, host } }: Pick<ReplicaPlace, 'url'>,
  { ca }: Pick<BrokerPlace, 'ca'>,
): string | undefined {
  const { fault, mark } = why;
  if (mark === BAD_PORT) return `${CORRECT_ADDRESS}, where the broker has another port`;
  if (fault === 'invalidInput') return `${CORRECT_ADDRESS}: ${protocol === 'http:' ? 'https' : 'http'}://${host}`;
  if (fault !== 'refused') return silenceRemedy(why);
  return ofCertificate[mark ?? ''] ?? (ca === undefined ? NAME_AUTHORITY : OTHER_AUTHORITY);
}

function silenceRemedy({ isUnasked, isCutOff, isHung }: NoAnswer): string | undefined {
  if (isHung === true) return isUnasked === true ? SEE_WHETHER_IT_HAS_TLS : SEE_WHETHER_IT_HANGS;
  if (isUnasked === true) return SEE_WHETHER_IT_RUNS;
  return isCutOff === true ? SEE_WHAT_IT_IS : undefined;
}

const SEE_WHETHER_IT_RUNS =
  'see whether a replica runs there, and whether --url or BROKER_URL is right (runbook: replica-down)';
const SEE_WHETHER_IT_HANGS =
  'see whether the replica there hangs, and restart it if it does (runbook: replica-down), and whether it is a broker that listens there';
const SEE_WHETHER_IT_HAS_TLS =
  'see whether it is a broker that listens there, and one with TLS, and whether it hangs (runbook: replica-down)';
const SEE_WHAT_IT_IS =
  'see whether it is a broker that listens there: a Redis, and others that speak no HTTP, hang up like that';
const NAME_AUTHORITY = 'name the file with the authority that has issued it, by BROKER_CA_FILE or --ca-file';
const OTHER_AUTHORITY =
  'the file of BROKER_CA_FILE, or --ca-file, does not have the authority that has issued it: name one that has; it is read once, when the command begins';
const OTHER_NAME = 'use a name that the certificate has, in --url or BROKER_URL';

const ofCertificate: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'give the broker a new one',
  CERT_NOT_YET_VALID: 'compare the clocks of this machine and of the broker',
  ERR_TLS_CERT_ALTNAME_INVALID: OTHER_NAME,
  HOSTNAME_MISMATCH: OTHER_NAME,
};
