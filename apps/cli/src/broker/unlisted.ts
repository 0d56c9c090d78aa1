import { meantOr } from '../chosen-merchant.js';

/** To follow what is said of a merchant that is not listed: which ones are. Nothing where there is no list. */
export function seenText(they: string, merchant: string, names: readonly string[] | undefined): readonly string[] {
  if (names === undefined) return [];
  return [names.length === 0 ? `${they} none at all` : meantOr(they, merchant, names)];
}

/** Of one replica that lists others, where another one may have it. */
export function unlistedText(merchant: string, names: readonly string[]): string {
  return [`${merchant} is not there, or not for this caller`, ...seenText('it may see', merchant, names)].join('; ');
}
