import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** By real time, whatever the sandbox's clock says: a receiver that hangs must not keep a socket for ever. */
const MAX_SILENCE_MS = 10_000;
const MAX_SOCKETS = 32;

export interface Delivery {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The status of the answer, or why there was none. */
export type Receipt = { readonly httpStatus: number } | { readonly failure: string };

/** Sends notifications, a bounded number at a time. Redirects are not followed, and response bodies are not read. */
export class Deliverer {
  readonly #http = new HttpAgent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  readonly #https = new HttpsAgent({ keepAlive: true, maxSockets: MAX_SOCKETS });

  deliver({ url, headers, body }: Delivery): Promise<Receipt> {
    const isHttps = url.protocol === 'https:';
    const send = isHttps ? httpsRequest : httpRequest;
    return new Promise((resolve) => {
      const request = send(url, {
        method: 'POST',
        agent: isHttps ? this.#https : this.#http,
        timeout: MAX_SILENCE_MS,
        headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      });
      request.once('response', (response) => {
        response.resume();
        resolve({ httpStatus: response.statusCode ?? 0 });
      });
      request.once('timeout', () => request.destroy(new Error('no answer in time')));
      request.once('error', (error: NodeJS.ErrnoException) => resolve({ failure: error.code ?? error.message }));
      request.end(body);
    });
  }

  /** Cuts off whatever is in progress. */
  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

/** Where notifications may go: to this machine, and to the origins that the sandbox was started with. */
export class NotificationTargets {
  readonly #origins: ReadonlySet<string>;
  /** Of the sandbox itself, which accepts control requests from this machine; known once it listens. */
  ownPort: number | undefined;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /**
   * The URL, if a notification may be sent to it. Without this check, anyone who names a notificationUrl could make
   * requests from within the sandbox's network.
   */
  allowed(text: string): URL | undefined {
    const url = URL.parse(text);
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
    if (url.username !== '' || url.password !== '') return undefined;
    if (this.#origins.has(url.origin)) return url;
    return isLoopback(url.hostname) && portOf(url) !== this.ownPort ? url : undefined;
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}
