import { storeRefusal } from '#libs/errors';
import type { ListedMerchant } from './listed-merchant.js';
import type { Listing } from './listing.js';

const troubles: Readonly<Record<string, string>> = {
  silent: 'The store does not answer',
  refuses: 'The store refuses',
};

/** Whether a replica says that its store cannot be used. */
export const hasStoreTrouble = ({ store }: Pick<Listing, 'store'>): boolean => store !== undefined && store in troubles;

/**
 * What is wrong with a replica's store and what follows from it, in the words of the status page; undefined while it
 * can be used.
 */
export function storeTrouble({ store = '', storeReason, merchants }: Listing): string | undefined {
  const said = troubles[store];
  if (said === undefined) return undefined;
  const trouble = storeReason === undefined ? said : `${said} (${storeReason})`;
  const effects = effectsOn(merchants);
  const refusal = store === 'refuses' ? storeRefusal(storeReason) : undefined;
  const told = [
    ...(refusal === undefined ? [] : [`it ${refusal.is}`]),
    ...(effects.length === 0 ? [] : [effects.join(', and ')]),
  ];
  const remedy = refusal === undefined ? '' : `. ${refusal.remedy}`;
  return `${trouble}${told.length === 0 ? '' : `: ${told.join('; ')}`}${remedy} (runbook: ${STORE_DOWN}).`;
}

/** The page of docs/runbooks for a store that cannot be used. */
export const STORE_DOWN = 'store-down';

function effectsOn(merchants: readonly ListedMerchant[]): readonly string[] {
  const isServed = merchants.some(({ state }) => state !== 'unavailable');
  const blocked = merchants.filter(({ renewalBlocked }) => renewalBlocked === true).length;
  const nothing = blocked === merchants.length ? 'nothing is renewed' : 'some are not renewed';
  return [...(isServed ? ['sessions are served from memory'] : []), ...(blocked === 0 ? [] : [nothing])];
}
