import { type MerchantConfiguration, nearestName } from '#libs/configuration';
import { BrokerError } from '#libs/errors';

export const MAY_END_ANOTHER =
  'a new session can end the one that payments use now (interface description, "no refresh")';

/** @throws BrokerError `merchant_not_found`, naming the merchants that exist */
export function chosenMerchant<Merchant extends { readonly id: string }>(
  merchants: readonly Merchant[],
  id: string,
): Merchant {
  const merchant = merchants.find((candidate) => candidate.id === id);
  if (merchant !== undefined) return merchant;
  const ids = merchants.map((candidate) => candidate.id);
  throw new BrokerError('merchant_not_found', {
    detail: `the configuration has none named ${id}; ${meantOr('it has', id, ids)}`,
  });
}

const MAX_NAMED = 10;

/**
 * Follows a statement that a merchant does not exist: the one that was probably meant or, after `they`, those that
 * exist.
 */
function meantOr(they: string, id: string, ids: readonly string[]): string {
  const near = nearestName(id, ids);
  if (near !== undefined) return `did you mean ${near}?`;
  const more = ids.length - MAX_NAMED;
  return `${they} ${ids.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * A real create call in production must be intentional.
 * @throws BrokerError `invalid_request`
 */
export function demandConsent({ gateway }: MerchantConfiguration, consents: boolean): void {
  if (gateway.environment !== 'production' || consents) return;
  throw new BrokerError('invalid_request', {
    detail: `${MAY_END_ANOTHER}; repeat with --yes to create one in production`,
  });
}
