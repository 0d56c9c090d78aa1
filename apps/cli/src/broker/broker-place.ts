import { isAbsolute } from 'node:path';
import { text } from 'node:stream/consumers';
import { isCertificate, pemCertificates, readTextFile, tokenFault } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import type { CommandContext } from '../terminal.js';

/** How to reach a running broker, as given by a command's options or the environment. */
export interface BrokerOptions {
  /** As written by the user. */
  readonly urls: readonly [string, ...string[]];
  readonly tokenFile?: string;
  readonly caFile?: string;
}

export interface BrokerPlace {
  readonly urls: readonly [URL, ...URL[]];
  /**
   * Read afresh each time, because the platform renews its tokens under the same name. Undefined if there is no token.
   */
  readonly token: () => Promise<string | undefined>;
  /** Whether there is a token to send. */
  readonly hasToken: boolean;
  /** PEM: the authorities that are trusted instead of the platform's. */
  readonly ca: string | undefined;
}

/** @throws BrokerError `invalid_request` for a text that is no broker URL, or if a named file cannot be read */
export async function brokerPlace(options: BrokerOptions, context: CommandContext): Promise<BrokerPlace> {
  const { environment } = context;
  const [url, ...others] = options.urls;
  const tokenFile = options.tokenFile ?? environment['BROKER_TOKEN_FILE'];
  const caFile = options.caFile ?? environment['BROKER_CA_FILE'];
  const hasToken = isNamed(tokenFile);
  const token = hasToken ? await tokenFrom(tokenFile) : () => Promise.resolve(undefined);
  const ca = isNamed(caFile) ? await authoritiesFrom(caFile) : undefined;
  return { urls: [brokerUrl(url), ...others.map(brokerUrl)], token, hasToken, ca };
}

async function authoritiesFrom(path: string): Promise<string> {
  const pem = await readText(path, 'CA');
  const blocks = pemCertificates(pem);
  if (blocks.length > 0 && blocks.every(isCertificate)) return pem;
  throw invalid(`the CA file holds ${blocks.length === 0 ? 'no certificate in PEM' : 'a damaged certificate'}`);
}

const STANDARD_INPUT = '/dev/stdin';

async function tokenFrom(path: string): Promise<() => Promise<string>> {
  const first = await tokenIn(path);
  // It may be a pipe, which can be read only once.
  return path === STANDARD_INPUT ? () => Promise.resolve(first) : () => tokenIn(path);
}

async function tokenIn(path: string): Promise<string> {
  const token = (path === STANDARD_INPUT ? await text(process.stdin) : await readText(path, 'token')).trim();
  const fault = tokenFault(token);
  if (fault === undefined) return token;
  throw invalid(`the token file ${fault}`);
}

const invalid = (detail: string): BrokerError => new BrokerError('invalid_request', { publicDetail: detail });
const isNamed = (file: string | undefined): file is string => file !== undefined && file !== '';

/** The certificates of many authorities; a token is shorter. */
const MAX_BYTES = 1_048_576;

function brokerUrl(address: string): URL {
  const url = URL.parse(address);
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (url !== null && isWeb && url.username === '' && url.password === '') return url;
  throw invalid('the URL of a broker is http or https, without a credential, such as https://broker.internal:8080');
}

/** The path is not repeated: it may be the secret itself, pasted in its place. */
async function readText(path: string, what: 'CA' | 'token'): Promise<string> {
  const found = await readTextFile(path, MAX_BYTES);
  if (found.kind === 'text') return found.text;
  const from = isAbsolute(path) ? '' : `; relative paths begin at ${process.cwd()}`;
  throw invalid(`the ${what} file ${found.problem}${from}`);
}
