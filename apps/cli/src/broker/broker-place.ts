import { readFile, stat } from 'node:fs/promises';
import { isCertificate, PATH_NOT_SHOWN, pemCertificates, shownPath } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { systemCodeOf } from '../system-error.js';
import type { CommandContext } from '../terminal.js';
import { tokenFault } from './token-fault.js';
import { givenUrls } from './given-urls.js';

/** How a running broker is asked, as the options of a command or the environment say. */
export interface BrokerOptions {
  readonly url?: readonly string[];
  readonly tokenFile?: string;
  readonly caFile?: string;
}

export interface BrokerPlace {
  readonly urls: readonly [URL, ...URL[]];
  /** Read anew each time: a token of the platform is renewed under the same name. Undefined without one. */
  readonly token: () => Promise<string | undefined>;
  /** PEM: the authorities that are trusted instead of the platform's. */
  readonly ca: string | undefined;
}

/** @throws BrokerError `invalid_request` for what is no URL of a broker, or when a file that is named cannot be read */
export async function brokerPlace(options: BrokerOptions, context: CommandContext): Promise<BrokerPlace> {
  const { environment } = context;
  const [url, ...others] = givenUrls(options, context);
  const tokenFile = options.tokenFile ?? environment['BROKER_TOKEN_FILE'];
  const caFile = options.caFile ?? environment['BROKER_CA_FILE'];
  if (url === undefined) throw new Error('the command line was to name a broker');
  const token = isNamed(tokenFile) ? await tokenFrom(tokenFile) : () => Promise.resolve(undefined);
  const ca = isNamed(caFile) ? await authoritiesFrom(caFile) : undefined;
  return { urls: [brokerUrl(url), ...others.map(brokerUrl)], token, ca };
}

async function authoritiesFrom(path: string): Promise<string> {
  const pem = await readText(path, 'CA');
  const blocks = pemCertificates(pem);
  if (blocks.length === 0) throw invalid(`${await nameOf(path, 'CA')} holds no certificate in PEM`);
  if (!blocks.every(isCertificate)) throw invalid(`${await nameOf(path, 'CA')} holds a damaged certificate`);
  return pem;
}

/** What is piped in, by `--token-file /dev/stdin`, can be read once. */
async function tokenFrom(path: string): Promise<() => Promise<string>> {
  const read = async (): Promise<string> => {
    const token = (await readText(path, 'token')).trim();
    const fault = tokenFault(token);
    if (fault !== undefined) throw invalid(`${await nameOf(path, 'token')} ${fault}`);
    return token;
  };
  const first = await read();
  const isKept = await stat(path).then(
    (entry) => entry.isFile(),
    () => true,
  );
  return isKept ? read : () => Promise.resolve(first);
}

const invalid = (detail: string): BrokerError => new BrokerError('invalid_request', { publicDetail: detail });
const isNamed = (file: string | undefined): file is string => file !== undefined && file !== '';

function brokerUrl(text: string): URL {
  const url = URL.parse(text);
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (url === null || !isWeb || url.username !== '' || url.password !== '') {
    throw invalid('the URL of a broker is http or https, without a credential, such as https://broker.internal:8080');
  }
  return url;
}

async function readText(path: string, what: FileUse): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const problem = `cannot be read (${systemCodeOf(error)})`;
    const shown = await shownPath(path, process.cwd());
    throw invalid(`${await nameOf(path, what)} ${problem}${shown === undefined ? `; ${PATH_NOT_SHOWN}` : ''}`);
  }
}

type FileUse = 'CA' | 'token';

/** Where the path may be a secret that was pasted in its place, without it. */
async function nameOf(path: string, what: FileUse): Promise<string> {
  const shown = await shownPath(path, process.cwd());
  return shown === undefined ? `the ${what} file` : `the ${what} file ${shown}`;
}
