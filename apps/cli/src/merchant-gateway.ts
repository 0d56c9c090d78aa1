import type { MerchantConfiguration } from '#libs/configuration';
import type { MerchantGateway } from '#libs/gateway';

/** A merchant as its gateway calls need it. */
export const gatewaySettingsOf = ({
  id,
  serviceCode,
  clientKeys,
  gateway,
}: MerchantConfiguration): MerchantGateway => ({
  merchant: id,
  serviceCode,
  clientKeys,
  ...gateway,
});
