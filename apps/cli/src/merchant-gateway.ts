import type { MerchantConfiguration } from '#libs/configuration';
import type { MerchantGateway } from '#libs/gateway';

/** A merchant in the form that its gateway calls need. */
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
