import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** The way to a server on the loopback interface, at its own address that can refuse connections for a while. */
export class Door {
  readonly #targetPort: number;
  readonly #sockets = new Set<Socket>();
  #server: Server;
  #port = 0;

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = this.#listener();
  }

  static async to(url: string): Promise<Door> {
    const door = new Door(Number(new URL(url).port));
    await door.open();
    return door;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async open(): Promise<void> {
    this.#server = this.#listener();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** From now on connections are refused, and the open ones are gone. */
  async shut(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #listener(): Server {
    return createServer((client) => {
      const server = connect(this.#targetPort, '127.0.0.1');
      this.#follow(client, server);
      this.#follow(server, client);
    });
  }

  #follow(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.pipe(to);
    // If either end breaks, the other is told, as in any network.
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#sockets.delete(from);
      to.destroy();
    });
  }
}
