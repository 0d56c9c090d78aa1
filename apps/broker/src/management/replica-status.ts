import { type BrokerConfiguration, faultsText } from '#libs/configuration';
import { VERSION } from '#libs/program';
import type { ConfiguredMerchant, ReplicaCondition, StatusSource, StoreConnection } from '#libs/status-page';
import type { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import type { OpenReplica } from '../renewal/replica.js';
import { restartAdvice } from '../renewal/restart-advice.js';
import type { StoreCondition } from '../renewal/store.js';

export interface Readiness {
  readonly ready: boolean;
  readonly shuttingDown: boolean;
  /** Required merchants without a session to serve, at most ten of them. */
  readonly missing: readonly string[];
  /** `unknown`: not connected yet. */
  readonly store: StoreCondition | 'unknown';
  /** For a store that cannot be used: the code of its refusal, or what happened to the connection. */
  readonly storeReason?: string;
  /** False until the store has answered once: until then this replica creates nothing. */
  readonly storeReached: boolean;
}

const MAX_NAMED = 10;

interface StatusParts {
  readonly configuration: ConfigurationInForce;
  readonly open: Pick<OpenReplica, 'replica' | 'merchants' | 'store'>;
  readonly life: { readonly isShuttingDown: boolean };
}

/** What probes and the status page learn about this replica. */
export class ReplicaStatus implements StatusSource {
  readonly replica: OpenReplica['replica'];
  readonly #merchants: () => ReadonlyMap<string, ConfiguredMerchant>;

  constructor(private readonly parts: StatusParts) {
    this.replica = parts.open.replica;
    this.#merchants = parts.configuration.derive(
      ({ merchants }) => new Map(merchants.map((merchant) => [merchant.id, shown(merchant)])),
    );
  }

  /**
   * Ready means useful: the store has been reached, and every required merchant has a session to serve, whatever the
   * store and the gateway are doing now.
   */
  readiness(): Readiness {
    const { isShuttingDown: shuttingDown } = this.parts.life;
    const required = [...this.#merchants()].filter(([, merchant]) => merchant.required);
    const missing = required.map(([id]) => id).filter((id) => this.replica.wishes.peek(id) === undefined);
    const { current, trouble, wasReached: storeReached } = this.parts.open.store;
    const ready = missing.length === 0 && storeReached && !shuttingDown;
    const { condition: store = 'unknown' } = current ?? {};
    const reason = trouble === undefined ? {} : { storeReason: trouble };
    return { ready, shuttingDown, missing: missing.slice(0, MAX_NAMED), store, ...reason, storeReached };
  }

  merchants(): readonly string[] {
    return [...this.#merchants().keys()];
  }

  merchant(id: string): ConfiguredMerchant | undefined {
    return this.#merchants().get(id);
  }

  store(): StoreConnection {
    return { type: this.parts.configuration.current.store.type, ...this.parts.open.store.current };
  }

  isRenewalBlocked(id: string): boolean {
    const { merchants, store } = this.parts.open;
    return merchants.settingsOf(id) !== undefined && store.blocksRenewal;
  }

  condition(): ReplicaCondition {
    const { ready, storeReached, shuttingDown } = this.readiness();
    const { lastReading } = this.parts.configuration;
    const { refused, awaitingRestart, awaitingSince } = lastReading;
    const advice = restartAdvice(lastReading, this.parts.open.store.current?.condition);
    return {
      version: VERSION,
      ready,
      storeReached,
      shuttingDown,
      ...(refused === undefined ? {} : { refusedChange: { ...refused, text: faultsText(refused) } }),
      ...(awaitingRestart.length === 0 ? {} : { awaitingRestart }),
      ...(awaitingSince === undefined ? {} : { awaitingSince }),
      ...(advice === undefined ? {} : { restartAdvice: advice }),
    };
  }
}

function shown({ required, gateway }: BrokerConfiguration['merchants'][number]): ConfiguredMerchant {
  return { required, environment: gateway.environment, gatewayHost: gateway.baseUrl.host };
}
