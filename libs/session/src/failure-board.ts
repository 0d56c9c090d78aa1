import { MerchantListeners } from './merchant-listeners.js';
import type { RecordedFailure } from './ports/session-store.js';

export type FailureListener = (failure: RecordedFailure) => void;

/** The last failure of each merchant since its last session, and who waits to hear of one. */
export class FailureBoard {
  readonly #failures = new Map<string, RecordedFailure>();
  readonly #listeners = new MerchantListeners<RecordedFailure>();

  get(merchant: string): RecordedFailure | undefined {
    return this.#failures.get(merchant);
  }

  /**
   * A failure that is read again is not news: whoever waits for the attempt after it goes on waiting.
   * @returns false when it is not
   */
  note(merchant: string, failure: RecordedFailure): boolean {
    if (this.#failures.get(merchant)?.at === failure.at) return false;
    this.#failures.set(merchant, failure);
    this.#listeners.tell(merchant, failure);
    return true;
  }

  clear(merchant: string): void {
    this.#failures.delete(merchant);
  }

  /** @returns a function that ends the subscription; the subscriber owns it */
  onFailure(merchant: string, listener: FailureListener): () => void {
    return this.#listeners.add(merchant, listener);
  }
}
