import type { FastifyInstance } from 'fastify';
import type { BrokerConfiguration } from '#libs/configuration';
import { listen } from '#libs/edge';

interface ManagementPortParts {
  readonly server: FastifyInstance;
  readonly address: BrokerConfiguration['management'];
}

/** The port for those who run the broker. */
export class ManagementPort {
  readonly #parts: ManagementPortParts;

  constructor(parts: ManagementPortParts) {
    this.#parts = parts;
  }

  /**
   * @returns its URL
   * @throws BrokerError `address_in_use`
   */
  open(): Promise<string> {
    const { server, address } = this.#parts;
    return listen(address, (free) => server.listen(free));
  }

  async close(): Promise<void> {
    await this.#parts.server.close();
  }
}
