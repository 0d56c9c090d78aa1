import { readFile, stat } from 'node:fs/promises';
import { PATH_NOT_SHOWN, shownPath } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { systemCodeOf } from '../system-error.js';
import type { CommandContext } from '../terminal.js';
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
  const ca = isNamed(caFile) ? await readText(caFile, 'CA') : undefined;
  return { urls: [brokerUrl(url), ...others.map(brokerUrl)], token, ca };
}

/** What is piped in, by `--token-file /dev/stdin`, can be read once. */
async function tokenFrom(path: string): Promise<() => Promise<string>> {
  const read = async (): Promise<string> => (await readText(path, 'token')).trim();
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

async function readText(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const shown = await shownPath(path, process.cwd());
    const problem = `cannot be read (${systemCodeOf(error)})`;
    throw invalid(
      shown === undefined ? `the ${what} file ${problem}; ${PATH_NOT_SHOWN}` : `the ${what} file ${shown} ${problem}`,
    );
  }
}
