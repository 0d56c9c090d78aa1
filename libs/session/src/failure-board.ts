import { MerchantListeners } from './merchant-listeners.js';
import type { RecordedFailure } from './ports/session-store.js';

type FailureListener = (failure: RecordedFailure) => void;

/** The last failure of each merchant since its last session, and those waiting for one. */
export class FailureBoard {
  readonly #failures = new Map<string, RecordedFailure>();
  readonly #listeners = new MerchantListeners<RecordedFailure>();
  readonly #everyListener = new Set<(merchant: string, failure: RecordedFailure) => void>();

  get(merchant: string): RecordedFailure | undefined {
    return this.#failures.get(merchant);
  }

  /**
   * A failure that is read again is not news: a reader waiting for the next attempt keeps waiting.
   * @returns false if it is not news
   */
  note(merchant: string, failure: RecordedFailure): boolean {
    if (this.#failures.get(merchant)?.at === failure.at) return false;
    this.#failures.set(merchant, failure);
    this.#listeners.tell(merchant, failure);
    for (const listener of this.#everyListener) listener(merchant, failure);
    return true;
  }

  clear(merchant: string): void {
    this.#failures.delete(merchant);
  }

  /** @param seen what was known, if anything, when the query that found none was sent: a later failure stays */
  clearSeen(merchant: string, seen: RecordedFailure | undefined): void {
    if (this.#failures.get(merchant) === seen) this.#failures.delete(merchant);
  }

  /**
   * Listens to the failures of all merchants.
   * @returns a function that ends the subscription; the subscriber owns it
   */
  onAnyFailure(listener: (merchant: string, failure: RecordedFailure) => void): () => void {
    this.#everyListener.add(listener);
    return () => void this.#everyListener.delete(listener);
  }

  /** @returns a function that ends the subscription; the subscriber owns it */
  onFailure(merchant: string, listener: FailureListener): () => void {
    return this.#listeners.add(merchant, listener);
  }
}
