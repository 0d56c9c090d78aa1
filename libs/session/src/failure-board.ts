import { MerchantListeners } from './merchant-listeners.js';
import type { RecordedFailure } from './ports/session-store.js';

type FailureListener = (failure: RecordedFailure) => void;

/** The last failure of each merchant since its last session, and those who wait to hear of one. */
export class FailureBoard {
  readonly #failures = new Map<string, RecordedFailure>();
  readonly #listeners = new MerchantListeners<RecordedFailure>();
  readonly #everyListener = new Set<(merchant: string, failure: RecordedFailure) => void>();

  get(merchant: string): RecordedFailure | undefined {
    return this.#failures.get(merchant);
  }

  /**
   * A failure that is read again is not news: a reader that waits for the next attempt goes on waiting.
   * @returns false when it is not
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

  /** @param seen what was known, if anything, when the question was asked that found none: a later failure stays */
  clearSeen(merchant: string, seen: RecordedFailure | undefined): void {
    if (this.#failures.get(merchant) === seen) this.#failures.delete(merchant);
  }

  /** Hears of every merchant's failures. @returns a function that ends the subscription; the subscriber owns it */
  onAnyFailure(listener: (merchant: string, failure: RecordedFailure) => void): () => void {
    this.#everyListener.add(listener);
    return () => void this.#everyListener.delete(listener);
  }

  /** @returns a function that ends the subscription; the subscriber owns it */
  onFailure(merchant: string, listener: FailureListener): () => void {
    return this.#listeners.add(merchant, listener);
  }
}
