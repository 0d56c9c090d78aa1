import { isIP, type Socket } from 'node:net';
import { nextTurn } from '#libs/clock';
import { buildConnector, type Dispatcher, Pool } from 'undici';

type Connect = buildConnector.connector;

/** So many answers may only put off the one that counts. A gateway that works on a payment may say so now and then. */
const MAX_INTERIM = 32;

/**
 * A pool as undici makes it, except for what undici gets wrong. It takes the server name of a proxy from its URL,
 * whatever that is; RFC 6066 section 3 allows no address, and Node.js 26 refuses to connect with one. The certificate
 * is still checked against the address. The rest is below.
 */
export function pool(origin: URL | string, options: object): Dispatcher {
  const { connect } = options as { readonly connect?: Connect | buildConnector.BuildOptions };
  if (connect === undefined) throw new TypeError('undici no longer says how to connect');
  const given = typeof connect === 'function' ? connect : buildConnector(connect);
  const named: Connect = ({ servername, ...target }, callback) => {
    const isNamed = servername !== undefined && isIP(target.hostname) === 0;
    given({ ...target, ...(isNamed ? { servername } : {}) }, callback);
  };
  return new Pool(origin, { ...options, connect: named }).on('connect', (_origin, targets) => {
    const client = targets.at(-1);
    if (client !== undefined && !readAnswersRightly(client)) {
      void client.destroy(new TypeError('undici no longer reads answers as it did'));
    }
  });
}

/** What is used of undici's parser. */
interface AnswerParser {
  /** Of the answer that is being read; 0 between two of them. */
  readonly statusCode: number | null;
  /** Whether the connection may carry another request after this answer. */
  shouldKeepAlive: boolean;
  onHeadersComplete(status: number, ...rest: readonly boolean[]): number;
}

/**
 * Before the answer, any number of others may come unasked, and are skipped (RFC 9110 section 15.2). undici skips all
 * but 100, at which it ends the connection: the answer is lost, whatever has been carried out. So its parser is told of
 * a 102 instead, and of a 100 when they do not end. It also keeps a connection whose request was not sent to its end
 * when the answer came: the other end reads the next request as the rest of this one. undici has no hook for either,
 * and only its parser knows where an answer begins.
 * @returns false, before anything is sent, when the parser is not as it was
 */
function readAnswersRightly(client: Dispatcher): boolean {
  const socket = hidden(client, 'socket') as Socket | undefined;
  const parser = hidden(socket, 'parser') as AnswerParser | undefined;
  if (socket === undefined || typeof parser?.onHeadersComplete !== 'function') return false;
  const read = parser.onHeadersComplete.bind(parser);
  const giveUpIfUnsent = (): void => {
    if (socket.writableLength === 0) return;
    parser.shouldKeepAlive = false;
    if (!parser.statusCode) socket.destroy();
  };
  let interim = 0;
  parser.onHeadersComplete = (status, ...rest) => {
    interim = status < 200 ? interim + 1 : 0;
    // TLS says in the next turn what has been sent in this one. undici begins no request before.
    if (interim === 0 && socket.writableLength > 0) void nextTurn().then(giveUpIfUnsent);
    return read(interim > MAX_INTERIM ? 100 : status === 100 ? 102 : status, ...rest);
  };
  return true;
}

/** What undici keeps under a symbol of that name. */
function hidden(owner: object | undefined, name: string): unknown {
  if (owner === undefined) return undefined;
  const symbol = Object.getOwnPropertySymbols(owner).find(({ description }) => description === name);
  return symbol === undefined ? undefined : (owner as Readonly<Record<symbol, unknown>>)[symbol];
}
