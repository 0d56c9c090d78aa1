import { connect, type Socket } from 'node:net';
import { LoopbackServer, type Passage } from '#libs/testing';

const SUBSCRIBE = /\r\nsubscribe\r\n/i;

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  isSubscriber: boolean;
}

/** The network between one replica and its Redis; it can tell the connection for announcements from the others. */
export class StoreNetwork {
  passage: Passage = 'open';
  readonly #port: number;
  readonly #links = new Set<Link>();
  #listener: LoopbackServer | undefined;
  #announcementsPass = true;

  private constructor(port: number) {
    this.#port = port;
  }

  static async to(port: number): Promise<StoreNetwork> {
    const network = new StoreNetwork(port);
    network.#listener = await LoopbackServer.tcp((client) => network.#join(client));
    return network;
  }

  get address(): { readonly host: string; readonly port: number } {
    return { host: '127.0.0.1', port: this.#listener?.port ?? 0 };
  }

  /** The connection for announcements breaks, and so does every new one; commands still pass. */
  cutAnnouncements(): void {
    this.#announcementsPass = false;
    for (const link of this.#links) if (link.isSubscriber) this.#end(link);
  }

  restoreAnnouncements(): void {
    this.#announcementsPass = true;
  }

  /** Lets everything through again; connections with losses are broken, as after a cut cable. */
  heal(): void {
    this.passage = 'open';
    for (const link of this.#links) this.#end(link);
  }

  async close(): Promise<void> {
    this.heal();
    await this.#listener?.close();
  }

  #join(client: Socket): void {
    const link: Link = { client, server: connect(this.#port, '127.0.0.1'), isSubscriber: false };
    this.#links.add(link);
    client.on('data', (bytes: Buffer) => this.#forward(link, bytes));
    link.server.on('data', (bytes) => {
      if (this.passage === 'open') client.write(bytes);
    });
    for (const socket of [client, link.server]) {
      // Broken connections are what this network is for; the other end learns of it when its own connection ends.
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.passage === 'open' && this.#end(link));
    }
  }

  #forward(link: Link, bytes: Buffer): void {
    link.isSubscriber ||= SUBSCRIBE.test(bytes.toString('latin1'));
    if (link.isSubscriber && !this.#announcementsPass) return this.#end(link);
    if (this.passage !== 'cut') link.server.write(bytes);
  }

  #end(link: Link): void {
    this.#links.delete(link);
    link.client.destroy();
    link.server.destroy();
  }
}
