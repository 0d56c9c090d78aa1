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

/** To the gateway: in all, as many as there may be requests under way, shared evenly by the merchants. */
const GATEWAY_CONNECTIONS = 1_024;
/** As many simultaneous payments as a busy shop has, and as few as leave a small one able to pay. */
const MAX_OF_A_MERCHANT = 256;
const MIN_OF_A_MERCHANT = 4;

/** What the payments of one merchant go by. */
interface OfMerchant {
  readonly session: MerchantSession;
  readonly gateway: GatewayClient;
  readonly alias: AliasSessions;
}

/** Everything that follows from one configuration. It is replaced as a whole, and ends when its last request has. */
export class Deployment {
  readonly callers: Callers;
  readonly routes: RouteTable;
  readonly alias: AliasSessions;
  readonly configuration: EgressConfiguration;
  /** Those that it serves now; counted by whoever hands it out. */
  requests = 0;
  readonly #brokerSessions: BrokerSessions;
  readonly #merchants: ReadonlyMap<string, OfMerchant>;
  readonly #connections: OutboundConnections;

  private constructor(configuration: EgressConfiguration, alias: AliasSessions, foundation: Foundation) {
    const { clock, logger, brokerSessions } = foundation;
    const { clients, routes, gateway, listen } = configuration;
    this.configuration = configuration;
    this.alias = alias;
    const merchants = [...new Set(clients.map(({ merchant }) => merchant))];
    const share = Math.max(MIN_OF_A_MERCHANT, Math.floor(GATEWAY_CONNECTIONS / merchants.length));
    const connections = new OutboundConnections({ clock, connectionsPerOrigin: Math.min(MAX_OF_A_MERCHANT, share) });
    this.#connections = connections;
    const certificates = new CertificateCallers(clock, listen.tls?.clientCa);
    this.callers = new Callers({ clients, certificates, alias, logger });
    this.routes = new RouteTable(routes);
    this.#brokerSessions = brokerSessions;
    this.#merchants = new Map(
      merchants.map((merchant) => [
        merchant,
        {
          session: brokerSessions.take(merchant),
          gateway: new GatewayClient({ merchant, connections, settings: gateway, clock }),
          alias,
        },
      ]),
    );
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
    for (const { session } of this.#merchants.values()) session.start();
  }

  /** Resolves when every merchant has its first session, or it is known why not. */
  async settled(): Promise<void> {
    await Promise.all([...this.#merchants.values()].map(({ session }) => session.settled()));
  }

  /** @param merchant the merchant of one of the clients */
  of(merchant: string): OfMerchant {
    const found = this.#merchants.get(merchant);
    if (found === undefined) throw new TypeError('a client has a merchant without a session');
    return found;
  }

  held(): HeldFacts[] {
    return [...this.#merchants.values()].map(({ session }) => session.facts);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#merchants.keys()].map((merchant) => this.#brokerSessions.giveBack(merchant)));
    await this.#connections.close();
  }
}
