import { meantOr } from '../chosen-merchant.js';
import type { Classed } from './ask-fault.js';
import { askFaultCodes } from './exchange-cause.js';

/** To follow what is said of a merchant that is not listed: which ones are. Nothing where there is no list. */
export function seenText(they: string, merchant: string, names: readonly string[] | undefined): readonly string[] {
  if (names === undefined) return [];
  return [names.length === 0 ? `${they} none at all` : meantOr(they, merchant, names)];
}

/** As a broker calls it, which answers alike for a merchant that it has not and for one that is not the caller's. */
const NOT_LISTED = 'forbidden';

/** Of one replica that lists others, where another one may have it. */
export function unlisted(merchant: string, names: readonly string[]): Classed {
  const message = [`${merchant} is not there, or not for this caller`, ...seenText('it may see', merchant, names)].join(
    '; ',
  );
  return names.length === 0
    ? { error: { code: askFaultCodes.noMerchant, message }, fault: 'refused' }
    : { error: { code: NOT_LISTED, message }, fault: 'invalidInput' };
}
