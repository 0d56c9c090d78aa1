import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { TestCertificate } from './test-certificates.js';

/** A server on 127.0.0.1 that a test scripts, watches and closes. */
export class LoopbackServer {
  /** Connections opened so far. */
  connections = 0;
  readonly port: number;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(server: Server) {
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.connections += 1;
      this.#open.add(socket);
      socket.on('close', () => this.#open.delete(socket));
      // Many of the tests are about a peer that goes away in the middle.
      socket.on('error', () => socket.destroy());
    });
  }

  /** @param port of a server that was closed before; a free one by default */
  static http(listener: RequestListener, port = 0): Promise<LoopbackServer> {
    return LoopbackServer.#listen(createHttpServer(listener), port);
  }

  static https(certificate: TestCertificate, listener: RequestListener): Promise<LoopbackServer> {
    return LoopbackServer.#listen(createHttpsServer({ cert: certificate.cert, key: certificate.key }, listener));
  }

  /** Only raw bytes, for answers that no HTTP server would give. */
  static tcp(listener: (socket: Socket) => void): Promise<LoopbackServer> {
    return LoopbackServer.#listen(createTcpServer(listener));
  }

  static async #listen(server: Server, port = 0): Promise<LoopbackServer> {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new LoopbackServer(server);
  }

  get openConnections(): number {
    return this.#open.size;
  }

  /** Resolves once every connection has been closed by the other side. */
  async idle(): Promise<void> {
    await Promise.all([...this.#open].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  }

  /** Closes every connection and resolves once they are closed; continues to listen. */
  async dropConnections(): Promise<void> {
    const gone = this.idle();
    for (const socket of this.#open) socket.end();
    await gone;
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }
}
