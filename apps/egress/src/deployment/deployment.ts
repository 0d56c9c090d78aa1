import type { Clock } from '#libs/clock';
import type { EgressConfiguration } from '#libs/configuration';
import { CertificateCallers } from '#libs/edge';
import { OutboundConnections } from '#libs/outbound';
import type { Logger } from '#libs/telemetry';
import { AliasSessions } from '../alias/alias-sessions.js';
import { Callers } from '../callers/callers.js';
import { GatewayClient } from '../gateway/gateway-client.js';
import { RouteTable } from '../routes/route-table.js';
import type { HeldFacts, MerchantSession } from '../sessions/merchant-session.js';
import { BrokerSessions } from '../sessions/broker-sessions.js';

export interface DeploymentParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with how many requests waited for a hand-over. */
  readonly onHeld: (merchant: string, requests: number) => void;
}

interface Foundation {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly brokerSessions: BrokerSessions;
}

/** As many simultaneous payments as a busy shop has; each waits for its own connection, and for no other payment. */
const GATEWAY_CONNECTIONS = 256;

/** Everything that follows from one configuration. It is replaced as a whole, and ends when its last request has. */
export class Deployment {
  readonly callers: Callers;
  readonly routes: RouteTable;
  readonly gateway: GatewayClient;
  readonly alias: AliasSessions;
  readonly configuration: EgressConfiguration;
  readonly #brokerSessions: BrokerSessions;
  readonly #sessions: ReadonlyMap<string, MerchantSession>;
  readonly #connections: OutboundConnections;

  private constructor(configuration: EgressConfiguration, alias: AliasSessions, foundation: Foundation) {
    const { clock, logger, brokerSessions } = foundation;
    const { clients, routes, gateway, listen } = configuration;
    this.configuration = configuration;
    this.alias = alias;
    this.#connections = new OutboundConnections({ clock, connectionsPerOrigin: GATEWAY_CONNECTIONS });
    const certificates = new CertificateCallers(clock, listen.tls?.clientCa);
    this.callers = new Callers({ clients, certificates, alias, logger });
    this.routes = new RouteTable(routes);
    this.gateway = new GatewayClient({ connections: this.#connections, settings: gateway, clock });
    this.#brokerSessions = brokerSessions;
    const merchants = new Set(clients.map(({ merchant }) => merchant));
    this.#sessions = new Map([...merchants].map((merchant) => [merchant, brokerSessions.take(merchant)]));
  }

  /** @param before the deployment that this one replaces: if the broker is the same, so are the sessions */
  static async create(
    configuration: EgressConfiguration,
    parts: DeploymentParts,
    before?: Deployment,
  ): Promise<Deployment> {
    const { clients, aliasKeys: keys, broker } = configuration;
    const { clock, logger } = parts;
    const alias = await AliasSessions.create({ clients, keys, clock });
    const brokerSessions =
      before !== undefined && before.#brokerSessions.areOf(broker)
        ? before.#brokerSessions
        : new BrokerSessions({ ...parts, broker });
    return new Deployment(configuration, alias, { clock, logger, brokerSessions });
  }

  /** Requests the first session of every merchant. */
  start(): void {
    for (const session of this.#sessions.values()) session.start();
  }

  /** Resolves when every merchant has its first session, or it is known why not. */
  async settled(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.settled()));
  }

  /** @param merchant the merchant of one of the clients */
  sessionOf(merchant: string): MerchantSession {
    const session = this.#sessions.get(merchant);
    if (session === undefined) throw new TypeError('a client has a merchant without a session');
    return session;
  }

  held(): HeldFacts[] {
    return [...this.#sessions.values()].map(({ facts }) => facts);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((merchant) => this.#brokerSessions.giveBack(merchant)));
    await this.#connections.close();
  }
}
