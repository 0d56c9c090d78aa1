import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  /** Name, value, name, value: names as written, any number of times. */
  readonly headers?: readonly string[];
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}

/** An answer as received; `isCut`: the connection ended before the answer did, or without any (`status` 0). */
export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly isCut: boolean;
}

/** One request on its own connection, without anything that a client library would add or hide. */
export async function exchange(url: string, { method = 'POST', path, ...rest }: RawRequest): Promise<RawAnswer> {
  const { headers = [], body, signal } = rest;
  const { hostname, port } = new URL(url);
  const flat = ['host', `${hostname}:${port}`, ...headers, ...lengthOf(headers, body)];
  const request = httpRequest({ hostname, port, method, path, headers: flat, agent: false, ...(signal && { signal }) });
  const cut = { status: 0, headers: {}, rawHeaders: [], body: Buffer.alloc(0), isCut: true };
  return new Promise((resolve) => {
    request.once('error', () => resolve(cut));
    request.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => void chunks.push(chunk));
      // What it means is seen at the end: whether the message is complete.
      response.once('error', () => undefined);
      response.once('close', () => {
        const { statusCode: status = 0, rawHeaders, complete } = response;
        const parts = { status, headers: response.headers, rawHeaders, body: Buffer.concat(chunks) };
        resolve({ ...parts, isCut: !complete });
      });
    });
    request.end(body);
  });
}

function lengthOf(headers: readonly string[], body: string | Buffer | undefined): readonly string[] {
  const names = headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  if (body === undefined || names.includes('content-length') || names.includes('transfer-encoding')) return [];
  return ['content-length', String(Buffer.byteLength(body))];
}

/** Raw octets, for requests that no HTTP client would make. */
export class RawConnection {
  received = '';
  isClosed = false;
  readonly socket: Socket;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => void (this.received += text));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => void (this.isClosed = true));
  }

  static async to(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  write(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** The status of each answer received, including interim ones. */
  get statuses(): readonly number[] {
    return [...this.received.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => Number(status));
  }

  /** Like a client whose machine is switched off: a reset. */
  vanish(): void {
    this.socket.resetAndDestroy();
  }
}
