import { connect, type Socket } from 'node:net';
import { LoopbackServer } from './loopback-server.js';

/** What gets through: everything, nothing (a cut cable: no end, no reset), or only what the client sends. */
type Passage = 'open' | 'cut' | 'requests-only';

/** The network between a client and a server on the loopback interface. */
export class TcpProxy {
  passage: Passage = 'open';
  #server: LoopbackServer | undefined;
  readonly #targetPort: number;
  readonly #sockets = new Set<Socket>();

  static async to(port: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(port);
    proxy.#server = await LoopbackServer.tcp((client) => proxy.#join(client));
    return proxy;
  }

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
  }

  get address(): { readonly host: string; readonly port: number } {
    return { host: '127.0.0.1', port: this.#server?.port ?? 0 };
  }

  /** Connections that clients have opened so far. */
  get connections(): number {
    return this.#server?.connections ?? 0;
  }

  /** Ends every connection at once, on both sides. */
  reset(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.reset();
    await this.#server?.close();
  }

  #join(client: Socket): void {
    const server = connect(this.#targetPort, '127.0.0.1');
    client.on('data', (bytes) => {
      if (this.passage !== 'cut') server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (this.passage === 'open') client.write(bytes);
    });
    this.#follow(client, server);
    this.#follow(server, client);
  }

  #follow(socket: Socket, peer: Socket): void {
    this.#sockets.add(socket);
    // A reset is one of the things that this proxy is for; the peer notices it through its own end.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (this.passage === 'open') peer.destroy();
    });
  }
}
