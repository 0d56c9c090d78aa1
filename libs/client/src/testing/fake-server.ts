import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What broker and gateway have in common: an HTTP server on a free port of 127.0.0.1, in the test's process. */
export abstract class FakeServer {
  /** Where it listens. */
  readonly url: string;
  readonly #server: Server;

  protected constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => void this.answer(request, response));
  }

  protected static async listening(): Promise<Server> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    // A test that forgets to close it must be able to end.
    return server.unref();
  }

  protected abstract answer(request: IncomingMessage, response: ServerResponse): Promise<void>;

  /** Stops it, and closes its connections. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
