import { Injectable } from '@nestjs/common';
import { type BrokerConfiguration, faultsText } from '#libs/configuration';
import { SessionReplica } from '#libs/session';
import type { ConfiguredMerchant, ReplicaCondition, StatusSource, StoreConnection } from '#libs/status-page';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { VERSION } from '#libs/program';
import { ConfiguredMerchants } from '../renewal/configured-merchants.js';
import { restartAdvice } from '../renewal/restart-advice.js';
import { StoreState } from '../renewal/store-state.js';
import { ReadinessProbe } from './readiness.service.js';

/** What the status page learns about this replica. */
@Injectable()
export class ReplicaStatus implements StatusSource {
  readonly #merchants: () => ReadonlyMap<string, ConfiguredMerchant>;
  readonly #configuration: ConfigurationInForce;

  constructor(
    configuration: ConfigurationInForce,
    readonly replica: SessionReplica,
    private readonly readiness: ReadinessProbe,
    private readonly storeState: StoreState,
    private readonly configured: ConfiguredMerchants,
  ) {
    this.#configuration = configuration;
    this.#merchants = configuration.derive(({ merchants }) => new Map(merchants.map((one) => [one.id, shown(one)])));
  }

  merchants(): readonly string[] {
    return [...this.#merchants().keys()];
  }

  merchant(id: string): ConfiguredMerchant | undefined {
    return this.#merchants().get(id);
  }

  store(): StoreConnection {
    return { type: this.#configuration.current.store.type, ...this.storeState.current };
  }

  isRenewalBlocked(id: string): boolean {
    const settings = this.configured.settingsOf(id);
    return settings !== undefined && this.storeState.blocksRenewal;
  }

  condition(): ReplicaCondition {
    const { ready, storeReached, shuttingDown } = this.readiness.check();
    const { lastReading } = this.#configuration;
    const { refused, awaitingRestart, awaitingSince } = lastReading;
    const advice = restartAdvice(lastReading, this.storeState.current?.condition);
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
