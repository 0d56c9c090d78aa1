import type { MerchantConfiguration } from '#libs/configuration';
import { BrokerError } from '#libs/errors';

export const MAY_END_ANOTHER =
  'a new session can end the one that payments use now (interface description, "no refresh")';

/** @throws BrokerError `merchant_not_found`, naming those that there are */
export function chosenMerchant(merchants: readonly MerchantConfiguration[], id: string): MerchantConfiguration {
  const merchant = merchants.find((candidate) => candidate.id === id);
  if (merchant !== undefined) return merchant;
  const known = merchants.map((candidate) => candidate.id).join(', ');
  throw new BrokerError('merchant_not_found', { detail: `the configuration has: ${known}` });
}

/**
 * A real create call in production must be intended.
 * @throws BrokerError `invalid_request`
 */
export function demandConsent({ gateway }: MerchantConfiguration, consents: boolean): void {
  if (gateway.environment !== 'production' || consents) return;
  throw new BrokerError('invalid_request', {
    detail: `${MAY_END_ANOTHER}; repeat with --yes to create one in production`,
  });
}
