import { leadsElsewhere, toldCall } from '#libs/causes';
import { portOf } from '#libs/outbound';
import { type FetchFailure, MAX_DOCUMENT_BYTES, type PublishedPlace } from './fetch-published.js';

/** Why the issuer's document cannot be fetched. It consists of constant text, addresses and codes. */
export interface Trouble {
  readonly problem: string;
  readonly remedy: string;
  /** What has to change: our settings or files; what the other side permits; what it answers; nothing, it may pass. */
  readonly fault: 'invalidInput' | 'refused' | 'invalidAnswer' | 'tryLater';
}

const SEE_ADDRESS =
  "compare auth.jwt.jwksUri with the jwks_uri of the issuer's own document, at /.well-known/openid-configuration";
const SEE_WAY = 'see whether firewalls and network policies let this machine out to it';
const TOKEN_OF_A_POD =
  'put a token there that the issuer takes: Kubernetes takes that of a service account, projected without an audience of its own';

/** In the words of the status page. */
export function whatIsWrong(failure: FetchFailure, { uri }: Pick<PublishedPlace, 'uri'>): Trouble {
  const peer = `${uri.hostname}:${portOf(uri)}`;
  switch (failure.kind) {
    case 'token_file':
      return trouble('invalidInput', `auth.jwt.jwksTokenFile ${ofTokenFile(failure.mark)}`, TOKEN_OF_A_POD);
    case 'no_answer':
      return ofExchange(failure.end, peer);
    case 'no_answer_in_time': {
      const mark = failure.wasReached ? {} : { mark: 'UND_ERR_CONNECT_TIMEOUT' };
      const { text } = toldCall({ kind: 'timeout', trace: { peer, ...mark } });
      const remedy = failure.wasReached ? 'ask those who run the issuer why it does not answer' : SEE_WAY;
      return trouble('tryLater', text, remedy);
    }
    case 'status':
      return ofStatus(failure, peer);
    case 'too_long':
      return trouble('invalidAnswer', `the answer of ${peer} is longer than ${MAX_DOCUMENT_BYTES} bytes`, SEE_ADDRESS);
    case 'no_json':
      return trouble('invalidAnswer', `the answer of ${peer} is not a JSON object`, SEE_ADDRESS);
    case 'ended':
      return trouble('tryLater', 'ended on request', 'try again');
  }
}

function ofTokenFile(mark: string | undefined): string {
  return mark === undefined ? 'holds no token' : `cannot be read (${mark})`;
}

const remedies: Readonly<Record<string, string>> = {
  ECONNREFUSED:
    'see whether auth.jwt.jwksUri names the host and port of the issuer; some firewalls refuse in its place',
  ENOTFOUND: 'see the host in auth.jwt.jwksUri, and the name servers of this machine',
  EAI_AGAIN: 'see the name servers of this machine, and whether a network policy lets it out to them',
};

function ofExchange({ kind, mark }: Extract<FetchFailure, { kind: 'no_answer' }>['end'], peer: string): Trouble {
  const failed = { kind: kind === 'untrusted' ? 'refused' : 'transient', trace: { mark, peer } } as const;
  const { text } = toldCall(failed);
  if (kind === 'untrusted') {
    const remedy =
      'put the authority of its certificate into auth.jwt.jwksCaFile (of Kubernetes: ca.crt of the ConfigMap kube-root-ca.crt), and compare the host in auth.jwt.jwksUri';
    return trouble('refused', text, remedy);
  }
  if (leadsElsewhere(failed)) return trouble('invalidInput', text, 'see scheme and port in auth.jwt.jwksUri');
  return trouble('tryLater', text, remedies[mark] ?? SEE_WAY);
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAY_PASS = new Set([408, 425, 429]);

function ofStatus({ httpStatus, hadToken }: Extract<FetchFailure, { kind: 'status' }>, peer: string): Trouble {
  const answered = `(HTTP ${httpStatus} from ${peer})`;
  if (httpStatus === 401 || httpStatus === 403) return ofRefusal(httpStatus, hadToken, answered);
  if (REDIRECTS.has(httpStatus)) {
    return trouble('invalidInput', `the address leads elsewhere, where no request follows ${answered}`, SEE_ADDRESS);
  }
  if (httpStatus >= 500 || MAY_PASS.has(httpStatus)) {
    return trouble('tryLater', `the issuer reports a fault of its own ${answered}`, 'ask those who run the issuer');
  }
  return trouble('invalidInput', `nothing is published at the address ${answered}`, SEE_ADDRESS);
}

function ofRefusal(httpStatus: 401 | 403, hadToken: boolean, answered: string): Trouble {
  if (!hadToken) {
    const remedy = 'set auth.jwt.jwksTokenFile: Kubernetes gives its keys only to those who show a token';
    return trouble('refused', `the issuer wants a token, and none is configured ${answered}`, remedy);
  }
  if (httpStatus === 401) {
    return trouble('refused', `the token of auth.jwt.jwksTokenFile is not accepted ${answered}`, TOKEN_OF_A_POD);
  }
  const remedy =
    'let its owner read the keys: in Kubernetes by the cluster role system:service-account-issuer-discovery';
  return trouble('refused', `the owner of the token of auth.jwt.jwksTokenFile may not read this ${answered}`, remedy);
}

const trouble = (fault: Trouble['fault'], problem: string, remedy: string): Trouble => ({ fault, problem, remedy });
