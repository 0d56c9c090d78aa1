import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';

/** A balancer as simple as possible: each connection goes to the next server in service. */
export class RoundRobin {
  readonly #inService: string[] = [];
  readonly #server: Server;
  #turn = 0;

  private constructor() {
    this.#server = createServer((client) => {
      const target = new URL(this.#inService[this.#turn++ % this.#inService.length] ?? 'http://127.0.0.1:9');
      const server = connect(Number(target.port), target.hostname);
      client.pipe(server).pipe(client);
      // If either end goes away, the other is told, and that is all that a balancer does.
      client.on('error', () => server.destroy()).on('close', () => server.destroy());
      server.on('error', () => client.destroy()).on('close', () => client.destroy());
    });
  }

  static async start(urls: readonly string[]): Promise<RoundRobin> {
    const balancer = new RoundRobin();
    balancer.#inService.push(...urls);
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The new one begins to serve before the old one stops. */
  replace(old: string, successor: string): void {
    this.#inService.push(successor);
    this.#inService.splice(this.#inService.indexOf(old), 1);
  }

  close(): void {
    this.#server.close();
  }
}
