import { meantOr } from '../chosen-merchant.js';
import type { Classed } from './ask-fault.js';
import { askFaultCodes } from './exchange-cause.js';

/** Which merchants are listed, to append to what is said about one that is not. Empty if there is no list. */
export function seenText(they: string, merchant: string, names: readonly string[] | undefined): readonly string[] {
  if (names === undefined) return [];
  return [names.length === 0 ? `${they} none at all` : meantOr(they, merchant, names)];
}

/**
 * What a broker calls it, which answers alike for a merchant that it does not have and for one that is not the
 * caller's.
 */
const NOT_LISTED = 'forbidden';

/** For a replica that lists others, when another replica may have it. */
export function unlisted(merchant: string, names: readonly string[]): Classed {
  const message = [`${merchant} is not there, or not for this caller`, ...seenText('it may see', merchant, names)].join(
    '; ',
  );
  return names.length === 0
    ? { error: { code: askFaultCodes.noMerchant, message }, fault: 'refused' }
    : { error: { code: NOT_LISTED, message }, fault: 'invalidInput' };
}
