import type { Clock } from '#libs/clock';
import { type EgressConfiguration, isSame } from '#libs/configuration';
import { OutboundConnections } from '#libs/outbound';
import type { Logger } from '#libs/telemetry';
import { type BrokerAccess, brokerAccess } from './broker-access.js';
import { MerchantSession } from './merchant-session.js';

interface BrokerSessionsParts {
  readonly broker: EgressConfiguration['broker'];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with how many requests waited for a hand-over. */
  readonly onHeld: (merchant: string, requests: number) => void;
}

interface Held {
  readonly session: MerchantSession;
  users: number;
}

/**
 * The stream of each merchant takes one connection, and answers are opened over others: a limit meant for calls would
 * leave the merchants beyond it without news, and everyone without reports. A broker takes 11000 from one address.
 */
const MAX_CONNECTIONS = 10_000;

/**
 * The sessions that one broker gives. They outlive a configuration that is replaced: the next one has them at once,
 * even while the broker is away. A session ends when no one uses it any more, and the connections with the last one.
 */
export class BrokerSessions {
  readonly #parts: BrokerSessionsParts;
  readonly #connections: OutboundConnections;
  readonly #access: BrokerAccess;
  readonly #byMerchant = new Map<string, Held>();

  constructor(parts: BrokerSessionsParts) {
    this.#parts = parts;
    this.#connections = new OutboundConnections({ clock: parts.clock, connectionsPerOrigin: MAX_CONNECTIONS });
    this.#access = brokerAccess(parts.broker, this.#connections);
  }

  /** Whether these settings lead to the same sessions. */
  areOf(broker: EgressConfiguration['broker']): boolean {
    return isSame(broker, this.#parts.broker);
  }

  /** @returns the session of a merchant, to be given back */
  take(merchant: string): MerchantSession {
    const held = this.#byMerchant.get(merchant) ?? this.#open(merchant);
    held.users += 1;
    return held.session;
  }

  async giveBack(merchant: string): Promise<void> {
    const held = this.#byMerchant.get(merchant);
    if (held === undefined) return;
    held.users -= 1;
    if (held.users > 0) return;
    this.#byMerchant.delete(merchant);
    const isLast = this.#byMerchant.size === 0;
    await held.session.close();
    if (isLast) await this.#connections.close();
  }

  #open(merchant: string): Held {
    const { clock, logger, onHeld } = this.#parts;
    const tell = (requests: number): void => onHeld(merchant, requests);
    const session = new MerchantSession({ merchant, access: this.#access, clock, logger, onHeld: tell });
    const held = { session, users: 0 };
    this.#byMerchant.set(merchant, held);
    return held;
  }
}
