import type { BrokerConfiguration, MerchantConfiguration } from '#libs/configuration';
import type { MerchantGateway } from '#libs/gateway';
import type { Merchants, SessionSettings } from '#libs/session';

/** The configured merchants, as the domain and the gateway ask for them. */
export class ConfiguredMerchants implements Merchants {
  readonly #byId: ReadonlyMap<string, MerchantConfiguration>;
  readonly #gateways: ReadonlyMap<string, MerchantGateway>;

  constructor(configuration: BrokerConfiguration) {
    this.#byId = new Map(configuration.merchants.map((merchant) => [merchant.id, merchant]));
    this.#gateways = new Map(configuration.merchants.map((merchant) => [merchant.id, merchantGateway(merchant)]));
  }

  ids(): readonly string[] {
    return [...this.#byId.keys()];
  }

  settingsOf(merchant: string): SessionSettings | undefined {
    return this.#byId.get(merchant)?.session;
  }

  gatewayOf(merchant: string): MerchantGateway | undefined {
    return this.#gateways.get(merchant);
  }
}

function merchantGateway({ id, serviceCode, clientKeys, gateway }: MerchantConfiguration): MerchantGateway {
  return { merchant: id, serviceCode, clientKeys, ...gateway };
}
