import type { MerchantConfiguration } from '#libs/configuration';
import type { MerchantGateway } from '#libs/gateway';
import type { ClientKey } from '#libs/jwe';
import type { Merchants, SessionSettings } from '#libs/session';
import type { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import type { RetiredKeys } from './retired-keys.js';

/** Allows for the last steps of an attempt after the gateway's own timeout. */
const WAIT_BEYOND_TIMEOUT_MS = 2_000;

interface Configured {
  readonly session: SessionSettings;
  readonly gateway: MerchantGateway;
  readonly gatewayId: string;
}

/** The configured merchants, in the form that the domain, the gateway and the store need. */
export class ConfiguredMerchants implements Merchants {
  readonly #byId: () => ReadonlyMap<string, Configured>;

  constructor(
    configuration: ConfigurationInForce,
    private readonly retired: Pick<RetiredKeys, 'of'>,
  ) {
    this.#byId = configuration.derive(
      ({ merchants }) => new Map(merchants.map((merchant) => [merchant.id, configured(merchant)])),
    );
  }

  ids(): readonly string[] {
    return [...this.#byId().keys()];
  }

  settingsOf(merchant: string): SessionSettings | undefined {
    return this.#byId().get(merchant)?.session;
  }

  /** Merchants with the same origin share a gateway, however their paths differ. */
  gatewayIdOf(merchant: string): string {
    return this.#byId().get(merchant)?.gatewayId ?? '';
  }

  /** How the merchant's calls reach its gateway, and how it is identified there. */
  connectionOf(merchant: string): MerchantGateway | undefined {
    return this.#byId().get(merchant)?.gateway;
  }

  newestKeyOf(merchant: string): string | undefined {
    return this.connectionOf(merchant)?.clientKeys[0]?.thumbprint;
  }

  /** The configured keys, newest first, then those that are no longer configured but still needed. */
  clientKeysOf(merchant: string): readonly ClientKey[] {
    return [...(this.connectionOf(merchant)?.clientKeys ?? []), ...this.retired.of(merchant)];
  }

  /** How long a request waits if its answer needs a renewal and the caller does not say: one whole attempt. */
  renewalWaitMs(merchant: string): number {
    return (this.connectionOf(merchant)?.timeoutMs ?? 0) + WAIT_BEYOND_TIMEOUT_MS;
  }
}

function configured({ id, serviceCode, clientKeys, gateway, session }: MerchantConfiguration): Configured {
  // Needed many times in each renewal, and a URL computes its origin anew each time.
  const gatewayId = gateway.baseUrl.origin;
  return { session, gateway: { merchant: id, serviceCode, clientKeys, ...gateway }, gatewayId };
}
