import { isIP, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { nextTurn } from '#libs/clock';
import { buildConnector, type Dispatcher, Pool } from 'undici';

type Connect = buildConnector.connector;

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
    given({ ...target, ...(isNamed ? { servername } : {}) }, (...made) => {
      if (made[0] === null) readAnswersRightly(made[1]);
      callback(...made);
    });
  };
  return new Pool(origin, { ...options, connect: named });
}

/** A gateway that works on a payment may say so now and then, but not put off the answer for as long as it likes. */
const MAX_INTERIM_BYTES = 16_384;
const INTERIM_START = 'HTTP/1.1 1';
/** Only what no parser reads otherwise. 101 is an answer. */
const INTERIM = /^HTTP\/1\.1 1(?!01)\d\d(?: [^\r\n]*)?\r\n(?:[\w!#$%&'*+.^`|~-]+:[^\r\n]*\r\n)*\r\n$/;
const REQUEST = /^[A-Z]+ \S+ HTTP\/1\.1\r\n/;
const NOTHING = Buffer.alloc(0);
const LAST_ANSWER = Buffer.from('connection: close\r\n');

/**
 * Before the answer, any number of others may come unasked, and are skipped (RFC 9110 section 15.2). undici skips all
 * but 100, at which it ends the connection: the answer is lost, whatever has been carried out. So it is shown none of
 * them. It also keeps a connection whose request was not sent to its end when the answer came: the other end reads the
 * next request as the rest of this one. So it is told that such an answer is the last.
 *
 * undici reads with `read` and begins a request by writing its head, as a text, once the previous answer has ended:
 * what is read next begins the answer.
 */
function readAnswersRightly(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  const write = socket.write.bind(socket) as (...chunk: readonly unknown[]) => boolean;
  let isAwaited = false;
  let isOfThisTurn = false;
  let begun: Buffer = NOTHING;
  let skippedBytes = 0;

  const settle = (): void => {
    isOfThisTurn = false;
    if (!isAwaited && socket.writableLength > 0) socket.destroy();
  };
  /** @returns undefined until there is enough of it */
  const answer = (): Buffer | undefined => {
    while (INTERIM_START.startsWith(begun.toString('latin1', 0, INTERIM_START.length))) {
      const length = begun.indexOf('\r\n\r\n') + 4;
      if (length < 4) return undefined;
      if (!INTERIM.test(begun.toString('latin1', 0, length))) break;
      skippedBytes += length;
      begun = begun.subarray(length);
    }
    // TLS says in the next turn what has been sent in this one.
    if (socket.writableLength === 0 || isOfThisTurn) return begun;
    const line = begun.indexOf('\r\n') + 2;
    if (line < 2) return undefined;
    return Buffer.concat([begun.subarray(0, line), LAST_ANSWER, begun.subarray(line)]);
  };
  socket.read = (size?: number): Buffer | null => {
    if (!isAwaited || size !== undefined) return read(size);
    for (let octets = read(); octets !== null; octets = read()) {
      begun = begun.length === 0 ? octets : Buffer.concat([begun, octets]);
      const found = answer();
      if (skippedBytes + (found === undefined ? begun.length : 0) > MAX_INTERIM_BYTES) return socket.destroy() && null;
      if (found === undefined) continue;
      isAwaited = false;
      begun = NOTHING;
      return found;
    }
    return null;
  };
  socket.write = (...chunk: readonly unknown[]): boolean => {
    if (typeof chunk[0] === 'string' && REQUEST.test(chunk[0])) {
      isAwaited = true;
      isOfThisTurn = socket instanceof TLSSocket;
      skippedBytes = 0;
      if (isOfThisTurn) void nextTurn().then(settle);
    }
    return write(...chunk);
  };
}
