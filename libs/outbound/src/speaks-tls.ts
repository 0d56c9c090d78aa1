import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { type Clock, Deadline } from '#libs/clock';
import { exchangeEndOf } from './exchange-end.js';

interface Port {
  readonly host: string;
  readonly port: number;
}

interface Bounds {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly limitMs: number;
}

/**
 * Errors that only the other end of a TLS handshake can cause: an alert, or a hello that we do not accept. Anything
 * else that answers fails earlier, at its first octets.
 */
const OF_A_HANDSHAKE = /^ERR_SSL_(?:(?:TLSV1|TLSV13|SSLV3|SSL\/TLS)_ALERT\w*|UNSUPPORTED_PROTOCOL|DH_KEY_TOO_SMALL)$/;

/**
 * Whether a port speaks TLS. It begins a handshake and sends nothing else: no request, no client certificate. Whether
 * the server's certificate is trusted does not matter.
 */
export async function speaksTls({ host, port }: Port, { clock, signal, limitMs }: Bounds): Promise<boolean> {
  const deadline = new Deadline(clock, limitMs, signal);
  const socket = connect({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}) });
  try {
    return await new Promise<boolean>((resolve) => {
      const end = (): void => resolve(false);
      // A server that requires a client certificate may hang up once both ends have agreed on keys.
      socket.once('keylog', () => resolve(true));
      socket.once('secureConnect', () => resolve(true));
      socket.on('error', (error) => resolve(isOfTls(error)));
      socket.once('close', end);
      if (deadline.signal.aborted) end();
      else deadline.signal.addEventListener('abort', end, { once: true });
    });
  } finally {
    deadline.close();
    socket.destroy();
  }
}

function isOfTls(error: unknown): boolean {
  const { kind, mark } = exchangeEndOf(error);
  return kind === 'untrusted' || OF_A_HANDSHAKE.test(mark);
}
