/** Codes as the system, OpenSSL and undici write them. A text of any other form could be anything. */
const SYSTEM_CODE = /^(?:[A-Z][A-Z0-9_]{1,39}|ERR_SSL_[A-Z0-9_/]{1,60})$/;
/** The name of a class, or of one of the platform's own errors. */
const NAME = /^[A-Z][A-Za-z0-9_]{0,59}$/;
/** Their text says no more than their name. */
const PLATFORM: readonly string[] = ['AbortError', 'TimeoutError'];
/** A reason as a person writes it: nothing as long as a token, and no digits, which could be a card's. */
const WORDS = /^(?=.{1,80}$)[\p{L}'’.,:;!?()-]{1,20}(?: [\p{L}'’.,:;!?()-]{1,20})*$/u;

/** The platform's errors may come from another realm than this module, where `instanceof` does not recognize them. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || (typeof value === 'object' && value !== null && 'message' in value);
}

/** The system's code for a failure, such as `ECONNREFUSED`, from the error or what caused it. */
export function systemCodeOf(error: unknown): string | undefined {
  for (let link = error, depth = 0; isError(link) && depth < 5; link = link.cause, depth += 1) {
    const code = 'code' in link ? link.code : undefined;
    if (typeof code === 'string' && SYSTEM_CODE.test(code)) return code;
  }
  return undefined;
}

/** What came back in the handshake was not TLS, for example the page of a plain HTTP server. */
export const NO_TLS = 'ERR_SSL_WRONG_VERSION_NUMBER';
export const SPEAKS_NO_TLS = 'what answers there speaks no TLS; does its URL begin with http://?';

/** How a connection ends when one side uses TLS and the other does not. */
const CUT_OFF: readonly string[] = ['ECONNRESET', 'UND_ERR_SOCKET', 'EPIPE'];

/** The first octets of a TLS alert, as undici's parser quotes them; Java servers send one to a client without TLS. */
const TLS_ALERT = '\u0015\u0003';
const MAX_LINKS = 5;

/** Whether a connection without TLS ended as at a server that speaks only TLS: with no answer, or with a TLS alert. */
export function isEndedByTls(error: unknown): boolean {
  const links: unknown[] = [];
  for (let link = error; isError(link) && links.length < MAX_LINKS; link = link.cause) links.push(link);
  const seen = links as readonly { readonly data?: unknown; readonly socket?: { readonly bytesRead?: unknown } }[];
  if (seen.some(({ data }) => typeof data === 'string' && data.startsWith(TLS_ALERT))) return true;
  // Something was read, so what was cut off was an answer in clear text.
  if (seen.some(({ socket }) => typeof socket?.bytesRead === 'number' && socket.bytesRead > 0)) return false;
  return CUT_OFF.includes(systemCodeOf(error) ?? '');
}

/** Fetch refuses the bad ports listed in the Fetch standard with this text and no code. */
export function isBadPort(error: unknown): boolean {
  return isError(error) && isError(error.cause) && error.cause.message === 'bad port';
}

export const UNEXPLAINED = 'fetch gives no reason, as where a proxy asks for a credential (407)';

/** Fetch keeps a 407 answer to itself, and gives neither code nor text. */
export function isUnexplained(error: unknown): boolean {
  return isError(error) && isError(error.cause) && error.cause.message === '';
}

/** The reason for an abort, for a message. It can be anything, even an error quoting a request: little is shown. */
export function abortReason(reason: unknown): string {
  if (typeof reason === 'string') return WORDS.test(reason) ? reason : 'a text that is not repeated here';
  if (!isError(reason)) return 'a reason that is no text';
  const { name, message } = reason;
  const shown = NAME.test(name) ? name : 'an error';
  return WORDS.test(message) && !PLATFORM.includes(name) ? `${shown}: ${message}` : shown;
}
