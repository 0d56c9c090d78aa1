import type { Listing } from './listing.js';
import type { TellNotice } from './notice.js';
import { hasStoreTrouble, STORE_DOWN, storeTrouble } from './store-trouble.js';

interface Look {
  readonly listing: Listing;
  /** The replica that was asked. */
  readonly place: URL;
}

/**
 * Reports when the followed replica has lost its store, and when that is over, in the words of `status`. The state of
 * the connection changes with every attempt, and is reported only once.
 */
export class StoreNotice {
  readonly #tell: TellNotice;
  /** What was last reported, and for which replica; undefined while all was well. */
  #told: string | undefined;

  constructor(tell: TellNotice) {
    this.#tell = tell;
  }

  look({ listing, place }: Look): void {
    const { store, storeReason, replica } = listing;
    // What is not known yet is neither trouble nor the end of it.
    if (store === undefined || store === 'unknown') return;
    const isTrouble = hasStoreTrouble(listing);
    const now = isTrouble ? JSON.stringify([place.href, replica, store]) : undefined;
    if (now === this.#told) return;
    this.#told = now;
    this.#tell({
      event: 'store',
      about: replica ?? place.host,
      words: storeTrouble(listing) ?? 'The store answers.',
      facts: {
        place: place.origin,
        ...(replica === undefined ? {} : { replica }),
        store,
        ...(storeReason === undefined ? {} : { storeReason }),
        ...(isTrouble ? { runbook: STORE_DOWN } : {}),
      },
    });
  }
}
