/** As the system, OpenSSL and undici write them. A text of any other form could be anything. */
const SYSTEM_CODE = /^(?:[A-Z][A-Z0-9_]{1,39}|ERR_SSL_[A-Z0-9_/]{1,60})$/;
/** Of a class, and of the platform's own errors. */
const NAME = /^[A-Z][A-Za-z0-9_]{0,59}$/;
/** Their text says no more than their name. */
const PLATFORM: readonly string[] = ['AbortError', 'TimeoutError'];
/** As a person writes a reason: nothing that is as long as a token, and no digits, which could be of a card. */
const WORDS = /^(?=.{1,80}$)[\p{L}'’.,:;!?()-]{1,20}(?: [\p{L}'’.,:;!?()-]{1,20})*$/u;

/** Errors of the platform may come from another realm than this module, where `instanceof` does not know them. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || (typeof value === 'object' && value !== null && 'message' in value);
}

/** The code that the system gave to a failure, such as `ECONNREFUSED`, from the error or what caused it. */
export function systemCodeOf(error: unknown): string | undefined {
  for (let link = error, depth = 0; isError(link) && depth < 5; link = link.cause, depth += 1) {
    const code = 'code' in link ? link.code : undefined;
    if (typeof code === 'string' && SYSTEM_CODE.test(code)) return code;
  }
  return undefined;
}

/** What came in a handshake is no TLS, such as the page of a server that speaks HTTP there. */
export const NO_TLS = 'ERR_SSL_WRONG_VERSION_NUMBER';
export const SPEAKS_NO_TLS = 'what answers there speaks no TLS; does its URL begin with http://?';

/** How a connection ends on which a server is asked with TLS, or without, and speaks the other alone. */
const CUT_OFF: readonly string[] = ['ECONNRESET', 'UND_ERR_SOCKET', 'EPIPE'];

/** Its first octets, as the parser of undici quotes them; servers in Java answer so who asks them without TLS. */
const TLS_ALERT = '\u0015\u0003';
const MAX_LINKS = 5;

/** How a connection without TLS ends at a server that speaks nothing else: with no answer, or with an alert of TLS. */
export function isEndedByTls(error: unknown): boolean {
  const links: unknown[] = [];
  for (let link = error; isError(link) && links.length < MAX_LINKS; link = link.cause) links.push(link);
  const seen = links as readonly { readonly data?: unknown; readonly socket?: { readonly bytesRead?: unknown } }[];
  if (seen.some(({ data }) => typeof data === 'string' && data.startsWith(TLS_ALERT))) return true;
  // Something was read: whatever broke off was an answer in clear.
  if (seen.some(({ socket }) => typeof socket?.bytesRead === 'number' && socket.bytesRead > 0)) return false;
  return CUT_OFF.includes(systemCodeOf(error) ?? '');
}

/** Fetch refuses the ports of the Fetch standard's list of bad ports, with this text and no code. */
export function isBadPort(error: unknown): boolean {
  return isError(error) && isError(error.cause) && error.cause.message === 'bad port';
}

export const UNEXPLAINED = 'fetch gives no reason, as where a proxy asks for a credential (407)';

/** Fetch keeps the answer of a 407 to itself, and gives neither code nor text. */
export function isUnexplained(error: unknown): boolean {
  return isError(error) && isError(error.cause) && error.cause.message === '';
}

/** The reason of an abort, for a message. It can be anything, an error that quotes a request, too: few words of it are told. */
export function abortReason(reason: unknown): string {
  if (typeof reason === 'string') return WORDS.test(reason) ? reason : 'a text that is not repeated here';
  if (!isError(reason)) return 'a reason that is no text';
  const { name, message } = reason;
  const shown = NAME.test(name) ? name : 'an error';
  return WORDS.test(message) && !PLATFORM.includes(name) ? `${shown}: ${message}` : shown;
}
